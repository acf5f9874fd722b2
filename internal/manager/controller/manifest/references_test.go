package manifest

import (
	"context"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestAuditReferences_RequestsEachOnceAndEnqueuesChangedManifests(t *testing.T) {
	resolved := func(name, reference string) func(*v1beta2.Manifest) {
		return func(m *v1beta2.Manifest) {
			m.Name, m.UID = name, "uid-1"
			m.Status.Resolved = []v1beta2.ResolvedSource{{Name: "raw-manifest", Reference: reference, Digest: "sha256:old"}}
		}
	}
	objects := []client.Object{
		newManifest(resolved("a", "image:latest")), newManifest(resolved("b", "image:latest")), newManifest(resolved("c", "image:stable")),
		newManifest(resolved("d", "image:stable")), // whose spec has moved on to image:next, which cannot be installed
	}
	r := newReconciler(t, objects...)
	known := &contents{
		current: map[string]string{
			"a/raw-manifest": "sha256:new", "b/raw-manifest": "sha256:new", "c/raw-manifest": "sha256:old", "d/raw-manifest": "sha256:next",
		},
		references: map[string]string{"a": "image:latest", "b": "image:latest", "c": "image:stable", "d": "image:next"},
	}
	r.Content, r.audited = known, make(chan event.GenericEvent, 8)
	r.auditReferences(context.Background())
	if asked := known.asked.Load(); asked != 2 {
		t.Errorf("%d requests for 2 references", asked)
	}
	close(r.audited)
	var woken []string
	for e := range r.audited {
		woken = append(woken, e.Object.GetName())
	}
	if len(woken) != 2 || woken[0] != "a" || woken[1] != "b" {
		t.Errorf("woken are %v", woken)
	}

	w := newScope(stored(t, r, objects[0].(*v1beta2.Manifest)), testTime)
	r.noteReferences(w)
	if got := w.manifest.Status.Resolved[0]; got.Moved != "sha256:new" || got.Digest != "sha256:old" {
		t.Errorf("resolved is %+v: the new content is told and not followed", got)
	}
	r.moved.replace(map[string]string{"image:latest": "sha256:old"})
	r.noteReferences(w)
	if got := w.manifest.Status.Resolved[0].Moved; got != "" {
		t.Errorf("a tag that moved back still counts as moved to %s", got)
	}
}

// The digest of what the spec requests now must not be reported as the one of a reference that it named before.
func TestAuditReferences_SkipsManifestsWhoseSpecChanged(t *testing.T) {
	m := newManifest(func(m *v1beta2.Manifest) {
		m.Status.Resolved = []v1beta2.ResolvedSource{{Name: "raw-manifest", Reference: "image:v1", Digest: "sha256:old"}}
	})
	r := newReconciler(t, m)
	r.Content = &contents{
		current: map[string]string{"sample/raw-manifest": "sha256:v2"}, references: map[string]string{"sample": "image:v2"},
	}
	r.audited = make(chan event.GenericEvent, 1)
	r.auditReferences(context.Background())
	if now := r.moved.of("image:v1"); now != "" || len(r.audited) > 0 {
		t.Errorf("image:v1 is said to name %s", now)
	}
}

func TestNoteReferences_KeepsMovedAcrossRestarts(t *testing.T) {
	source := v1beta2.ResolvedSource{Name: "raw-manifest", Reference: "image:v1", Digest: "sha256:old"}
	for name, test := range map[string]struct{ now, want string }{
		"the same content is installed again": {"sha256:old", "sha256:new"},
		"other content is":                    {"sha256:other", ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := newManifest(func(m *v1beta2.Manifest) {
				known := source
				known.Moved = "sha256:new"
				m.Status.Resolved = []v1beta2.ResolvedSource{known}
			})
			r, w := newReconciler(t, m), newScope(m, testTime)
			resolved := source
			resolved.Digest = test.now
			w.resolved = []v1beta2.ResolvedSource{resolved}
			r.recordResolved(w)
			if got := w.manifest.Status.Resolved[0].Moved; got != test.want {
				t.Errorf("moved to %q, want %q", got, test.want)
			}
		})
	}
}

func TestAuditReferences_TriesAnotherManifestOnBrokenCredentials(t *testing.T) {
	a, b := newManifest(func(m *v1beta2.Manifest) { m.Name = "a" }), newManifest(func(m *v1beta2.Manifest) { m.Name = "b" })
	r := newReconciler(t)
	r.Content = &contents{broken: "a", current: map[string]string{"b/raw-manifest": "sha256:new"}}
	asked := map[string][]auditCandidate{"image:latest": {{a, "raw-manifest"}, {b, "raw-manifest"}}, "image:other": {{a, "raw-manifest"}}}
	if got := r.resolveReferences(t.Context(), asked); len(got) != 1 || got["image:latest"] != "sha256:new" {
		t.Errorf("answers are %v", got)
	}
}
