// Package operator answers one question: how do the lifecycle manager itself, its definitions and its rights get into a cluster, and out
// of it again, and is everything there that it needs?
//
// What is installed is the kustomization of package config, built in memory; nothing is read from disk. It is applied by pkg/manifest,
// which keeps an inventory in the cluster: the same again changes nothing, a newer one takes away what is no longer part of it, and the end
// takes away everything that is ours and nothing else.
//
// What it refuses to do: it removes no definition as long as somebody has objects of it, takes over nothing that another installation
// owns, and asks nobody: whether to go on is decided by who calls.
package operator
