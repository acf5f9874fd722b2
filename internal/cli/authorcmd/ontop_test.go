package authorcmd

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

func TestOnTop_ABaseGivesWhatAVersionDoesNotSayItself(t *testing.T) {
	base := component.Version{
		Name: "x.io/base", Version: "1.0.0", Provider: "x.io",
		MoreLabels: []descriptor.Label{{Name: "kept", Value: []byte(`"a"`)}, {Name: "own", Value: []byte(`"b"`)}},
		Resources:  []component.Resource{{Name: "docs"}, {Name: "raw-manifest", Data: []byte("old")}},
	}
	got := onTop(component.Version{
		Version: "2.0.0", Labels: map[string]string{"own": "c"}, Resources: []component.Resource{{Name: "raw-manifest", Data: []byte("new")}},
	}, base)
	want := component.Version{
		Name: "x.io/base", Version: "2.0.0", Provider: "x.io", Labels: map[string]string{"own": "c"},
		MoreLabels: []descriptor.Label{{Name: "kept", Value: []byte(`"a"`)}},
		Resources:  []component.Resource{{Name: "docs"}, {Name: "raw-manifest", Data: []byte("new")}},
	}
	if diff := cmp.Diff(want.MoreLabels, got.MoreLabels); diff != "" {
		t.Errorf("labels: %s", diff)
	}
	if diff := cmp.Diff(want.Labels, got.Labels); diff != "" {
		t.Errorf("own labels: %s", diff)
	}
	if diff := cmp.Diff(want.Resources, got.Resources); diff != "" {
		t.Errorf("resources: %s", diff)
	}
	if got.Name != want.Name || got.Version != want.Version || got.Provider != want.Provider {
		t.Errorf("identity: %s:%s by %s", got.Name, got.Version, got.Provider)
	}
}
