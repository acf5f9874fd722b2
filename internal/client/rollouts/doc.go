// Package rollouts answers two questions about releases in waves: how far is each, and what may a person decide about it?
//
// It is pure: it describes the ModuleRollouts, releases, Kymas and Manifests that package statusreader has read, and changes the spec of a
// ModuleRollout in memory; package rolloutedit writes it. It does not decide who gets a version: the lifecycle manager does, and the
// counts here are those of its status.
package rollouts
