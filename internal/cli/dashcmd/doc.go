// Package dashcmd answers one question: how is the dashboard started, on a workstation or in a cluster?
//
// On a machine it listens on loopback, works with the kubeconfig of its user, and prints a link with a code that logs the
// browser in. In a cluster it listens with TLS and lets users log in with a token or at an identity provider.
//
// Non-goals: with a user's kubeconfig it listens on loopback only, and it never prints a token.
package dashcmd
