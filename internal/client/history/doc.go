// Package history answers one question: what happened to a module, or to a Kyma, and who did it, as far as that was recorded?
//
// An Entry is one thing that happened. The functions Of... make entries of what Kubernetes and the lifecycle manager keep: revisions of
// Manifests, conditions, managed fields, waves of rollouts. Merge puts entries of all sources into one order, and leaves out what two
// sources say of the same change.
//
// Non-goals: it reads nothing, and concludes nothing that was not recorded. A field manager is not a user, and who did something is empty
// where it is not known.
package history
