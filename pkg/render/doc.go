// Package render answers: which objects does this content declare, and what do they look like before they are applied?
//
// It turns unpacked content into objects: YAML or JSON documents, and plain bundles. Charts and kustomizations have packages of their own,
// helm and kustomize, so that a program links only the libraries of the formats that it uses; package formats lists them all. It puts
// objects into their namespaces and adds the labels and annotations that mark them as ours. In plain documents and bundles "{{" is text.
//
// It refuses what is ambiguous or incomplete instead of guessing, because what a render leaves out is pruned: documents that are no
// objects, objects without a name, keys that are set twice, two different objects with one identity, input that continues where the
// parser would stop.
//
// Non-goals: it never talks to a cluster or to the network, runs no program and never modifies its arguments. Errors are *content.Error.
package render
