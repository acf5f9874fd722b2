// Package rolloutcmd answers one question: what do the verbs of kyma that show releases in waves, and decide about them, write and with
// which exit code do they end?
//
// Non-goals: it decides nothing; internal/client/rollouts says how far a rollout is and what may be decided, internal/client/rolloutedit
// writes it.
package rolloutcmd
