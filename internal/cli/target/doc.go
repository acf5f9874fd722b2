// Package target answers one question: which cluster, and which Kyma or Kymas in it, is a command about?
//
// It reads the kubeconfig as kubectl does, by the same flags, and provides one connection. Kinds that the commands use need no discovery,
// so that a command costs only the requests for the data that it shows.
//
// What it refuses to do: it reads no module, writes nothing, and never guesses between two Kymas.
package target
