package bare

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

const uid = "9b6ab5a3-4068-4bd1-9f96-6e12dd951d2a"

var now = metav1.NewTime(time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC))

// moduleOf returns a module of ConfigMaps, and what a runtime makes of them.
func moduleOf(t *testing.T, name, version string, objects int) (*content, []*unstructured.Unstructured) {
	t.Helper()
	var yaml strings.Builder
	for i := range objects {
		fmt.Fprintf(&yaml, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s-%04d, namespace: default}\n", name, i)
	}
	m, err := newContent(Module{Name: name, Component: "kyma-project.io/module/" + name, Version: version, Content: []byte(yaml.String())})
	if err != nil {
		t.Fatal(err)
	}
	var applied []*unstructured.Unstructured
	for _, object := range m.objects {
		object = object.DeepCopy()
		object.SetUID(uid)
		applied = append(applied, object)
	}
	return m, applied
}

func newKyma(modules ...string) *v1beta2.Kyma {
	kyma := &v1beta2.Kyma{
		ObjectMeta: metav1.ObjectMeta{Namespace: v1beta2.DefaultNamespace, Name: "kyma-00003", UID: types.UID(uid), Generation: 1},
		Spec:       v1beta2.KymaSpec{Channel: v1beta2.DefaultChannel},
	}
	for _, name := range modules {
		kyma.Spec.Modules = append(kyma.Spec.Modules, v1beta2.Module{
			Name: name, CustomResourcePolicy: v1beta2.CustomResourcePolicyCreateAndDelete,
		})
	}
	return kyma
}

// installed returns a module of a Kyma that runs.
func installed(t *testing.T, kyma *v1beta2.Kyma, name string, objects int) part {
	t.Helper()
	m, applied := moduleOf(t, name, "1.0.0", objects)
	manifest := newManifest(kyma, m)
	manifest.Generation = 1
	manifest.Status = manifestStatus(manifest, m, applied, now)
	return part{module: m, manifest: manifest, state: v1beta2.StateReady}
}

// asLarge fails where an object has not the size of the manager's, within some per cent.
func asLarge(t *testing.T, what string, object any, want int) {
	t.Helper()
	data, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(data); got < want*97/100 || got > want*103/100 {
		t.Errorf("%s has %d bytes, the manager's has %d:\n%s", what, got, want, data)
	}
}

// The sizes are those that a manager left in B2 with m=3 and R=10, as JSON and without managed fields.
func TestObjects_AreAsLargeAsTheManagers(t *testing.T) {
	kyma := newKyma("module-aaa", "module-aab", "module-aac")
	var parts []part
	for _, m := range kyma.Spec.Modules {
		parts = append(parts, installed(t, kyma, m.Name, 10))
	}
	asLarge(t, "status of a Manifest", parts[0].manifest.Status, 3127)
	asLarge(t, "spec of a Manifest", parts[0].manifest.Spec, 306)
	asLarge(t, "status of a Kyma", kymaStatus(kyma, parts, v1beta2.StateReady, now), 3098)
}

func TestManifestStatus_NamesEveryObjectWithWhatItIsRecognisedBy(t *testing.T) {
	for _, test := range []struct{ objects, want int }{{0, 0}, {1, 1}, {20, 20}, {inventory.InlineLimit + 1, inventory.InlineLimit}} {
		synced := installed(t, newKyma("module-aaa"), "module-aaa", test.objects).manifest.Status.Synced
		if len(synced) != test.want {
			t.Errorf("%d entries of %d objects, want %d", len(synced), test.objects, test.want)
		}
		known := map[string]bool{}
		for _, resource := range synced {
			known[resource.Name] = true
			if resource.UID != uid || resource.Kind != "ConfigMap" || resource.Namespace != "default" || len(resource.Hash) != hashLength {
				t.Errorf("the entry %+v is not complete", resource)
			}
		}
		if len(known) != len(synced) {
			t.Errorf("%d names in %d entries", len(known), len(synced))
		}
	}
}

func TestBump_IsToldUntilItIsThere(t *testing.T) {
	kyma := newKyma("module-aaa", "module-aab")
	n := &newcomer{kyma: kyma, parts: []part{installed(t, kyma, "module-aaa", 2), installed(t, kyma, "module-aab", 2)}}
	newer, applied := moduleOf(t, "module-aab", "2.0.0", 2)
	parts, err := n.take([]*content{newer})
	if err != nil || len(parts) != 1 || parts[0] != &n.parts[1] {
		t.Fatalf("took %v (%v), want the second module", parts, err)
	}
	told := kymaStatus(kyma, n.parts, v1beta2.StateProcessing, now)
	first, second := told.Modules[0], told.Modules[1]
	if told.State != v1beta2.StateProcessing || told.ModulesReady != "1/2" || first.State != v1beta2.StateReady ||
		second.State != v1beta2.StateProcessing || second.Version != "2.0.0" || second.InstalledVersion != "1.0.0" {
		t.Errorf("the Kyma tells %+v", told)
	}
	p := parts[0]
	p.manifest.Status, p.state = manifestStatus(p.manifest, newer, applied, now), v1beta2.StateReady
	if revisions := p.manifest.Status.Revisions; len(revisions) != 2 || revisions[1].Number != 2 || revisions[1].Version != "2.0.0" {
		t.Errorf("the Manifest has the revisions %+v", revisions)
	}
	told = kymaStatus(kyma, n.parts, v1beta2.StateReady, now)
	if told.State != v1beta2.StateReady || told.ModulesReady != "2/2" || told.Modules[1].InstalledVersion != "" || told.Modules[1].Reason != "" {
		t.Errorf("the Kyma tells %+v", told)
	}
	if _, err := n.take([]*content{{Module: Module{Name: "another"}}}); err == nil {
		t.Error("a module that no Kyma has was taken")
	}
}
