// Package e2e answers: does a newcomer get what `make run` promises?
//
// The suite builds the programs as make does, starts the playground in a folder of its own, and uses it as a person would: by kubectl,
// with the env file that the playground wrote, and by the commands that it printed. It knows no Go type of the API.
package e2e
