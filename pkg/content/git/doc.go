// Package git fetches a folder or a file of a git repository at one commit, as a content.Source, over HTTPS or SSH and without a git
// program.
//
// It holds the objects that a server sends in memory, within the limits of the content store, and writes no working copy. Host keys of SSH
// servers are always verified.
//
// Non-goals: no history, no submodules, no git LFS, no SSH agent, no configuration of the home directory. Errors are *content.Error.
package git
