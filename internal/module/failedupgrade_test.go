package module

import (
	"cmp"
	"testing"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
)

// observedAllTheTime says that what is under way was observed since it began, or since its obstacle went away, unless something else is said.
func observedAllTheTime(w *Snapshot) {
	for i := range w.Manifests {
		newest, underWay := revision.UnderWay(w.Manifests[i].Status.Revisions)
		if underWay && w.Progress == nil {
			w.Progress = map[string]time.Duration{w.Manifests[i].Name: min(w.Now.Sub(newest.At.Time), w.Now.Sub(cmp.Or(newest.Since, &newest.At).Time))}
		}
	}
}

// observedFor says for how long what is under way was observed; nothing for a negative time.
func observedFor(observed time.Duration) func(*Snapshot) {
	return func(w *Snapshot) {
		w.Progress = map[string]time.Duration{}
		if observed >= 0 {
			w.Progress[w.Manifests[0].Name] = observed
		}
	}
}

func TestWayBack_ThePassComesAtTheDeadline(t *testing.T) {
	w := upgrading(theRevision(2, func(r *v1beta2.Revision) { r.At = noon }))
	if wake := NextWake(Resolve(w), noon.Time); wake != DefaultProgressDeadline {
		t.Errorf("the next pass comes after %s, want %s", wake, DefaultProgressDeadline)
	}
	for name, test := range map[string]struct {
		world Snapshot
		want  time.Duration
	}{
		"the operator was down for a while":                       {upgrading(observedFor(20 * time.Minute)), 10 * time.Minute},
		"it was not looked at since the start":                    {upgrading(observedFor(-1)), unobservedPause},
		"it seems to be ready, and an event tells when it is not": {upgrading(observedFor(-1), reports("Ready", "Ready")), 0},
		"its Manifest is suspended, and no pass looks at it": {upgrading(observedFor(-1), theManifest(func(m *v1beta2.Manifest) {
			m.Labels[v1beta2.LabelSkipReconciliation] = "true"
		})), 0},
		"there is no way back, which is told by the clock": {upgrading(observedFor(-1), vouching("")), 0},
	} {
		if wake := NextWake(Resolve(test.world), noon.Time); wake != test.want {
			t.Errorf("%s: the next pass comes after %s, want %s", name, wake, test.want)
		}
	}
	if wake := NextWake(Resolve(wentBack()), noon.Time); wake != 0 {
		t.Errorf("what has gone back is looked at again after %s, want never", wake)
	}
}
