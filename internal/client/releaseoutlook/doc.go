// Package releaseoutlook answers two questions for a person: what would happen if a channel offered another version, and what would another
// version change in one Kyma?
//
// It reads the hub as the user, has package versioncontent render each distinct pair of versions once, has package releasepreview decide,
// and, on request, asks one runtime by a dry run. What cannot be read is part of the answer, in sentences: an unreachable registry leaves
// out what changes, and not who gets the version.
//
// Non-goals: it writes nothing, and shows no value of a Secret.
package releaseoutlook
