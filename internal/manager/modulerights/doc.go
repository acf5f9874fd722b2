// Package modulerights finds out what versions of modules may do in a cluster, for all Kymas at once.
//
// A content is rendered once for the whole fleet: for each digest, and for each set of capabilities where a chart can see them. What is
// found out is kept as a short report. No caller waits: a Kyma is enqueued when what it asked for is known, and what fails is tried again
// for all who wait.
//
// Non-goals: it decides nothing about consent, writes nothing, and fetches nothing by itself: modulecontent does, with its checks and
// logins.
package modulerights
