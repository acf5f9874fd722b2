package server

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/dashboard/operations"
)

// moduleConsent is a version that waits for consent.
type moduleConsent struct {
	Pending v1beta2.PendingVersion `json:"pending"`
	// Act is the button; nil when the consent of this Kyma's user is not what is missing.
	Act *deedAct `json:"act"`
	// Others says who must agree besides, or why there is no button.
	Others string `json:"others,omitempty"`
}

// moduleStrategy is how a module follows its channel, and the button that changes it.
type moduleStrategy struct {
	Is  v1beta2.UpgradeStrategy `json:"is"`
	Act *deedAct                `json:"act"`
}

// consent fills in the version that waits for consent, and how the module follows its channel.
func (d *moduleDetail) consent(o *one) {
	if o.kyma == nil || o.module.Mandatory {
		return
	}
	s := kymaedit.StandOf(o.kyma)
	if s.Has(o.module.Name) {
		d.Strategy = o.strategy(d.Access.Edit, &s)
	}
	if o.module.Pending == nil {
		return
	}
	d.Consent = &moduleConsent{Pending: *o.module.Pending}
	found, err := s.FindConsent(o.module.Name, "")
	elsewhere, other := errors.AsType[*kymaedit.ConsentElsewhereError](err)
	switch {
	case other:
		d.Consent.Others = modulestatus.Consenters(elsewhere.From) + " must agree: you cannot in their place"
	case err != nil:
		d.Consent.Others = err.Error()
	case found.Already:
		d.Consent.Others = "you have agreed: the lifecycle manager takes that up"
	default:
		d.Consent.Act = o.act(d.Access.Edit, operations.Request{Kind: operations.Approve, Target: found.Reference})
	}
	if err == nil && len(found.Others) > 0 {
		d.Consent.Others = modulestatus.Consenters(found.Others) + " must agree, too"
	}
}

// strategy returns how this side of the Kyma lets the module follow its channel.
func (o *one) strategy(edit bool, s *kymaedit.KymaContext) *moduleStrategy {
	is, other := v1beta2.UpgradeAutomatic, v1beta2.UpgradeManual
	if entry := kymaedit.Entry(&s.Kyma.Spec, o.module.Name); entry != nil && entry.UpgradeStrategy == v1beta2.UpgradeManual {
		is, other = other, is
	}
	return &moduleStrategy{Is: is, Act: o.act(edit, operations.Request{Kind: operations.Strategy, Strategy: other})}
}

// unconsented returns the versions that wait for the consent of a Kyma's own user. One that waits in several Kymas is one item: thousands
// wait for the same.
func unconsented(modules []modulestatus.Module) []attention {
	type version struct{ namespace, name, version string }
	counts, first := map[version]int{}, map[version]*modulestatus.Module{}
	var found []version
	for i := range modules {
		m := &modules[i]
		if m.Pending == nil || !m.ConsentHere {
			continue
		}
		namespace, _, _ := strings.Cut(m.Kyma, "/")
		at := version{namespace, m.Name, m.Pending.Version}
		if counts[at]++; first[at] == nil {
			first[at] = m
			found = append(found, at)
		}
	}
	all := make([]attention, 0, len(found))
	for _, at := range found {
		m := first[at]
		one := attention{
			Kind: "Consent", Kyma: m.Kyma, Name: m.Name, State: modulestatus.Warning, Reason: v1beta2.ReasonApprovalRequired,
			Message: "version " + at.version + " waits for your consent",
		}
		if counts[at] > 1 {
			one.Kyma, one.Namespace = "", at.namespace
			one.Message += fmt.Sprintf(" in %d Kymas", counts[at])
		}
		if len(m.Pending.Gravest) > 0 {
			one.Message += ": " + m.Pending.Gravest[0]
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b attention) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kyma, b.Kyma)) })
	return all
}
