// Package managerinstall answers one question: how do the lifecycle manager itself, its definitions and its rights get into a cluster, and
// out of it again, and is everything there that it needs?
//
// What is installed is the kustomization of package config, built in memory; nothing is read from disk. It is applied by pkg/installer,
// which keeps an inventory in the cluster: the same again changes nothing, a newer one takes away what is no longer part of it, and the end
// takes away everything that is ours and nothing else.
//
// Non-goals: it removes no definition while objects of it exist, takes over nothing that another installation
// owns, and never prompts: the caller decides whether to continue.
package managerinstall
