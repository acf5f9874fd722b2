// Package bulk answers one question: what became of many objects to which the same thing was done, and how is that told in a few lines?
//
// Run does it to a few objects at a time. Results are grouped by outcome and message, so that a thousand equal ones are one line.
//
// Non-goals: it knows no Kyma, makes no request and prints nothing; what is done to an object, and whether that succeeded, its caller says.
package bulk
