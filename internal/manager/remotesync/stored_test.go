package remotesync

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// old returns a definition in which v1beta1 is served and stored.
func old(t *testing.T, wanted DesiredObject, stored bool) *unstructured.Unstructured {
	t.Helper()
	versions, _, _ := unstructured.NestedSlice(wanted.Object.Object, "spec", "versions")
	before := map[string]any{
		"name": "v1beta1", "served": true, "storage": stored,
		"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
	}
	after := runtime.DeepCopyJSON(versions[0].(map[string]any))
	after["storage"] = !stored
	definition := wanted.Object.DeepCopy()
	if err := unstructured.SetNestedSlice(definition.Object, []any{before, after}, "spec", "versions"); err != nil {
		t.Fatal(err)
	}
	return definition
}

// fill makes objects of a definition that are stored in v1beta1.
func fill(t *testing.T, c *cluster, n int) {
	t.Helper()
	at := c.admin.Resource(schema.GroupVersionResource{Group: "operator.kyma-project.io", Version: "v1beta1", Resource: "moduletemplates"})
	for i := range n {
		object := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "operator.kyma-project.io/v1beta1", "kind": "ModuleTemplate",
			"spec": map[string]any{"channel": "regular", "descriptor": map[string]any{"a": "b"}},
		}}
		object.SetName(fmt.Sprintf("stored-%d", i))
		until(t, "the old version is served", func() error {
			_, err := at.Namespace("default").Create(t.Context(), object, metav1.CreateOptions{})
			return err
		})
	}
}

func until(t *testing.T, what string, do func() error) {
	t.Helper()
	var err error
	for range 800 {
		if err = do(); err == nil {
			return
		}
		<-time.After(25 * time.Millisecond)
	}
	t.Fatalf("%s: %v", what, err)
}

func TestMigrateStorage_KeepsObjectsOfARemovedVersion(t *testing.T) {
	for _, test := range []struct {
		name     string
		switched bool // upstream has made the new version the stored one already
	}{
		{"the old version is the one that is stored", false},
		{"the new version is stored by now, and old objects are as they were", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := connect(t)
			wanted := RuntimeCRDs()[1]
			c.delete(wanted)
			at := c.at("CustomResourceDefinition", "")
			if _, err := at.Create(t.Context(), old(t, wanted, true), metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			fill(t, c, 7)
			if test.switched {
				switchStorage(t, c, wanted)
			}
			m := &Syncer{}
			until(t, "the definition is brought in line", func() error {
				outcome, err := m.Ensure(t.Context(), c, []DesiredObject{wanted})
				if err != nil {
					t.Fatal(err)
				}
				if !outcome.Synced() {
					return outcome.Pending
				}
				return nil
			})
			live := c.get(wanted)
			versions, _ := versionsOf(live)
			stored, _, _ := unstructured.NestedStringSlice(live.Object, "status", "storedVersions")
			if !slices.Equal(versions, []string{"v1beta2"}) || !slices.Equal(stored, versions) {
				t.Errorf("versions are %v, stored versions %v", versions, stored)
			}
			expectStored(t, c, 7)
			if cost := c.costs(func() { ensure(t, m, c, wanted) }); cost != "1 get customresourcedefinitions.apiextensions.k8s.io" && cost != "" {
				t.Errorf("called %q afterwards", cost)
			}
			c.delete(wanted)
		})
	}
}

func switchStorage(t *testing.T, c *cluster, wanted DesiredObject) {
	t.Helper()
	at := c.at("CustomResourceDefinition", "")
	until(t, "the other version is stored", func() error {
		live := c.get(wanted)
		live.Object["spec"] = old(t, wanted, false).Object["spec"]
		_, err := at.Update(t.Context(), live, metav1.UpdateOptions{})
		return err
	})
	// The API server learns of it by its own watch. A probe object shows that.
	probe := c.at(kind, "default")
	until(t, "the new version is stored", func() error {
		object := template(t, "probe").Object.DeepCopy()
		object.SetNamespace("default")
		if _, err := probe.Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
			return err
		}
		defer func() { _ = probe.Delete(t.Context(), "probe", metav1.DeleteOptions{}) }()
		stored, _, _ := unstructured.NestedStringSlice(c.get(wanted).Object, "status", "storedVersions")
		if !slices.Contains(stored, "v1beta2") {
			return fmt.Errorf("stored versions are %v", stored)
		}
		return nil
	})
}

// expectStored reads all objects once nothing of the old version is there any more, and changes one.
func expectStored(t *testing.T, c *cluster, n int) {
	t.Helper()
	at := c.at(kind, "default")
	// An API server that cannot read what is stored does not answer.
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
	defer cancel()
	until(t, "everything can be read", func() error {
		list, err := at.List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		if len(list.Items) != n {
			return fmt.Errorf("%d objects are left of %d", len(list.Items), n)
		}
		for i := range list.Items {
			if channel, _, _ := unstructured.NestedString(list.Items[i].Object, "spec", "channel"); channel != "regular" {
				return fmt.Errorf("%s lost its spec: %v", list.Items[i].GetName(), list.Items[i].Object["spec"])
			}
		}
		_, err = at.Patch(t.Context(), "stored-0", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
		return err
	})
}

func TestRuntimeCRDs_HaveOneVersionAndNoConversion(t *testing.T) {
	copies := RuntimeCRDs()
	if len(copies) != 3 {
		t.Fatalf("%d definitions", len(copies))
	}
	for _, one := range copies {
		versions, storage := versionsOf(one.Object)
		strategy, _, _ := unstructured.NestedString(one.Object.Object, "spec", "conversion", "strategy")
		if !slices.Equal(versions, []string{"v1beta2"}) || storage != "v1beta2" || strategy != "None" || one.Manager != "lifecycle-manager" {
			t.Errorf("%s: versions %v, stored %q, conversion %q, manager %q", one.Object.GetName(), versions, storage, strategy, one.Manager)
		}
	}
}
