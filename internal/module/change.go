package module

import (
	"cmp"
	"maps"
	"slices"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
	"github.com/kyma-project/lifecycle-manager/pkg/permissions"
)

// ChangeKey names the step of a module from one content to another, by their digests. From is empty where nothing is installed, or its
// content is not known: then all of the other counts as new.
type ChangeKey struct{ Module, From, To string }

// Change is what a content may do and another one may not.
type Change struct {
	// Pending is true while it is being found out.
	Pending bool
	// Problem is the reason why it cannot be found out: then consent is asked for as if everything were new.
	Problem string
	// FromProblem is the reason why it is not known what the installed content may do: all of the other counts as new.
	FromProblem string
	// NewRights, NewWebhook and DefinitionChange are what a rule of the policy may ask about.
	NewRights, NewWebhook, DefinitionChange bool
	// Counts and Gravest are what a person is told.
	Counts  v1beta2.PendingCounts
	Gravest []string
}

// NeededChange is a Change that rule 14b of Resolve looks at. The Manifests are complete; they belong to the Snapshot and must not be
// changed.
type NeededChange struct {
	ChangeKey
	// Installed is the Manifest that exists, nil where From is empty; Wanted is as it would be written.
	Installed, Wanted *v1beta2.Manifest
}

// NeededChanges names the changes that Resolve looks at, once the components that Needed returns are known. It is sorted, and empty where
// no consent is asked for.
func NeededChanges(w Snapshot) []NeededChange {
	if !asksForConsent(&w) {
		return nil
	}
	r := newResolver(w)
	r.resolve()
	return slices.SortedFunc(maps.Values(r.changes), func(a, b NeededChange) int {
		return cmp.Or(cmp.Compare(a.Module, b.Module), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
}

// asksForConsent reports whether anything in a Snapshot may ask for consent.
func asksForConsent(w *Snapshot) bool {
	if w.Approvals != nil && len(w.Approvals.Rules) > 0 {
		return true
	}
	manual := func(entry v1beta2.Module) bool { return entry.UpgradeStrategy == v1beta2.UpgradeManual }
	if slices.ContainsFunc(w.Kyma.Spec.Modules, manual) {
		return true
	}
	for _, said := range w.RuntimeConsent {
		if said.Strategy == v1beta2.UpgradeManual {
			return true
		}
	}
	return false
}

// step is a module's way from what its Manifest asks for to another content.
type step struct {
	key      ChangeKey
	to       revision.Key
	manifest *v1beta2.Manifest // as it would be written
}

// stepTo returns the step of a module to a target. Values, target namespace and probes that users set in the Manifest stay.
func (r *resolver) stepTo(v *Verdict, found target, component Component) step {
	planned := *v
	planned.install(found, component)
	s := step{manifest: wanted(r.Snapshot.Kyma, &planned), key: ChangeKey{Module: v.Module}}
	if have := v.Manifest; have != nil {
		s.manifest.Spec.Values, s.manifest.Spec.TargetNamespace = have.Spec.Values, have.Spec.TargetNamespace
		s.manifest.Spec.Probes = have.Spec.Probes
		s.key.From = revision.Digest(&have.Spec)
	}
	s.to = revision.Of(&s.manifest.Spec)
	s.key.To = s.to.Digest
	return s
}

// change returns what is known of a step, and records that it is needed.
func (r *resolver) change(v *Verdict, s *step) Change {
	r.changes[s.key] = NeededChange{ChangeKey: s.key, Installed: v.Manifest, Wanted: s.manifest}
	known, ok := r.Changes[s.key]
	if !ok {
		return Change{Pending: true}
	}
	return known
}

// ChangeOf returns the change that a difference of two reports is.
func ChangeOf(difference permissions.Difference) Change {
	change := Change{
		NewRights: difference.NewRights(), NewWebhook: difference.NewWebhook(), DefinitionChange: difference.DefinitionChange(),
		Gravest: difference.Gravest(maxGravest),
	}
	counts := &change.Counts
	counts.RightsAdded, counts.RightsRemoved, counts.Definitions, counts.Webhooks, counts.Images = difference.Counts()
	return change
}
