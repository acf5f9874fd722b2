// Package fielddiff answers one question: in which fields do two states of an object differ?
//
// Every difference is that of a leaf, with a path that reads like those of kubectl. Values of a Secret are never shown, and with Secrets
// they are not shown elsewhere either: a chart may write the same password into a Secret and into an argument.
//
// Non-goals: it decides nothing about a change, reads no cluster, and knows no schema: lists are matched by name or by position.
package fielddiff
