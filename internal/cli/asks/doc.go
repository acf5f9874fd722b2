// Package asks answers one question: what may a version of a module do in a cluster, and what of that may the installed one not do?
//
// A Reader reads the content of both as the user, and reports what package permissions finds. Where the content cannot be read from here,
// the status of the Kyma still has the summary that the lifecycle manager wrote for a version that waits for consent.
//
// Non-goals: it decides nothing, changes nothing, and gives no consent.
package asks
