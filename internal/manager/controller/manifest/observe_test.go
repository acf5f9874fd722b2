package manifest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

func TestTargetOf(t *testing.T) {
	no := false
	kyma := func(name string, remote *bool) *v1beta2.Kyma {
		k := &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: name, UID: "uid-" + "kyma"}}
		k.Spec.Remote = remote
		return k
	}
	objects := []client.Object{kyma("remote", nil), kyma("local", &no)}
	standAlone := func(remote bool, label string) func(*v1beta2.Manifest) {
		return func(m *v1beta2.Manifest) {
			m.Spec.Remote = remote
			if label != "" {
				m.Labels = map[string]string{v1beta2.LabelKymaName: label}
			}
		}
	}
	foreign := func(m *v1beta2.Manifest) {
		ofKyma("local", "uid-kyma")(m)
		m.OwnerReferences[0].APIVersion = "example.com/v1"
	}
	for name, test := range map[string]struct {
		change func(*v1beta2.Manifest)
		want   Target
	}{
		"of a remote Kyma, whatever its own spec.remote says": {ofKyma("remote", "uid-kyma"), Target{Namespace: "kcp-system", Name: "remote"}},
		"of a local Kyma":                                   {ofKyma("local", "uid-kyma"), Target{Namespace: "kcp-system", Name: "local", Local: true}},
		"of a Kyma that is gone: never the hub":             {ofKyma("gone", "uid-kyma"), Target{Namespace: "kcp-system", Name: "gone"}},
		"of a Kyma that was made anew as a local one":       {ofKyma("local", "uid-before"), Target{Namespace: "kcp-system", Name: "local"}},
		"alone and remote: the runtime that its label says": {standAlone(true, "my-cluster"), Target{Namespace: "kcp-system", Name: "my-cluster"}},
		"alone and remote without label: its own name":      {standAlone(true, ""), Target{Namespace: "kcp-system", Name: "sample"}},
		"alone and local":                                   {standAlone(false, ""), Target{Namespace: "kcp-system", Name: "sample", Local: true}},
		"of a Kyma of another user's API: alone":            {foreign, Target{Namespace: "kcp-system", Name: "local", Local: true}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := newReconciler(t, objects...).targetOf(t.Context(), newManifest(test.change))
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
				t.Errorf("error %v, differs (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestInterests(t *testing.T) {
	w, _ := settledWork(withResource(v1beta2.CustomResourcePolicyIgnore))
	w.recorded = append(w.recorded, inventory.Entry{ID: inventory.ID{Group: "policy", Kind: "PodDisruptionBudget", Name: "a"}, Version: "v1beta1"})
	w.recorded = append(w.recorded, inventory.Entry{ID: inventory.ID{Group: "apps", Kind: "Deployment", Name: "another"}, Version: "v1"})
	w.desired = append(w.desired, object("policy/v1", "PodDisruptionBudget", "a"), object("batch/v1", "Job", "a"), object("example.com/v1", "Sample", "b"))
	want := []runtimes.Interest{
		{GroupVersionKind: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Sample"}, Mode: runtimes.ModuleCR}, // also with policy Ignore: they block a deletion
		{GroupVersionKind: schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, Mode: runtimes.Workload},
		{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "ServiceAccount"}, Mode: runtimes.Metadata},
		{GroupVersionKind: schema.GroupVersionKind{Group: "policy", Version: "v1beta1", Kind: "PodDisruptionBudget"}, Mode: runtimes.Metadata},
		{GroupVersionKind: schema.GroupVersionKind{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"}, Mode: runtimes.Metadata}, // the one that is still served counts
		{GroupVersionKind: schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"}, Mode: runtimes.Workload},
		{GroupVersionKind: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Sample"}, Mode: runtimes.Workload}, // as content it has a health
	}
	if diff := cmp.Diff(want, w.interests(w.desired)); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
}

func TestInterests_KeepWholeObjectsWhereRequested(t *testing.T) {
	w, _ := settledWork(withResource(""), func(m *v1beta2.Manifest) {
		m.Spec.Probes = []v1beta2.Probe{{Name: "up", Group: "apps", Kind: "Deployment", Expression: "true"}}
		m.Spec.CustomStateCheck = []v1beta2.CustomStateCheck{{JSONPath: "status.phase", Value: "Up", MappedState: v1beta2.StateReady}}
	})
	kept := map[string]bool{}
	for _, interest := range w.interests(w.desired) {
		kept[interest.GroupVersionKind.Kind] = interest.Keep
	}
	if diff := cmp.Diff(map[string]bool{"Sample": true, "Deployment": true, "ServiceAccount": false}, kept); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
}

func TestSettled(t *testing.T) {
	created := func(w *scope) {
		w.setCondition(v1beta2.ConditionModuleCR, metav1.ConditionTrue, v1beta2.ReasonCreated, v1beta2.MessageModuleCRCreated)
	}
	for name, test := range map[string]struct {
		change func(*scope, *cluster)
		want   bool
	}{
		"everything as it was left":      {func(*scope, *cluster) {}, true},
		"kinds that were not listed yet": {func(_ *scope, c *cluster) { c.live = nil }, true},
		"the spec moved on":              {func(w *scope, _ *cluster) { w.generation++ }, false},
		"another digest is asked for":    {func(w *scope, _ *cluster) { w.sources[0].Reference = "sha256:" + strings.Repeat("f", 64) }, false},
		"one more installation is asked for": {func(w *scope, _ *cluster) {
			w.sources = append(w.sources, v1beta2.ResolvedSource{Name: "more", Reference: "b"})
		}, false},
		"a tag was not resolved yet":            {func(w *scope, _ *cluster) { w.manifest.Status.Resolved[0].Digest = "" }, false},
		"nothing was recorded":                  {func(w *scope, _ *cluster) { w.recorded = nil }, false},
		"an object was planned and not applied": {func(w *scope, _ *cluster) { w.recorded[0].Hash = "" }, false},
		"an object is gone":                     {func(_ *scope, c *cluster) { c.live[accountID] = inventory.Live{Presence: inventory.Absent} }, false},
		"a field of ours was changed": {func(_ *scope, c *cluster) {
			c.live[accountID] = inventory.Live{Presence: inventory.Present, UID: "uid-operator"}
		}, false},
		"upstream installed it": {func(w *scope, _ *cluster) { w.manifest.Status.Resolved = nil }, false},
		"the status speaks of this spec only to say that the runtime did not answer": {func(w *scope, _ *cluster) {
			for i := range w.manifest.Status.Conditions {
				w.manifest.Status.Conditions[i].ObservedGeneration--
			}
		}, false},
		"the content could not be read": {func(w *scope, _ *cluster) {
			w.setCondition(v1beta2.ConditionResources, metav1.ConditionFalse, v1beta2.ReasonRegistryUnreachable, v1beta2.MessageResourcesNotParsed)
		}, false},
		"the default CR is still missing": {func(w *scope, _ *cluster) { withResource("")(w.manifest) }, false},
		"the default CR was created":      {func(w *scope, _ *cluster) { withResource("")(w.manifest); created(w) }, true},
		"custom resources are the user's": {func(w *scope, _ *cluster) { withResource(v1beta2.CustomResourcePolicyIgnore)(w.manifest) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			w, c := settledWork()
			test.change(w, c)
			if got := w.settled(); got != test.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestRelation(t *testing.T) {
	sibling := newManifest(ofKyma("kyma", "uid-kyma"))
	sibling.Name, sibling.UID = "sibling", "uid-2"
	other := newManifest(ofKyma("other", "uid-other"))
	other.Name, other.UID = "other", "uid-3"
	alone := newManifest()
	alone.Name, alone.UID = "alone", "uid-4"
	r := newReconciler(t, sibling, other, alone)
	mine := newScope(newManifest(ofKyma("kyma", "uid-kyma")), testTime)
	for owner, want := range map[string]apply.Relation{
		"kcp-system/sample":  apply.OwnerSelf,
		"kcp-system/sibling": apply.OwnerSibling,
		"kcp-system/other":   apply.OwnerForeign,
		"kcp-system/alone":   apply.OwnerForeign,
		"kcp-system/gone":    apply.OwnerGone,
		"somebody":           apply.OwnerForeign,
		"a/b/c":              apply.OwnerForeign,
	} {
		if got := r.relation(t.Context(), mine)(owner); got != want {
			t.Errorf("%s: got %d, want %d", owner, got, want)
		}
	}
	lonely := newScope(alone, testTime)
	if got := r.relation(t.Context(), lonely)("kcp-system/sample-2"); got != apply.OwnerGone {
		t.Errorf("a stand-alone Manifest: got %d", got)
	}
}

func TestParseOwner(t *testing.T) {
	for owner, want := range map[string]bool{
		"kcp-system/sample": true, "": false, "sample": false, "/sample": false, "kcp-system/": false, "a/b/c": false, "/": false,
	} {
		key, ok := parseOwner(owner)
		if ok != want || (ok && key.String() != owner) {
			t.Errorf("%q: got %s, %v", owner, key, ok)
		}
	}
}
