// Package e2e answers: does a newcomer get what `make run` promises, and does the program survive what happens to it?
//
// The suite builds the programs as make does. It starts the playground in a folder of its own and uses it as a user would: by kubectl,
// with the env file that the playground wrote, and by the commands that it printed; that part knows no Go type of the API. Then it runs the
// manager's program for three runtimes with ten modules each, and goes with them through the scenarios of upstream's end-to-end tests.
// The quick tour is taken from README.md as it stands there, commands and what they print, and is followed in a sandbox. So is
// docs/getting-started.md, in a cluster that has never heard of Kyma: one shell, line by line, every output compared.
package e2e
