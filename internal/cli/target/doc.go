// Package target answers one question: which cluster, and which Kyma in it, is a command about?
//
// It reads the kubeconfig as kubectl does, by the same flags, and hands out one connection. Kinds that the commands use are known
// without asking the API server what it serves, so that a command costs the requests for what it shows and no more.
//
// What it refuses to do: it reads no module, writes nothing, and never guesses between two Kymas.
package target
