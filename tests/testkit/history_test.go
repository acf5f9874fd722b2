package testkit

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
)

func TestMisremembers_FindsSeededLies(t *testing.T) {
	base := &v1beta2.Manifest{}
	base.Generation, base.Spec.Version = 2, "1.1.0"
	base.Status.ObservedGeneration, base.Status.State = 2, v1beta2.StateReady
	then := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	first := base.DeepCopy()
	first.Spec.Version = "1.0.0"
	known := revision.End(revision.Begin(nil, revision.Of(&first.Spec), "", "", then), v1beta2.RevisionSucceeded, "")
	known = revision.Begin(known, revision.Of(&base.Spec), v1beta2.StateReady, "", then)
	base.Status.Revisions = revision.End(known, v1beta2.RevisionSucceeded, "")
	for sentence, test := range map[string]struct {
		before, now func(*v1beta2.Manifest)
		want        string // part of the one sentence; "" for none
	}{
		"nothing changed":                     {},
		"a definition without the field":      {now: func(m *v1beta2.Manifest) { m.Status.Revisions = nil }},
		"and then with it again":              {before: func(m *v1beta2.Manifest) { m.Status.Revisions = nil }},
		"a spec that nothing was said of":     {now: func(m *v1beta2.Manifest) { m.Spec.Version, m.Generation = "1.2.0", 3 }},
		"it succeeded after all":              {before: func(m *v1beta2.Manifest) { m.Status.Revisions[1].Outcome = v1beta2.RevisionFailed }},
		"an outcome came":                     {before: func(m *v1beta2.Manifest) { m.Status.Revisions[1].Outcome = "" }},
		"an earlier one is gone":              {now: func(m *v1beta2.Manifest) { m.Status.Revisions = m.Status.Revisions[1:] }},
		"the newest is not what is asked for": {now: func(m *v1beta2.Manifest) { m.Spec.Version = "1.2.0" }, want: "asks for"},
		"Ready, and it did not succeed":       {now: func(m *v1beta2.Manifest) { m.Status.Revisions[1].Outcome = "" }, want: "has outcome"},
		"Ready, and its custom resource counts, and is not": {
			before: func(m *v1beta2.Manifest) { m.Status.Revisions[1].Outcome = "" },
			now: func(m *v1beta2.Manifest) {
				counted(m, v1beta2.StateProcessing)
				m.Status.Revisions[1].Outcome = ""
			},
		},
		"it succeeds, and its custom resource counts, and is not ready": {
			before: func(m *v1beta2.Manifest) { m.Status.Revisions[1].Outcome = "" },
			now:    func(m *v1beta2.Manifest) { counted(m, v1beta2.StateProcessing) }, want: "custom resource is Processing",
		},
		"it succeeded, and its custom resource is ready no more": {now: func(m *v1beta2.Manifest) { counted(m, v1beta2.StateError) }},
		"an earlier one has no outcome":                          {now: func(m *v1beta2.Manifest) { m.Status.Revisions[0].Outcome = "" }, want: "not the newest"},
		"numbers that do not grow":                               {now: func(m *v1beta2.Manifest) { m.Status.Revisions[0].Number = 2 }, want: "follows"},
		"a number that is gone": {before: func(m *v1beta2.Manifest) {
			m.Status.Revisions[1].Number = 3
		}, want: "was 3 and is 2"},
		"an outcome that was another one before": {before: func(m *v1beta2.Manifest) {
			m.Status.Revisions[0].Outcome = v1beta2.RevisionSuperseded
		}, want: "was Superseded"},
		"it began at another time": {before: func(m *v1beta2.Manifest) {
			m.Status.Revisions[1].At = metav1.NewTime(then.Add(time.Second))
		}, want: "revision 2 was"},
		"too many": {now: func(m *v1beta2.Manifest) {
			all := m.Status.Revisions
			for len(all) < maxRevisions+1 {
				next := all[len(all)-1]
				next.Number++
				all = append(all, next)
			}
			m.Status.Revisions = all
		}, want: "6 revisions"},
	} {
		before, now := base.DeepCopy(), base.DeepCopy()
		if test.before != nil {
			test.before(before)
		}
		if test.now != nil {
			test.now(now)
		}
		got := misremembers(historyOf(before), now)
		if test.want == "" && len(got) == 0 {
			continue
		}
		if test.want == "" || !strings.Contains(strings.Join(got, "\n"), test.want) {
			t.Errorf("%s: %q, want %q", sentence, got, test.want)
		}
	}
	if got := misremembers(historyOf(nil), nil); got != nil {
		t.Errorf("a Kyma has a history: %q", got)
	}
}

// counted makes the readiness of a Manifest's module depend on its custom resource, which is in the given state.
func counted(m *v1beta2.Manifest, resource v1beta2.State) {
	m.Annotations = map[string]string{v1beta2.AnnotationReadiness: string(v1beta2.ReadinessBoth)}
	m.Status.ResourceState = resource
}
