// Package render answers: which objects does this content declare, and what do they look like before they are applied?
//
// It turns unpacked content into objects: YAML or JSON documents, a plain bundle, a Helm chart, a kustomization. It puts them into their
// namespaces and adds the labels and annotations that mark them as ours. Templates are evaluated in Helm charts only, and kustomizations
// are built; in plain documents and bundles "{{" is text.
//
// It refuses what is ambiguous or incomplete instead of guessing, because what a render leaves out is pruned: documents that are no
// objects, objects without a name, keys that are set twice, two different objects with one identity, input that continues where the
// parser would stop; charts with hooks, or that render differently each time; kustomizations that refer to something beside their content.
// It never talks to a cluster or to the network, runs no program and never modifies what it is given. Errors are *content.Error.
package render
