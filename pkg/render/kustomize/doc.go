// Package kustomize builds kustomizations from content, as "kustomize build" does, and refuses every reference that leads out of it.
//
// Non-goals: no remote bases, no plugins that run programs, no Helm charts inside of kustomizations. Errors are *content.Error.
package kustomize
