package server

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/dashboard/operations"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
)

// revisionLine is one entry in the timeline of a module: what it was asked to be, when, and how that ended.
type revisionLine struct {
	Number  int64                   `json:"number"`
	Version string                  `json:"version,omitempty"`
	Digest  string                  `json:"digest"`
	At      *metav1.Time            `json:"at,omitempty"`
	Before  v1beta2.State           `json:"before,omitempty"`
	Outcome v1beta2.RevisionOutcome `json:"outcome,omitempty"`
	Reason  string                  `json:"reason,omitempty"`
	// Current is the one that the Manifest asks for now, WayBack the one that it can go back to, and Avoided the one that it went back from.
	Current bool `json:"current"`
	WayBack bool `json:"wayBack"`
	Avoided bool `json:"avoided"`
}

// moduleWait is a version that waits until a rollout lets the Kyma have it.
type moduleWait struct {
	Version string `json:"version"`
	Message string `json:"message,omitempty"`
	// Rollout is NAMESPACE/NAME, if the user may see it.
	Rollout string `json:"rollout,omitempty"`
}

// moduleWay is how a module can go back, or try again what it went back from. What makes no sense now is nil.
type moduleWay struct {
	Back  *deedAct `json:"back"`
	Retry *deedAct `json:"retry"`
	// None says why there is no way back; empty if there is one.
	None string `json:"none,omitempty"`
}

// timelineOf returns the revisions of a Manifest, the newest first. The way back is the number of a revision, 0 for none.
func timelineOf(manifest *v1beta2.Manifest, back int64, avoided []string) []revisionLine {
	lines := []revisionLine{}
	if manifest == nil || len(manifest.Status.Revisions) == 0 {
		return lines
	}
	history := slices.Clone(manifest.Status.Revisions)
	slices.SortFunc(history, func(a, b v1beta2.Revision) int { return cmp.Compare(a.Number, b.Number) })
	current := history[len(history)-1].Number
	for _, r := range slices.Backward(history) {
		lines = append(lines, revisionLine{
			Number: r.Number, Version: r.Version, Digest: r.Digest, At: timeOf(r.At), Before: r.Before, Outcome: r.Outcome, Reason: r.Reason,
			Current: r.Number == current, WayBack: r.Number == back && r.Number != current,
			Avoided: slices.Contains(avoided, revision.ReferenceOf(r)),
		})
	}
	return lines
}

// history fills in the timeline of a module, and how it can go back.
func (d *moduleDetail) history(o *one) {
	manifest := manifestOf(&o.in, o.module.Manifest)
	if o.kyma == nil || o.module.Mandatory || modulestatus.IsCopy(o.kyma) {
		d.Timeline = timelineOf(manifest, 0, nil)
		return
	}
	s := kymaedit.StandOf(o.kyma)
	for i := range o.now.in.Templates {
		if o.now.in.Templates[i].Namespace == o.kyma.Namespace {
			s.Templates = append(s.Templates, o.now.in.Templates[i])
		}
	}
	way, err := s.FindWayBack(o.module.Name, manifest, 0)
	d.Timeline = timelineOf(manifest, way.To.Number, o.avoided())
	switch {
	case err != nil:
		d.Way.None = err.Error()
	case !way.Already:
		d.Way.Back = o.act(d.Access.Edit, operations.Request{Kind: operations.Back, Target: way.Avoid, Version: way.To.Version})
	}
	if spec := s.Asked.DeepCopy(); manifest != nil {
		if kymaedit.Retry(spec, o.module.Name, manifest.Status.Revisions).Action != kymaedit.Unchanged {
			d.Way.Retry = o.act(d.Access.Edit, operations.Request{Kind: operations.Retry})
		}
	}
}

// act returns a button of a module.
func (o *one) act(allowed bool, deed operations.Request) *deedAct {
	deed.Kyma, deed.Module = o.module.Kyma, o.module.Name
	act := &deedAct{Deed: deed, Allowed: allowed}
	if !allowed {
		act.Why = "You may not change the Kyma. Ask an administrator of the cluster for permission."
	}
	return act
}

// avoided returns the versions that a module of a Kyma went back from, by a person or by itself.
func (o *one) avoided() []string {
	var all []string
	for i := range o.kyma.Spec.Modules {
		if m := &o.kyma.Spec.Modules[i]; m.Name == o.module.Name && m.Avoid != "" {
			all = append(all, m.Avoid)
		}
	}
	if status := o.status(); status != nil && status.Avoid != "" {
		all = append(all, status.Avoid)
	}
	return all
}

// status returns what the Kyma reports about the module, nil for a module without a Kyma or that it does not report yet.
func (o *one) status() *v1beta2.ModuleStatus {
	if o.kyma == nil || o.module.Mandatory {
		return nil
	}
	for i := range o.kyma.Status.Modules {
		if m := &o.kyma.Status.Modules[i]; m.Name == o.module.Name {
			return m
		}
	}
	return nil
}

// waits returns the version that waits for its rollout; nil if none does.
func (o *one) waits() *moduleWait {
	status := o.status()
	if status == nil || status.Offered == "" {
		return nil
	}
	wait := &moduleWait{Version: status.Offered, Message: status.Message}
	for i := range o.now.rollouts.lines {
		if r := &o.now.rollouts.lines[i]; r.Namespace == o.kyma.Namespace && r.Name == o.module.Name {
			wait.Rollout = modulestatus.Key{Namespace: r.Namespace, Name: r.Name}.String()
		}
	}
	return wait
}

// timeOf returns a time, nil for none.
func timeOf(t metav1.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
