// Package rolloutedit answers one question: how is a person's decision about a rollout written so that it neither overwrites another one
// nor is left half done?
//
// It reads an object, has the change made in memory, and writes it bound to the version that was read, as package kymaedit does. Non-goals:
// it does not decide what may be decided (package rollouts does), and it admits no Kyma: the lifecycle manager does.
package rolloutedit
