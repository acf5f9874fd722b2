// Package kubeconfig determines the connection that the untrusted kubeconfig of an access Secret describes.
//
// A kubeconfig is hostile input: only inline values are used. No file is opened and no program is run, and no message repeats a value.
//
// Non-goals: it connects to nothing.
package kubeconfig
