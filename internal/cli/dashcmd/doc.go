// Package dashcmd answers one question: how is the dashboard started, on somebody's machine or in a cluster?
//
// On a machine it listens on loopback, works with the kubeconfig of whoever starts it, and prints a link with a code that lets the
// browser in. In a cluster it listens with TLS and lets people log in with a token or at an identity provider.
//
// What it refuses to do: it listens on no other address than loopback with somebody's kubeconfig, and never prints a token.
package dashcmd
