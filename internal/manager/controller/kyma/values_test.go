package kyma

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// hubText are the values of objects by name.
type hubText map[string]string

func (h hubText) Text(_ context.Context, _ string, reference v1beta2.ValuesReference) (text []byte, problem string) {
	found, there := h[reference.Name+" "+reference.DataKey()]
	if !there {
		return nil, reference.Name + ": there is none"
	}
	return []byte(found), ""
}

func (hubText) Source(handler.EventHandler) source.Source { return nil }

// countedText counts how often values are read.
type countedText struct {
	hubText
	read *int
}

func (c countedText) Text(ctx context.Context, namespace string, reference v1beta2.ValuesReference) (text []byte, problem string) {
	*c.read++
	return c.hubText.Text(ctx, namespace, reference)
}

func TestReadValues_ReadsEachObjectOnce(t *testing.T) {
	world, read := module.Snapshot{Kyma: valued()}, 0
	for range 100 {
		world.Kyma.Spec.Modules = append(world.Kyma.Spec.Modules, valued().Spec.Modules...)
	}
	(&Reconciler{HubValues: countedText{hubText{"login values.yaml": "a: b"}, &read}}).readValues(t.Context(), &world)
	if read != 2 || len(world.Values) != 2 {
		t.Errorf("read %d times, %d values are known", read, len(world.Values))
	}
}

func valued() *v1beta2.Kyma {
	kyma := &v1beta2.Kyma{}
	kyma.Spec.Modules = []v1beta2.Module{
		{Name: "a", ValuesFrom: []v1beta2.ValuesReference{{Kind: v1beta2.ValuesSecret, Name: "login"}}},
		{Name: "b", ValuesFrom: []v1beta2.ValuesReference{{Kind: v1beta2.ValuesConfigMap, Name: "sizes", Key: "small"}}},
		{Name: "c"},
	}
	return kyma
}

func TestReadValues_PassesHashesOn(t *testing.T) {
	login := v1beta2.ValuesReference{Kind: v1beta2.ValuesSecret, Name: "login", Key: v1beta2.DefaultValuesKey}
	sizes := v1beta2.ValuesReference{Kind: v1beta2.ValuesConfigMap, Name: "sizes", Key: "small"}
	for name, test := range map[string]struct {
		hub  HubValues
		want map[v1beta2.ValuesReference]module.ReferredValues
	}{
		"what is there is a hash, what is not a problem": {hubText{"login values.yaml": "a: b"}, map[v1beta2.ValuesReference]module.ReferredValues{
			login: {Hash: module.HashValues([]byte("a: b"))}, sizes: {Problem: "sizes: there is none"},
		}},
		"a manager that reads none knows nothing": {},
	} {
		t.Run(name, func(t *testing.T) {
			world := module.Snapshot{Kyma: valued()}
			(&Reconciler{HubValues: test.hub}).readValues(t.Context(), &world)
			if diff := cmp.Diff(test.want, world.Values); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTakesValuesFrom(t *testing.T) {
	for name, test := range map[string]struct {
		kind v1beta2.ValuesKind
		name string
		want bool
	}{
		"an object that an entry names":    {v1beta2.ValuesSecret, "login", true},
		"another kind of the same name":    {v1beta2.ValuesConfigMap, "login", false},
		"an object that no entry names":    {v1beta2.ValuesSecret, "sizes", false},
		"an object that another one names": {v1beta2.ValuesConfigMap, "sizes", true},
	} {
		if got := takesValuesFrom(valued(), test.kind, test.name); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if names := valuesNames(valued()); !slices.Equal(names, []string{"login", "sizes"}) {
		t.Errorf("indexed by %v", names)
	}
}
