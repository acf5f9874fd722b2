package kymaedit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
)

// Consent is the answer that a Kyma's user can give to a version that waits.
type Consent struct {
	Module  string
	Pending v1beta2.PendingVersion
	// Reference is what approved has to name: "<version>@<digest>".
	Reference string
	// Already means that the entry names it.
	Already bool
	// Others are the sides whose consent is missing besides that of this Kyma.
	Others []v1beta2.ConsentSide
}

// NoConsentError says why there is nothing that this Kyma's user could agree to.
type NoConsentError struct{ Module, Why string }

// Error returns a sentence.
func (e *NoConsentError) Error() string {
	return fmt.Sprintf("module %s has nothing to approve: %s", e.Module, e.Why)
}

// ConsentElsewhereError is a version that waits for the consent of the other side alone.
type ConsentElsewhereError struct {
	Module, Version string
	From            []v1beta2.ConsentSide
}

// Error returns a sentence that says who must agree.
func (e *ConsentElsewhereError) Error() string {
	return fmt.Sprintf("version %s of module %s does not wait for your consent: %s must agree", e.Version, e.Module,
		modulestatus.Consenters(e.From))
}

// PendingChangedError is an approval of a version that no longer waits.
type PendingChangedError struct{ Module, Asked, Now string }

// Error returns a sentence with what waits now.
func (e *PendingChangedError) Error() string {
	if e.Now == "" {
		return fmt.Sprintf("version %s of module %s no longer waits for consent", e.Asked, e.Module)
	}
	return fmt.Sprintf("module %s changed meanwhile: %s waits for consent now, not %s", e.Module, e.Now, e.Asked)
}

// FindConsent returns the consent that this Kyma's user can give to the version of a module that waits. version limits it to one version,
// or, as "<version>@<digest>", to one content; it may be empty. The error is a *NoConsentError or a *ConsentElsewhereError.
func (s *KymaContext) FindConsent(name, version string) (Consent, error) {
	pending := modulestatus.PendingOf(s.Kyma, name)
	none := func(format string, values ...any) (Consent, error) {
		return Consent{}, &NoConsentError{name, fmt.Sprintf(format, values...)}
	}
	switch {
	case pending == nil:
		return none("no version of it waits for consent")
	case pending.Digest == "":
		return none("version %s waits, and what it installs is not known yet", pending.Version)
	}
	reference := revision.Reference(pending.Version, pending.Digest)
	if version != "" && version != pending.Version && version != reference {
		return none("%s waits for consent, not %s", reference, version)
	}
	consent := Consent{Module: name, Pending: *pending, Reference: reference}
	entry := Entry(&s.Kyma.Spec, name)
	consent.Already = entry != nil && entry.Approved == reference
	if !consent.Already && !modulestatus.Awaits(pending) {
		return none("version %s has the consent that it needs, and waits for something else", pending.Version)
	}
	own := modulestatus.ConsentSides(s.Kyma)
	for _, side := range pending.From {
		if side != v1beta2.ConsentAny && !slices.Contains(own, side) {
			consent.Others = append(consent.Others, side)
		}
	}
	if !consent.Already && !modulestatus.ConsentHere(s.Kyma, pending) {
		return Consent{}, &ConsentElsewhereError{name, pending.Version, consent.Others}
	}
	return consent, nil
}

// Approve lets a Kyma's entry agree to a version, if that one still waits. The error is a *PendingChangedError. A Kyma without the entry is
// left as it is.
func Approve(kyma *v1beta2.Kyma, name, reference string) (Change, error) {
	pending, now := modulestatus.PendingOf(kyma, name), ""
	if pending != nil {
		now = revision.Reference(pending.Version, pending.Digest)
	}
	entry := find(&kyma.Spec, name)
	if now != reference && (entry == nil || entry.Approved != reference) {
		return Change{}, &PendingChangedError{Module: name, Asked: reference, Now: now}
	}
	return edit(&kyma.Spec, name, func(entry *v1beta2.Module) { entry.Approved = reference }), nil
}

// PendingGroup is a version that waits for the consent of several Kymas' users.
type PendingGroup struct {
	Reference string
	// Pending is that of the Kyma in which the version adds most rights: Kymas have different versions installed.
	Pending v1beta2.PendingVersion
	// Kymas whose own consent is missing, sorted.
	Kymas []client.ObjectKey
}

// GroupPending returns what waits for the consent of some Kymas' own users, by content, sorted. version limits it as in FindConsent.
func GroupPending(kymas []v1beta2.Kyma, name, version string) []PendingGroup {
	groups := map[string]*PendingGroup{}
	for i := range kymas {
		s := StandOf(&kymas[i])
		consent, err := s.FindConsent(name, version)
		if err != nil || consent.Already {
			continue
		}
		group := groups[consent.Reference]
		if group == nil {
			group = &PendingGroup{Reference: consent.Reference, Pending: consent.Pending}
			groups[consent.Reference] = group
		}
		if consent.Pending.Counts.RightsAdded > group.Pending.Counts.RightsAdded {
			group.Pending = consent.Pending
		}
		group.Kymas = append(group.Kymas, s.Key())
	}
	all := make([]PendingGroup, 0, len(groups))
	for _, reference := range slices.Sorted(maps.Keys(groups)) {
		slices.SortFunc(groups[reference].Kymas, func(a, b client.ObjectKey) int { return cmp.Compare(a.String(), b.String()) })
		all = append(all, *groups[reference])
	}
	return all
}
