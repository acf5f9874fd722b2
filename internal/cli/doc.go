// Package cli answers one question: which commands does kyma have, and how are they put together?
//
// What it refuses to do: the commands themselves are in the packages below it, one for each kind of user.
package cli
