// Package login answers one question: how does this person get into a registry?
//
// What the flags say wins over what docker knows (its config and credential helpers), and that over nothing, which is anonymous. A login
// that the flags give is for the registries that the command names and for no other: images of a component may lie anywhere, and whoever
// serves them must not get to see it. An entry of the docker config without a user, a password or a token is no login.
//
// What it refuses to do: it never asks (internal/cli/console does), stores no login, sends none anywhere by itself, and writes no secret
// into an error.
package login
