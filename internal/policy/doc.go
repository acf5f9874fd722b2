// Package policy answers: what have the users who run this operator decided in files, and what holds right now?
//
// A policy file is read completely and strictly before it counts. It is watched, so a change takes effect without a restart; one
// that cannot be understood changes nothing: what was understood last stays in force, one line of the log says what is wrong, and
// Err tells it for as long as it lasts. One file says how each registry is spoken to, one when upgrades with downtime may start, and one
// which components must be signed by which keys.
//
// The package refuses to guess: an unknown field, a host written twice, a certificate that is none or an empty file is an error.
// It reads nothing outside the folder of the file, and it holds no credentials: those are in Secrets.
package policy
