// Package conditions answers how a condition is written, so that it tells the truth: lastTransitionTime moves only with the status,
// the generation that was looked at is always named, and what is written is exactly what will be read back, so that a status which
// did not change is not patched.
//
// It is pure: the time is handed in. It decides nothing: which conditions an object has, and with which reason, is up to the caller.
package conditions
