package playground

import (
	"bytes"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
	"github.com/kyma-project/lifecycle-manager/samples"
)

func TestModules_EverySampleIsPublished(t *testing.T) {
	entries, err := fs.ReadDir(samples.Modules, "modules")
	if err != nil {
		t.Fatal(err)
	}
	var found, known []string
	for _, entry := range entries {
		found = append(found, entry.Name())
	}
	for i := range modules {
		known = append(known, modules[i].name)
	}
	if diff := cmp.Diff(found, known); diff != "" {
		t.Errorf("folders in samples/modules and modules of the playground differ (-folders +modules):\n%s", diff)
	}
	if got := moduleNames(); got != "beacon, charted, courier, greeter, istio, ledger, notes, serverless and warden" {
		t.Errorf("moduleNames() = %q", got)
	}
}

func TestSamplesAreWellFormed(t *testing.T) {
	name := regexp.MustCompile(`^([a-z]{3,}(-[a-z]{3,})*)?$`)
	for i := range modules {
		m := &modules[i]
		if !name.MatchString(m.name) {
			t.Errorf("the API server refuses %q as the name of a module", m.name)
		}
		for _, offer := range channels {
			publication, err := m.publication(offer.Version)
			if err != nil {
				t.Fatal(err)
			}
			if publication.Name != "kyma-project.io/module/"+m.name || len(publication.Resources) == 0 {
				t.Errorf("%s %s is published as %s with %d resources", m.name, offer.Version, publication.Name, len(publication.Resources))
			}
			template, err := m.template(offer.Version)
			if err != nil {
				t.Fatal(err)
			}
			if got := template.Spec.Data != nil; got != m.operator {
				t.Errorf("%s %s: has a default custom resource: %t", m.name, offer.Version, got)
			}
		}
	}
	for i := range modules {
		if _, err := modules[i].publication("9.9.9"); err == nil {
			t.Errorf("a version of %s that does not exist is published", modules[i].name)
		}
	}
}

func TestNotesShowsPruning(t *testing.T) {
	before, after := ids(objectsOf(t, moduleNotes, older)), ids(objectsOf(t, moduleNotes, newer))
	gone, added := without(before, after), without(after, before)
	if diff := cmp.Diff([]string{"ConfigMap default/notes-draft"}, gone); diff != "" {
		t.Errorf("what 1.1.0 drops differs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"ConfigMap default/notes-archive"}, added); diff != "" {
		t.Errorf("what 1.1.0 adds differs (-want +got):\n%s", diff)
	}
}

func TestLedgerChangesItsStoredVersion(t *testing.T) {
	for version, tc := range map[string]struct{ serves, stored string }{
		older: {"v1 served stored", "v1"},
		newer: {"v1 served; v2 served stored", "v2"},
	} {
		crd := find(t, objectsOf(t, moduleLedger, version), "CustomResourceDefinition")
		versions, _, err := unstructured.NestedSlice(crd.Object, "spec", "versions")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, v := range versions {
			entry := v.(map[string]any)
			line := entry["name"].(string)
			if entry["served"] == true {
				line += " served"
			}
			if entry["storage"] == true {
				line += " stored"
			}
			got = append(got, line)
		}
		if strings.Join(got, "; ") != tc.serves {
			t.Errorf("%s serves %q, want %q", version, strings.Join(got, "; "), tc.serves)
		}
		account := find(t, objectsOf(t, moduleLedger, version), "Account")
		if !strings.HasSuffix(account.GetAPIVersion(), "/"+tc.stored) {
			t.Errorf("%s: accounts are %s, want the stored version %s", version, account.GetAPIVersion(), tc.stored)
		}
	}
}

func TestOperatorsAreTaggedByTheirVersions(t *testing.T) {
	for _, module := range operatorPrograms() {
		for _, offer := range channels {
			isTagged(t, module, offer.Version)
		}
	}
}

func isTagged(t *testing.T, module, version string) {
	t.Helper()
	deployment := find(t, objectsOf(t, module, version), "Deployment")
	containers, _, err := unstructured.NestedSlice(deployment.Object, "spec", "template", "spec", "containers")
	if err != nil {
		t.Fatal(err)
	}
	if image := containers[0].(map[string]any)["image"]; image != "samples.kyma-project.io/"+module+":"+version {
		t.Errorf("%s %s runs %s", module, version, image)
	}
	template, err := known(module).template(version)
	if err != nil {
		t.Fatal(err)
	}
	manager := template.Spec.Manager
	if deployment.GetName() != manager.Name || deployment.GetNamespace() != manager.Namespace {
		t.Errorf("the template names manager %s/%s, the Deployment is %s/%s",
			manager.Namespace, manager.Name, deployment.GetNamespace(), deployment.GetName())
	}
}

func objectsOf(t *testing.T, name, version string) []*unstructured.Unstructured {
	t.Helper()
	data, err := known(name).read(version, "manifest.yaml")
	if err != nil {
		t.Fatal(err)
	}
	objects, err := render.Parse(bytes.NewReader(data), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

func known(name string) *module { return moduleOf(name) }

func find(t *testing.T, objects []*unstructured.Unstructured, kind string) *unstructured.Unstructured {
	t.Helper()
	for _, object := range objects {
		if object.GetKind() == kind {
			return object
		}
	}
	t.Fatalf("no %s among %v", kind, ids(objects))
	return nil
}

func ids(objects []*unstructured.Unstructured) []string {
	var found []string
	for _, object := range objects {
		found = append(found, inventory.IDOf(object).String())
	}
	return found
}

func without(all, others []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(id string) bool { return slices.Contains(others, id) })
}
