// Package managerinstall answers one question: how are the lifecycle manager itself, its definitions and its rights installed in a cluster
// and removed from it, and is everything there that it requires?
//
// The installation is the kustomization of package config, built in memory; nothing is read from disk. Package pkg/installer applies it and
// keeps an inventory in the cluster: applying the same objects again changes nothing, a newer version removes the objects that are no
// longer part of it, and the removal deletes all of our objects and no others.
//
// Non-goals: it removes no definition while objects of it exist, takes over nothing that another installation owns, and never prompts: the
// caller decides whether to continue.
package managerinstall
