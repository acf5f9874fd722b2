package modulestatus

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// TestStatusFlow covers the third flowchart of the seed: what is the state of a module? docs/module-flows.md names the case of each arrow.
func TestStatusFlow(t *testing.T) {
	resource := func(state string, change ...func(*unstructured.Unstructured)) *unstructured.Unstructured {
		made := custom("Beacon", "default", state)
		for _, f := range change {
			f(made)
		}
		return made
	}
	goes := func(o *unstructured.Unstructured) {
		_ = unstructured.SetNestedField(o.Object, "2026-01-01T00:00:00Z", "metadata", "deletionTimestamp")
	}
	held := func(o *unstructured.Unstructured) { o.SetFinalizers([]string{"example.com/cleanup"}) }
	inKyma := []v1beta2.Kyma{remoteKyma(local)}
	ready, old := deployment("x:1.0.0"), deployment("x:0.9.0")
	var none []v1beta2.Kyma
	for name, c := range map[string]struct {
		kymas   []v1beta2.Kyma
		objects []*unstructured.Unstructured
		change  func(*Inputs)
		want    want
	}{
		"a module in a Kyma is managed": {inKyma, []*unstructured.Unstructured{ready, resource("Ready")}, nil, want{typ: Managed, phase: Installed}},
		"a managed module is ready when its resource is and its operator has the version": {
			inKyma, []*unstructured.Unstructured{ready, resource("Ready")}, nil, want{state: Ready, version: "1.0.0/1.0.0/1.0.0"},
		},
		"a managed module is not ready while its resource is not": {
			inKyma, []*unstructured.Unstructured{ready, resource("Processing")}, nil, want{state: Processing, module: Processing},
		},
		"a managed module is not ready in another version": {
			inKyma, []*unstructured.Unstructured{old, resource("Ready")}, func(in *Inputs) { in.Kymas[0].Status.Modules[0].Version = "0.9.0" },
			want{state: Processing, phase: Upgrading, version: "0.9.0/1.0.0/1.0.0"},
		},
		"a module that is in no Kyma, with its resource and its operator, is enabled": {
			none, []*unstructured.Unstructured{ready, resource("Ready")}, nil, want{phase: LetGo, module: Ready, typ: Manageable},
		},
		"a direct one is ready when its resource is and its operator has the version": {
			none, []*unstructured.Unstructured{ready, resource("Ready")}, directly, want{state: Ready, phase: Installed, version: "1.0.0/1.0.0/1.1.0"},
		},
		"a resource that is being deleted makes the module deleting": {
			none, []*unstructured.Unstructured{ready, resource("", goes)}, directly, want{state: Deleting, module: Deleting},
		},
		"a resource that is being deleted although it says Ready is not ready": {
			none, []*unstructured.Unstructured{ready, resource("Ready", goes)}, directly, want{module: Deleting},
		},
		"a resource that no one cleans up after is named": {
			none, []*unstructured.Unstructured{resource("", goes, held)}, nil,
			want{state: Warning, phase: Removing, reason: WhyManagerMissing, message: "example.com/cleanup"},
		},
		"a resource that goes by itself is only deleting": {
			none, []*unstructured.Unstructured{resource("", goes)}, nil, want{state: Deleting, phase: Removing},
		},
		"a resource without an operator is an error": {
			none, []*unstructured.Unstructured{resource("Ready")}, nil,
			want{state: Error, phase: Failed, reason: WhyManagerMissing, message: "beacon-manager does not exist"},
		},
		"a resource whose operator no one may see is enabled": {
			none, []*unstructured.Unstructured{resource("Ready")}, func(in *Inputs) { in.Looked = in.Looked[:1] }, want{phase: LetGo, module: Ready},
		},
	} {
		t.Run(name, func(t *testing.T) {
			kymas := append([]v1beta2.Kyma{}, c.kymas...)
			for i := range kymas {
				kymas[i] = *kymas[i].DeepCopy()
			}
			in := seen(kymas, c.objects...)
			if c.change != nil {
				c.change(&in)
			}
			check(t, in, c.want)
		})
	}
}

// directly adds the record of a direct installation.
func directly(in *Inputs) { in.Direct = []Direct{direct()} }

func TestStatusflow_WithoutAnythingAModuleIsRemoved(t *testing.T) {
	for name, objects := range map[string][]*unstructured.Unstructured{
		"neither resource nor operator":       nil,
		"another resource of the same kind":   {custom("Beacon", "mine", "Ready")},
		"a resource of the same name, not it": {deployment("x:1", func(o map[string]any) { o["metadata"].(map[string]any)["name"] = "default" })},
	} {
		if modules := Modules(seen(nil, objects...)); len(modules) != 0 {
			t.Errorf("%s: there is %+v", name, modules)
		}
	}
}

func TestStatusflow_AResourceOfAnotherModuleIsNotLeftBehind(t *testing.T) {
	in := seen([]v1beta2.Kyma{remoteKyma(local)}, deployment("x:1.0.0"), custom("Beacon", "default", "Ready"))
	in.Templates = append(in.Templates, template("lighthouse", "1.0.0", func(t *v1beta2.ModuleTemplate) { t.Spec.Manager.Name = "other" }))
	check(t, in, want{state: Ready, typ: Managed})
}
