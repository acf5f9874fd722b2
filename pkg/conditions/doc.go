// Package conditions writes conditions correctly: lastTransitionTime moves only with the status, the observed generation is always set, and
// the written value is exactly the one that will be read back, so that an unchanged status is not patched.
//
// The package is pure: the time is an argument. It decides nothing: the caller chooses which conditions an object has, and their reasons.
package conditions
