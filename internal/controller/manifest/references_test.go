package manifest

import (
	"context"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestTheAuditOfReferencesAsksOnceForEachAndWakesWhoeverHasToTell(t *testing.T) {
	resolved := func(name, reference string) func(*v1beta2.Manifest) {
		return func(m *v1beta2.Manifest) {
			m.Name, m.UID = name, "uid-1"
			m.Status.Resolved = []v1beta2.ResolvedSource{{Name: "raw-manifest", Reference: reference, Digest: "sha256:old"}}
		}
	}
	objects := []client.Object{
		newManifest(resolved("a", "image:latest")), newManifest(resolved("b", "image:latest")), newManifest(resolved("c", "image:stable")),
	}
	r := newReconciler(t, objects...)
	known := &contents{current: map[string]string{
		"a/raw-manifest": "sha256:new", "b/raw-manifest": "sha256:new", "c/raw-manifest": "sha256:old",
	}}
	r.Content, r.audited = known, make(chan event.GenericEvent, 8)
	r.auditReferences(context.Background())
	if known.asked != 2 {
		t.Errorf("%d requests for 2 references", known.asked)
	}
	close(r.audited)
	var woken []string
	for e := range r.audited {
		woken = append(woken, e.Object.GetName())
	}
	if len(woken) != 2 || woken[0] != "a" || woken[1] != "b" {
		t.Errorf("woken are %v", woken)
	}

	w := newWork(stored(t, r, objects[0].(*v1beta2.Manifest)), testTime)
	r.noteMoved(w)
	if got := w.manifest.Status.Resolved[0]; got.Moved != "sha256:new" || got.Digest != "sha256:old" {
		t.Errorf("resolved is %+v: the new content is told and not followed", got)
	}
	r.moved.replace(map[string]string{"image:latest": "sha256:old"})
	r.noteMoved(w)
	if got := w.manifest.Status.Resolved[0].Moved; got != "" {
		t.Errorf("a tag that moved back still counts as moved to %s", got)
	}
}
