package operations

import (
	"context"
	"errors"
	"fmt"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/waitfor"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
)

// approve plans to agree to the version of a module that waits for consent:
//
//  1. a module that the Kyma does not have, or that waits for nothing, is refused, unless the Kyma agreed before
//  2. so is a version that only waits for the consent of another user
//  3. so is another version, or another content of it, than the user saw
func (p *planner) approve(ctx context.Context) (*plan, error) {
	s, err := p.open(ctx, p.deed.Kyma)
	if err != nil {
		return nil, err
	}
	name, made := p.deed.Module, &plan{way: wayKyma}
	if !s.Has(name) {
		return made.refuse(s.absent(name)), nil
	}
	consent, err := p.consent(s)
	if err != nil {
		return made.refuse(consentRefusal(err)), nil
	}
	version := consent.Pending.Version
	made.why = fmt.Sprintf("version %s of module %s is installed with exactly the content %s", version, name, consent.Pending.Digest)
	if len(consent.Others) > 0 {
		made.warnings = append(made.warnings, fmt.Sprintf("%s must agree, too: until then version %s is not installed",
			modulestatus.Consenters(consent.Others), version))
	}
	if consent.Pending.Downtime {
		made.warnings = append(made.warnings, "the version needs downtime: it is installed in the next maintenance window")
	}
	c := &change{hubContext: s, ask: waitfor.Options{Timeout: p.options.Patience}, editKyma: func(kyma *v1beta2.Kyma) error {
		_, err := kymaedit.Approve(kyma, name, consent.Reference)
		if err != nil {
			return consentRefusal(err)
		}
		return nil
	}, wants: func(*v1beta2.KymaSpec) []waitfor.Expectation {
		return []waitfor.Expectation{{Module: name, Version: version}}
	}}
	steps := c.steps("Approve "+version+" in Kyma "+p.deed.Kyma, "Wait until version "+version+" runs")
	if len(consent.Others) > 0 {
		steps = steps[:1] // it runs when others have agreed
	}
	made.steps = steps
	return made, nil
}

// consent returns the consent that the request is about. One that the Kyma has given before is found, too, so that the request can be
// repeated.
func (p *planner) consent(s *hubContext) (kymaedit.Consent, error) {
	name, target := p.deed.Module, p.deed.Target
	consent, err := s.FindConsent(name, "")
	if err == nil && consent.Reference == target {
		return consent, nil
	}
	if entry := kymaedit.Entry(&s.Kyma.Spec, name); entry != nil && entry.Approved == target {
		version, digest := splitReference(target)
		return kymaedit.Consent{
			Module: name, Reference: target, Already: true, Pending: v1beta2.PendingVersion{Version: version, Digest: digest},
		}, nil
	}
	if pending := modulestatus.PendingOf(s.Kyma, name); pending != nil {
		if now := revision.Reference(pending.Version, pending.Digest); now != target {
			return consent, &kymaedit.PendingChangedError{Module: name, Asked: target, Now: now}
		}
	}
	return consent, err
}

// consentRefusal gives an error about consent a reason of this package.
func consentRefusal(err error) error {
	if _, is := errors.AsType[*kymaedit.PendingChangedError](err); is {
		return refuse(WhyBusy, "%s: look at it again", err)
	}
	return refuse(WhyRefused, "%s", err)
}
