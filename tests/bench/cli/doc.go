// Package cli answers: what does it cost to look at a fleet with `kyma list`?
//
// The hub has 1,000 Kymas and 5,000 Manifests, which no manager looks after. Requests are counted exactly; the time is told beside that
// of `kubectl get kymas,manifests -A -o json` on the same API server.
package cli
