// Package render answers: which objects does this content declare, and what do they look like before they are applied?
//
// It turns a stream of YAML or JSON documents into objects, puts them into their namespaces and adds the labels and annotations that
// mark them as ours. Nothing of the content is evaluated: "{{" is text.
//
// It refuses what is ambiguous or incomplete instead of guessing, because what a render leaves out is pruned: documents that are no
// objects, objects without a name, keys that are set twice, two different objects with one identity, input that goes on where the
// parser would stop. It never talks to a cluster and never modifies what it is given. Errors are *content.Error.
package render
