package progress

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func minute(number int) time.Time { return start.Add(time.Duration(number) * time.Minute) }

func upgrading(outcome v1beta2.RevisionOutcome) *v1beta2.Manifest {
	return &v1beta2.Manifest{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: "sample", UID: "uid"},
		Status: v1beta2.ManifestStatus{Revisions: []v1beta2.Revision{{
			Number: 1, At: metav1.NewTime(start), Outcome: outcome, Observed: &metav1.Duration{Duration: 5 * time.Minute},
		}}},
	}
}

func TestRegistry(t *testing.T) {
	m := upgrading("")
	key := client.ObjectKeyFromObject(m)
	pass := Pass{Manifest: m, Found: m.Status.Revisions, Began: minute(10)}
	for _, test := range []struct {
		name  string
		do    func(r *Registry)
		owned time.Time
		want  time.Duration
		ok    bool
	}{
		{"a Manifest that no pass confirmed is not known", func(*Registry) {}, time.Time{}, 0, false},
		{"a pass confirms it, and continues what its status says", func(r *Registry) { r.Record(pass) }, time.Time{}, 25 * time.Minute, true},
		{"one that ended badly unsettles it", func(r *Registry) { r.Record(pass); r.Interrupt(key, minute(20)) }, time.Time{}, 0, false},
		{"before it was confirmed there is nothing to unsettle", func(r *Registry) { r.Interrupt(key, minute(20)); r.Record(pass) }, time.Time{}, 25 * time.Minute, true},
		{"what another replica had meanwhile is not known", func(r *Registry) { r.Record(pass) }, minute(20), 0, false},
		{"what came back continues from its status", func(r *Registry) {
			r.Record(pass)
			again := pass
			again.Began, again.Owned = minute(25), minute(20)
			r.Record(again)
		}, minute(20), 10 * time.Minute, true},
		{"a Manifest that is gone is forgotten", func(r *Registry) { r.Record(pass); r.Forget(key) }, time.Time{}, 0, false},
		{"another one of its name is not known", func(r *Registry) {
			other := pass
			other.Manifest = m.DeepCopy()
			other.Manifest.UID = "other"
			r.Record(other)
		}, time.Time{}, 0, false},
		{"an upgrade that succeeded is not kept", func(r *Registry) {
			r.Record(pass)
			r.Record(Pass{Manifest: upgrading(v1beta2.RevisionSucceeded), Began: minute(20)})
			if len(r.known) > 0 {
				t.Errorf("%d Manifests are kept", len(r.known))
			}
		}, time.Time{}, 0, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := &Registry{}
			test.do(r)
			if got, ok := r.For(m, test.owned, minute(30)); got != test.want || ok != test.ok {
				t.Errorf("observed for %s, %v; want %s, %v", got, ok, test.want, test.ok)
			}
		})
	}
}

func TestRegistry_NilHasObservedNothing(t *testing.T) {
	var r *Registry
	m := upgrading("")
	r.Record(Pass{Manifest: m})
	r.Interrupt(client.ObjectKeyFromObject(m), start)
	r.Forget(client.ObjectKeyFromObject(m))
	if _, ok := r.For(m, time.Time{}, start); ok {
		t.Error("a Registry that does not exist has observed something")
	}
}
