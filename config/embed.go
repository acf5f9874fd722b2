// Package config answers: what must be in a cluster so that the lifecycle manager runs there? It carries the kustomizations that users
// apply by kubectl, so that programs can install the same. It decides nothing and changes nothing.
package config

import "embed"

// Files are the kustomizations: default (a hub), local (one cluster that is hub and runtime), and the components that can be added.
//
//go:embed crd/kustomization.yaml crd/bases components default local manager network-policy rbac
var Files embed.FS
