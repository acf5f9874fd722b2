package clustercache

import (
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

func TestServedKind_OfADefinitionIsThatOfAllDefinitions(t *testing.T) {
	key := definitionKind("widgets.example.com")
	if key == inventory.CRDKind || servedKind(key) != inventory.CRDKind {
		t.Errorf("key %s, kind %s", key, servedKind(key))
	}
	if kind := (schema.GroupKind{Group: "apps", Kind: "Deployment"}); servedKind(kind) != kind {
		t.Errorf("%s became %s", kind, servedKind(kind))
	}
}

func TestRequire_ADefinitionIsSeenWhenAnotherProgramMakesIt(t *testing.T) {
	cfg := realCluster(t)
	b, foreign := newBench(t, nil), stranger(t, cfg)
	heard := hear(t, b.Clusters, Requirements)
	r := b.mustGet(t, b.remote(t, "requires", cfg))
	kyma := types.NamespacedName{Namespace: hubNamespace, Name: "requires"}
	owner := Requirements.Owner(kyma)
	gvk := schema.GroupVersionKind{Group: "required.example.com", Version: "v1", Kind: "Widget"}
	crd := definitionOf(gvk, types.NamespacedName{})
	crd.SetLabels(nil)
	crd.SetAnnotations(nil)
	name := crd.GetName()
	wantHeard := func(why string) {
		t.Helper()
		eventually(t, why, func() bool { return slices.Contains(heard(), kyma) })
	}
	if got := r.Definition(name); got.Known {
		t.Errorf("known before it was looked at: %+v", got)
	}
	r.Require(owner, []string{name, "others.required.example.com"}, false)
	wantHeard("it was looked at")
	if got := r.Definition(name); !got.Known || got.Present {
		t.Errorf("looked at, and absent: %+v", got)
	}
	before := len(b.calls.all())
	r.Require(owner, []string{name, "others.required.example.com"}, false)
	b.wantQuiet(t, "Manifests have nothing to do with it")
	if made := b.calls.all()[before:]; slices.ContainsFunc(made, func(call string) bool { return !strings.HasPrefix(call, "WATCH") }) {
		t.Errorf("calls while it waits: %q", made)
	}
	define(t, foreign, crd)
	eventually(t, "it is established", func() bool { return cmp.Equal(r.Definition(name).Served, []string{"v1"}) })
	wantHeard("it is established")
	if got := r.Definition("others.required.example.com"); !got.Known || got.Present {
		t.Errorf("the other one: %+v", got)
	}
	crds := foreign.Resource(schema.GroupVersionResource{
		Group: inventory.CRDKind.Group, Version: "v1", Resource: "customresourcedefinitions",
	})
	if err := crds.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is gone", func() bool { return !r.Definition(name).Present })
	wantHeard("it is gone")
	r.Untrack(owner)
	if got := r.Definition(name); got.Known {
		t.Errorf("known though it is not tracked: %+v", got)
	}
}

func TestRequire_AnotherVersionOfKubernetesIsReported(t *testing.T) {
	var upgraded atomic.Bool
	s := newStub(t)
	s.on("GET /version", func(w http.ResponseWriter, req *http.Request) {
		version := `{"gitVersion":"v1.30.4-gke.1"}`
		if upgraded.Load() {
			version = `{"gitVersion":"v1.31.0-gke.7"}`
		}
		jsonAnswer(version)(w, req)
	})
	b := newBench(t, nil)
	heard := hear(t, b.Clusters, Requirements)
	r := b.mustGet(t, b.remote(t, "version", s.config()))
	if got := r.KubeVersion(); got != "v1.30.4-gke.1" {
		t.Fatalf("version %q at the first contact", got)
	}
	kyma := types.NamespacedName{Namespace: hubNamespace, Name: "version"}
	asked := func() int { return b.calls.count("GET /version") }
	before := asked()
	r.checkVersion()
	r.Require(Requirements.Owner(kyma), nil, false)
	r.checkVersion()
	if asked() != before {
		t.Error("the version is asked for that no owner waits for")
	}
	r.Require(Requirements.Owner(kyma), nil, true)
	heard()
	upgraded.Store(true)
	r.checkVersion() // as at the end of a stream
	eventually(t, "the new version", func() bool { return r.KubeVersion() == "v1.31.0-gke.7" })
	eventually(t, "its owner hears of it", func() bool { return slices.Contains(heard(), kyma) })
	r.Untrack(Requirements.Owner(kyma))
	before = asked()
	r.checkVersion()
	if asked() != before {
		t.Error("the version is asked for after the owner is gone")
	}
}
