package modulerollout

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module/rollout"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// ago returns a time before noon, as the API has it.
func ago(minutes int) metav1.Time {
	return metav1.NewTime(noon.Add(-time.Duration(minutes) * time.Minute))
}

// sampleOf returns a Kyma with a Manifest that asks for a version and reports a state, and whatever a case changes.
func sampleOf(version string, state v1beta2.State, change func(*candidate)) candidate {
	status := metav1.ConditionTrue
	if state != v1beta2.StateReady {
		status = metav1.ConditionFalse
	}
	c := candidate{
		kyma: &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{
			Name: "k", Namespace: "kcp-system", UID: "uid-of-k", CreationTimestamp: ago(600), Labels: map[string]string{"ring": "canary"},
		}},
		entry: &v1beta2.ModuleStatus{Name: "m", Version: version, State: state},
		manifest: &v1beta2.Manifest{
			ObjectMeta: metav1.ObjectMeta{Name: "k-m", Generation: 2},
			Spec:       v1beta2.ManifestSpec{Version: version},
			Status: v1beta2.ManifestStatus{
				ObservedGeneration: 2, State: state, InstalledVersion: version,
				Conditions: []metav1.Condition{{Type: v1beta2.ConditionReady, Status: status, Reason: string(state), LastTransitionTime: ago(10)}},
				Revisions:  []v1beta2.Revision{{Number: 1, Version: version, At: ago(20), Before: v1beta2.StateReady}},
			},
		},
	}
	if change != nil {
		change(&c)
	}
	return c
}

// conditionReady gives conditions a Ready that is false for a reason.
func conditionReady(reason string, since metav1.Time) []metav1.Condition {
	return []metav1.Condition{{Type: v1beta2.ConditionReady, Status: metav1.ConditionFalse, Reason: reason, LastTransitionTime: since}}
}

func TestNewRecord(t *testing.T) {
	const ready, processing = v1beta2.StateReady, v1beta2.StateProcessing
	to := target{RolloutVersion: v1beta2.RolloutVersion{Version: "1.1.0"}}
	for _, test := range []struct {
		name    string
		sample  candidate
		to      target
		before  *record
		refusal string
		want    rollout.Member
	}{
		{
			name: "one that has the version before has not begun", sample: sampleOf("1.0.0", ready, nil),
			want: rollout.Member{},
		},
		{
			name: "one without the module has not begun either", sample: sampleOf("", "", func(c *candidate) { c.manifest, c.entry = nil, nil }),
			want: rollout.Member{},
		},
		{
			name: "one that was not ready before it began is marked", sample: sampleOf("1.0.0", v1beta2.StateError, nil),
			want: rollout.Member{BrokenBefore: true},
		},
		{
			name: "one whose Manifest asks for the target has begun when the revision did", sample: sampleOf("1.1.0", processing, nil),
			want: rollout.Member{Begun: true, At: ago(20).Time},
		},
		{
			name: "the state before the revision counts from then on",
			sample: sampleOf("1.1.0", processing, func(c *candidate) {
				c.manifest.Status.Revisions[0].Before = v1beta2.StateWarning
			}),
			want: rollout.Member{Begun: true, At: ago(20).Time, BrokenBefore: true},
		},
		{
			name:   "without a revision, what was seen to begin began when that was seen",
			sample: sampleOf("1.1.0", processing, func(c *candidate) { c.manifest.Status.Revisions = nil }),
			before: &record{}, want: rollout.Member{Begun: true, At: noon},
		},
		{
			name:   "and not again later",
			sample: sampleOf("1.1.0", processing, func(c *candidate) { c.manifest.Status.Revisions = nil }),
			before: &record{member: rollout.Member{Begun: true, At: ago(3).Time}}, want: rollout.Member{Begun: true, At: ago(3).Time},
		},
		{
			name:   "without either it began long ago",
			sample: sampleOf("1.1.0", processing, func(c *candidate) { c.manifest.Status.Revisions = nil }),
			want:   rollout.Member{Begun: true},
		},
		{
			name: "one that is ready is so since its Manifest is", sample: sampleOf("1.1.0", ready, nil),
			want: rollout.Member{Begun: true, At: ago(20).Time, Ready: true, ReadySince: ago(10).Time},
		},
		{
			name:   "the Manifest alone makes it not ready, as its own resource may count",
			sample: sampleOf("1.1.0", ready, func(c *candidate) { c.entry.State = processing }),
			want:   rollout.Member{Begun: true, At: ago(20).Time},
		},
		{
			name: "a mandatory module has only its Manifest",
			sample: sampleOf("1.1.0", ready, func(c *candidate) {
				c.entry, c.mandatory = nil, true
			}),
			want: rollout.Member{Begun: true, At: ago(20).Time, Ready: true, ReadySince: ago(10).Time},
		},
		{
			name: "and with its own resource, where that counts",
			sample: sampleOf("1.1.0", ready, func(c *candidate) {
				c.entry, c.mandatory = nil, true
				c.manifest.Annotations = map[string]string{v1beta2.AnnotationReadiness: string(v1beta2.ReadinessBoth)}
				c.manifest.Status.ResourceState = v1beta2.StateError
			}),
			want: rollout.Member{Begun: true, At: ago(20).Time},
		},
		{
			name: "a resource that counts and was broken before is marked",
			sample: sampleOf("1.0.0", ready, func(c *candidate) {
				c.manifest.Annotations = map[string]string{v1beta2.AnnotationReadiness: string(v1beta2.ReadinessModuleCR)}
				c.manifest.Status.ResourceState = v1beta2.StateWarning
			}),
			want: rollout.Member{BrokenBefore: true},
		},
		{
			name:   "a Manifest that was not observed is not ready",
			sample: sampleOf("1.1.0", ready, func(c *candidate) { c.manifest.Generation = 3 }),
			want:   rollout.Member{Begun: true, At: ago(20).Time},
		},
		{
			name: "one that was ready is unready since its Manifest is",
			sample: sampleOf("1.1.0", processing, func(c *candidate) {
				c.manifest.Status.Revisions[0].Outcome = v1beta2.RevisionSucceeded
			}),
			want: rollout.Member{Begun: true, At: ago(20).Time, UnreadySince: ago(10).Time},
		},
		{
			name:   "or since it was seen when the Manifest is ready all the time",
			sample: sampleOf("1.1.0", ready, func(c *candidate) { c.entry.State = v1beta2.StateWarning }),
			before: &record{member: rollout.Member{Begun: true, Ready: true}},
			want:   rollout.Member{Begun: true, At: ago(20).Time, UnreadySince: noon},
		},
		{
			name:   "and that stays",
			sample: sampleOf("1.1.0", ready, func(c *candidate) { c.entry.State = v1beta2.StateWarning }),
			before: &record{member: rollout.Member{Begun: true, UnreadySince: ago(4).Time}},
			want:   rollout.Member{Begun: true, At: ago(20).Time, UnreadySince: ago(4).Time},
		},
		{
			name: "one that is ready again is so since now", sample: sampleOf("1.1.0", ready, nil),
			before: &record{member: rollout.Member{Begun: true, UnreadySince: ago(4).Time}},
			want:   rollout.Member{Begun: true, At: ago(20).Time, Ready: true, ReadySince: noon},
		},
		{
			name: "one that asks for a lower version again is back",
			sample: sampleOf("1.0.0", ready, func(c *candidate) {
				c.manifest.Status.Revisions = append([]v1beta2.Revision{{Number: 1, Version: "1.1.0", At: ago(30)}}, c.manifest.Status.Revisions...)
			}),
			want: rollout.Member{Back: true, BackSince: ago(20).Time},
		},
		{
			name: "and went by itself when the Kyma avoids the target",
			sample: sampleOf("1.0.0", ready, func(c *candidate) {
				c.manifest.Status.Revisions = append([]v1beta2.Revision{{Number: 1, Version: "1.1.0", At: ago(30)}}, c.manifest.Status.Revisions...)
				c.entry.Avoid = "1.1.0@sha256:00"
			}),
			want: rollout.Member{Back: true, BackSince: ago(20).Time, RolledBack: true},
		},
		{
			name: "what runs still is the target while it goes back",
			sample: sampleOf("1.0.0", processing, func(c *candidate) {
				c.manifest.Status.InstalledVersion = "1.1.0"
			}),
			want: rollout.Member{Begun: true},
		},
		{
			name: "a runtime that does not answer is lost since then",
			sample: sampleOf("1.0.0", v1beta2.StateError, func(c *candidate) {
				c.manifest.Status.Conditions = conditionReady(v1beta2.ReasonRuntimeUnreachable, ago(7))
			}),
			want: rollout.Member{BrokenBefore: true, LostSince: ago(7).Time},
		},
		{
			name: "the later of the two who tell counts, as each may have been unready before",
			sample: sampleOf("1.0.0", v1beta2.StateError, func(c *candidate) {
				c.manifest.Status.Conditions = conditionReady(v1beta2.ReasonRuntimeUnreachable, ago(7))
				c.kyma.Status.Conditions = conditionReady(v1beta2.ReasonRuntimeUnauthorized, ago(5))
			}),
			want: rollout.Member{BrokenBefore: true, LostSince: ago(5).Time},
		},
		{
			name: "it is not lost before it began",
			sample: sampleOf("1.1.0", v1beta2.StateError, func(c *candidate) {
				c.manifest.Status.Conditions = conditionReady(v1beta2.ReasonRuntimeUnreachable, ago(50))
			}),
			want: rollout.Member{Begun: true, At: ago(20).Time, LostSince: ago(20).Time},
		},
		{
			name:   "a Kyma that is being deleted is held",
			sample: sampleOf("1.0.0", ready, func(c *candidate) { c.kyma.DeletionTimestamp = new(ago(1)) }),
			want:   rollout.Member{Held: rollout.HeldByDeletion},
		},
		{
			name:   "also where the Manifest goes",
			sample: sampleOf("1.0.0", ready, func(c *candidate) { c.manifest.DeletionTimestamp = new(ago(1)) }),
			want:   rollout.Member{Held: rollout.HeldByDeletion},
		},
		{
			name:   "or leaves its objects",
			sample: sampleOf("1.0.0", ready, func(c *candidate) { c.manifest.Annotations = map[string]string{v1beta2.AnnotationIsUnmanaged: "true"} }),
			want:   rollout.Member{Held: rollout.HeldByDeletion},
		},
		{
			name:   "a Kyma that is suspended is held, and one that has begun, too",
			sample: sampleOf("1.1.0", processing, func(c *candidate) { c.kyma.Labels = map[string]string{v1beta2.LabelSkipReconciliation: "true"} }),
			want:   rollout.Member{Begun: true, At: ago(20).Time, Held: rollout.HeldBySuspension},
		},
		{
			name: "one that is not suspended any more is free since that was seen", sample: sampleOf("1.1.0", processing, nil),
			before: &record{member: rollout.Member{Begun: true, Held: rollout.HeldBySuspension}},
			want:   rollout.Member{Begun: true, At: ago(20).Time, FreeSince: noon},
		},
		{
			name: "and that stays", sample: sampleOf("1.1.0", processing, nil),
			before: &record{member: rollout.Member{Begun: true, FreeSince: ago(3).Time}},
			want:   rollout.Member{Begun: true, At: ago(20).Time, FreeSince: ago(3).Time},
		},
		{
			name:   "a Manifest that is suspended is held",
			sample: sampleOf("1.0.0", ready, func(c *candidate) { c.manifest.Labels = map[string]string{v1beta2.LabelSkipReconciliation: "true"} }),
			want:   rollout.Member{Held: rollout.HeldBySuspension},
		},
		{
			name: "one that cannot have the target is refused", sample: sampleOf("1.0.0", ready, nil), refusal: v1beta2.ReasonTemplateNotFound,
			want: rollout.Member{Held: rollout.HeldByRefusal},
		},
		{
			name: "and so is one that has a higher version", sample: sampleOf("1.2.0", ready, nil),
			want: rollout.Member{Held: rollout.HeldByRefusal},
		},
		{
			name: "one that waits for consent to the target is held",
			sample: sampleOf("1.0.0", ready, func(c *candidate) {
				c.entry.Pending = &v1beta2.PendingVersion{Version: "1.1.0", From: []v1beta2.ConsentSide{v1beta2.ConsentHub}}
			}),
			want: rollout.Member{Held: rollout.HeldByConsent},
		},
		{
			name: "not one that waits for consent to another version",
			sample: sampleOf("1.0.0", ready, func(c *candidate) {
				c.entry.Pending = &v1beta2.PendingVersion{Version: "1.2.0", From: []v1beta2.ConsentSide{v1beta2.ConsentHub}}
			}),
			want: rollout.Member{},
		},
		{
			name: "nor one whose deadline has passed",
			sample: sampleOf("1.0.0", ready, func(c *candidate) {
				c.entry.Pending = &v1beta2.PendingVersion{Version: "1.1.0", Deadline: new(ago(1))}
			}),
			want: rollout.Member{},
		},
		{
			name: "what has begun is not held any more",
			sample: sampleOf("1.1.0", processing, func(c *candidate) {
				c.entry.Pending = &v1beta2.PendingVersion{Version: "1.1.0", From: []v1beta2.ConsentSide{v1beta2.ConsentHub}}
			}),
			want: rollout.Member{Begun: true, At: ago(20).Time},
		},
		{
			name:   "one that waits for what the target requires is held",
			sample: sampleOf("1.0.0", ready, func(c *candidate) { c.entry.Message = "version 1.1.0 needs module istio" }),
			want:   rollout.Member{Held: rollout.HeldByRequirement},
		},
		{
			name: "also of a mandatory module, whatever its template says",
			sample: sampleOf("1.0.0", ready, func(c *candidate) {
				c.entry, c.mandatory, c.module = nil, true, "warden"
				conditions.Set(&c.kyma.Status.Conditions, v1beta2.ConditionMandatoryModules, metav1.ConditionTrue, v1beta2.ReasonRequirementMissing,
					"1 of 1 mandatory modules ready; warden: RequirementMissing: version 1.1.0 needs module istio", 1, ago(1))
			}),
			want: rollout.Member{Held: rollout.HeldByRequirement},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.to.Version == "" {
				test.to = to
			}
			got := newRecord(test.sample, "regular", &test.to, test.before, test.refusal, noon)
			ignored := cmpopts.IgnoreFields(rollout.Member{}, "UID", "Name", "Labels", "Created", "State", "Reason", "Message", "SeenSince")
			if diff := cmp.Diff(test.want, got.member, ignored); diff != "" {
				t.Errorf("facts (-want +got):\n%s", diff)
			}
			if got.channel != "regular" || got.version != "1.1.0" || got.member.UID != "uid-of-k" || got.member.Created != ago(600).Time {
				t.Errorf("another Kyma or target: %+v", got)
			}
		})
	}
}

func TestNewRecord_WhatWasNotReadyAtFirstSightIsTimedFromThere(t *testing.T) {
	to := target{RolloutVersion: v1beta2.RolloutVersion{Version: "1.1.0"}}
	for name, test := range map[string]struct {
		version string
		state   v1beta2.State
		before  *record
		want    time.Time
	}{
		"one that has begun":     {"1.1.0", v1beta2.StateProcessing, nil, noon},
		"and is looked at again": {"1.1.0", v1beta2.StateProcessing, &record{member: rollout.Member{SeenSince: ago(3).Time}}, ago(3).Time},
		"one that began since":   {"1.1.0", v1beta2.StateProcessing, &record{}, time.Time{}},
		"one that was ready":     {"1.1.0", v1beta2.StateReady, nil, time.Time{}},
		"one that has not begun": {"1.0.0", v1beta2.StateProcessing, nil, time.Time{}},
	} {
		if got := newRecord(sampleOf(test.version, test.state, nil), "", &to, test.before, "", noon).member.SeenSince; !got.Equal(test.want) {
			t.Errorf("%s is seen since %s, want %s", name, got, test.want)
		}
	}
}

func TestNewRecord_ContentPublishedAgainIsTheSameTarget(t *testing.T) {
	c := sampleOf("1.1.0", v1beta2.StateReady, nil)
	other := target{RolloutVersion: v1beta2.RolloutVersion{Version: "1.1.0", Digest: "sha256:11"}}
	if got := newRecord(c, "", &other, nil, "", noon).member; !got.Begun || got.At != ago(20).Time {
		t.Errorf("a Manifest with other content of the version has not begun: %+v", got)
	}
}

func TestNewRecord_OnlyAnUpgradeWithDowntimeNeedsAWindow(t *testing.T) {
	template := &v1beta2.ModuleTemplate{Spec: v1beta2.ModuleTemplateSpec{RequiresDowntime: true}}
	to := target{RolloutVersion: v1beta2.RolloutVersion{Version: "1.1.0"}, template: template}
	for _, test := range []struct {
		name   string
		sample candidate
		want   bool
	}{
		{"an upgrade", sampleOf("1.0.0", v1beta2.StateReady, nil), true},
		{"the first installation", sampleOf("", "", func(c *candidate) { c.manifest = nil }), false},
		{"one that has begun", sampleOf("1.1.0", v1beta2.StateProcessing, nil), false},
		{"one that is held anyway", sampleOf("1.0.0", v1beta2.StateReady, func(c *candidate) { c.kyma.DeletionTimestamp = new(ago(1)) }), false},
		{"a mandatory module", sampleOf("1.0.0", v1beta2.StateReady, func(c *candidate) { c.mandatory = true }), false},
		{"a Kyma that skips windows", sampleOf("1.0.0", v1beta2.StateReady, func(c *candidate) { c.kyma.Spec.SkipMaintenanceWindows = true }), false},
	} {
		if got := newRecord(test.sample, "", &to, nil, "", noon).windowed; got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

func TestNewRecord_SaysWhyAKymaDoesNotBegin(t *testing.T) {
	to := target{RolloutVersion: v1beta2.RolloutVersion{Version: "1.1.0"}}
	for _, test := range []struct {
		name   string
		change func(*candidate)
		want   string
	}{
		{"its module, when that is refused", func(c *candidate) { c.entry.Message = "the signature does not match" }, "the signature does not match"},
		{"the Kyma, when all of it is", func(c *candidate) {
			c.kyma.Status.Conditions = conditionReady("RuntimeForbidden", ago(1))
			c.kyma.Status.Conditions[0].Message = "the runtime refuses"
		}, "the runtime refuses"},
		{"a Manifest that is ready with the version before does not", func(c *candidate) {
			c.manifest.Status.Conditions[0].Message = "all is well"
		}, ""},
	} {
		if got := newRecord(sampleOf("1.0.0", v1beta2.StateReady, test.change), "", &to, nil, "", noon).member.Message; got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}
