package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/pkg/render/internal/rendertest"
)

func TestScopesLearnsFromDefinitions(t *testing.T) {
	objects := parse(t, strings.Join([]string{
		rendertest.Definition("a.io", "Inside", "Namespaced"), rendertest.Definition("a.io", "Outside", "Cluster"), rendertest.Definition("a.io", "Odd", "Galaxy"),
		rendertest.Definition("a.io", "", "Cluster"), rendertest.Config("x"),
	}, "---\n"))
	want := Learned{{Group: "a.io", Kind: "Inside"}: true, {Group: "a.io", Kind: "Outside"}: false}
	if diff := cmp.Diff(want, Scopes(objects)); diff != "" {
		t.Errorf("scopes (-want +got):\n%s", diff)
	}
}

func TestFirstKnownTakesTheFirstAnswer(t *testing.T) {
	learned := Learned{{Group: "a.io", Kind: "Inside"}: true, {Group: "", Kind: "Namespace"}: true}
	scope := FirstKnown(BuiltinScope, learned.Scope)
	for kind, want := range map[schema.GroupVersionKind][2]bool{
		{Group: "a.io", Version: "v1", Kind: "Inside"}: {true, true},
		{Version: "v1", Kind: "Namespace"}:             {false, true},
		{Group: "b.io", Version: "v1", Kind: "Inside"}: {false, false},
	} {
		namespaced, known := scope(kind)
		if got := [2]bool{namespaced, known}; got != want {
			t.Errorf("%s: namespaced, known = %v, want %v", kind, got, want)
		}
	}
}
