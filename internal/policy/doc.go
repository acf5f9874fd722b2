// Package policy provides the policies that the administrators of this operator define in files, as they are in force now.
//
// A policy file is parsed completely and strictly before it counts. It is watched, so a change takes effect without a restart. An invalid
// file changes nothing: the last valid content stays in force, one line of the log describes the problem, and Err returns it for as long as
// it lasts. One file defines how to connect to each registry, one when upgrades with downtime may start, and one which components must be
// signed by which keys.
//
// Non-goals: it does not guess: an unknown field, a duplicate host, an invalid certificate or an empty file is an error. It reads nothing
// outside the folder of the file, and it holds no credentials: those are in Secrets.
package policy
