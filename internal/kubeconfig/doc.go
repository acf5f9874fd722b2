// Package kubeconfig answers one question: which connection does the untrusted kubeconfig of an access Secret describe?
//
// It is hostile input: only what is written inline and speaks for itself is taken over. No file is opened and no program is run, and no
// message repeats a value.
//
// What it refuses to do: it connects to nothing.
package kubeconfig
