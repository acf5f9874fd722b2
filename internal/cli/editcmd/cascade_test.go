package editcmd

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// definition is a kind that only discovery finds, like those of modules.
const definition = `
metadata: {name: papers.notes.example.com}
spec:
  group: notes.example.com
  scope: Namespaced
  names: {kind: Paper, plural: papers}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`

// papers creates the kind of module notes, and objects of it with these names.
func (b *bench) papers(names ...string) {
	b.Helper()
	made := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal([]byte(definition), made); err != nil {
		b.Fatal(err)
	}
	if _, err := envtest.InstallCRDs(b.config, envtest.CRDInstallOptions{MaxTime: time.Minute, CRDs: []*apiextensionsv1.CustomResourceDefinition{made}}); err != nil {
		b.Fatal(err)
	}
	for _, name := range names {
		b.create(b.paper(name))
	}
}

func (b *bench) paper(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "notes.example.com/v1", "kind": "Paper", "metadata": map[string]any{"name": name, "namespace": b.namespace},
	}}
}

// held sets a finalizer on a paper, which an operator removes once the paper is being deleted.
func (b *bench) held(name string) {
	b.Helper()
	set := func(finalizers string) error {
		return b.Patch(context.WithoutCancel(b.Context()), b.paper(name), client.RawPatch("application/merge-patch+json",
			[]byte(`{"metadata":{"finalizers":[`+finalizers+`]}}`)))
	}
	if err := set(`"notes.example.com/operator"`); err != nil {
		b.Fatal(err)
	}
	list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "notes.example.com/v1", "kind": "PaperList"}}
	ctx, cancel := context.WithCancel(b.Context())
	watcher, err := b.Watch(ctx, list, client.InNamespace(b.namespace))
	if err != nil {
		b.Fatal(err)
	}
	var operator sync.WaitGroup
	b.Cleanup(func() { cancel(); watcher.Stop(); operator.Wait() })
	operator.Go(func() {
		for event := range watcher.ResultChan() {
			if paper, ok := event.Object.(client.Object); ok && paper.GetName() == name && paper.GetDeletionTimestamp() != nil {
				if err := set(""); client.IgnoreNotFound(err) != nil {
					b.Error(err)
				}
				return
			}
		}
	})
}

// TestEditsOnAHub edits the Kyma of a runtime whose user requests notes, which the Kyma itself does not have.
func TestEditsOnAHub(t *testing.T) {
	for name, c := range map[string]struct {
		args string
		code int
		want string
		said string
	}{
		"a module that the runtime requests is there": {"add notes", 0, "", ""},
		"it is changed here":                          {"add notes:fast", 0, "notes:fast", ""},
		"it is upgraded from here":                    {"upgrade notes --to 1.1.0", 0, "notes@1.1.0", ""},
		"it is released from here":                    {"unmanage notes --yes", 0, "notes", ""},
		"it cannot be removed here":                   {"delete notes --yes", 1, "", "call kyma delete notes in the runtime"},
		"objects in another cluster are not listed":   {"delete notes --cascade=preview", 1, "", "the user of its runtime does"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			kyma := &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "far"}, Spec: v1beta2.KymaSpec{Channel: "regular"}}
			b.create(kyma)
			patch := `{"status":{"lastOperation":{"operation":"x"},"lastSeen":{"hub":{"channel":"regular"},
				"runtime":{"channel":"regular","modules":[{"name":"notes","customResourcePolicy":"CreateAndDelete"}]}},
				"modules":[{"name":"notes","state":"Ready","version":"1.0.0"}]}}`
			if err := b.Status().Patch(t.Context(), kyma, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
				t.Fatal(err)
			}
			code, _, said := b.run(append(strings.Fields(c.args), "--wait=false")...)
			if code != c.code || !strings.Contains(said, c.said) {
				t.Errorf("exit code %d, want %d; said %q, want %q in it", code, c.code, said, c.said)
			}
			if got := b.entries("far"); got != c.want {
				t.Errorf("the Kyma has %q, want %q", got, c.want)
			}
		})
	}
}

// manages simulates the lifecycle manager for module notes: one status for each generation of the Kyma from the second on, nil for none.
func (b *bench) manages(name string, statuses ...*v1beta2.ModuleStatus) (wait func()) {
	var manager sync.WaitGroup
	manager.Go(func() {
		for i, status := range statuses {
			b.manager(name, int64(i+2), status, "")
			if status != nil {
				continue
			}
			kyma := &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: name}}
			if err := b.Status().Patch(b.Context(), kyma, client.RawPatch("application/merge-patch+json", []byte(`{"status":{"modules":null}}`))); err != nil {
				b.Error(err)
			}
		}
	})
	return manager.Wait
}

func TestCustomResourceInPlaceOfTheDefaultOne(t *testing.T) {
	b := newBench(t)
	b.papers()
	b.kyma("demo")
	paper := "{apiVersion: notes.example.com/v1, kind: Paper, metadata: {name: own, namespace: " + b.namespace + "}}"
	wait := b.manages("demo", &v1beta2.ModuleStatus{Name: "notes", State: "Ready", Version: "1.0.0"})
	b.steps(step{"add notes --cr " + b.file("cr.yaml", paper), 0, []string{"Ready        notes", "Paper " + b.namespace + "/own is there"}})
	wait()
	if err := b.Get(t.Context(), client.ObjectKey{Namespace: b.namespace, Name: "own"}, b.paper("own")); err != nil {
		t.Error(err)
	}
	if policy := b.read("demo").Spec.Modules[0].CustomResourcePolicy; policy != v1beta2.CustomResourcePolicyIgnore {
		t.Errorf("the policy is %s, and the default one would come as well", policy)
	}
	unknown := b.file("unknown.yaml", "{apiVersion: notes.example.com/v9, kind: Pen, metadata: {name: x}}")
	b.steps(
		step{"add notes --wait=false --cr " + unknown, 1, []string{"does not know the kind of --cr", "call it again"}},
		step{"add notes --cr " + b.file("two.yaml", paper+"\n---\n"+strings.Replace(paper, "own", "other", 1)), 64, []string{"has 2 objects"}},
		step{"add notes --default-cr --cr " + unknown, 64, []string{"exclude each other"}},
	)
}

func TestKeepResourcesLetsGoFirst(t *testing.T) {
	b := newBench(t)
	b.kyma("demo", v1beta2.Module{Name: "notes"})
	wait := b.manages("demo", &v1beta2.ModuleStatus{Name: "notes", State: "Unmanaged", Version: "1.0.0"}, nil)
	b.steps(step{"delete notes --keep-resources --yes --timeout 20s", 0, []string{"Unmanaged    notes", "module/notes   disabled", "Gone         notes"}})
	wait()
	if left := b.entries("demo"); left != "" {
		t.Errorf("the Kyma still has %s", left)
	}
}

func TestCascadeDeletesCustomResources(t *testing.T) {
	b := newBench(t)
	template := &v1beta2.ModuleTemplate{}
	if err := b.Get(t.Context(), client.ObjectKey{Namespace: b.namespace, Name: "notes-1.0.0"}, template); err != nil {
		t.Fatal(err)
	}
	template.Spec.AssociatedResources = []metav1.GroupVersionKind{{Group: "notes.example.com", Version: "v1", Kind: "Paper"}}
	if err := b.Update(t.Context(), template); err != nil {
		t.Fatal(err)
	}
	b.papers("mine", "yours")
	b.held("mine")
	b.kyma("demo", v1beta2.Module{Name: "notes"})
	code, _, said := b.run("delete", "notes", "--yes", "--wait=false")
	if code != 1 || !strings.Contains(said, "Paper "+b.namespace+"/mine, Paper "+b.namespace+"/yours") {
		t.Errorf("exit code %d, want a refusal that names both: %s", code, said)
	}
	if code, _, said = b.run("delete", "notes", "--cascade", "--yes", "--wait=false"); code != 0 {
		t.Fatalf("exit code %d: %s", code, said)
	}
	for _, name := range []string{"mine", "yours"} {
		if !strings.Contains(said, "Paper "+b.namespace+"/"+name+" (module notes)") {
			t.Errorf("%s was not shown: %s", name, said)
		}
		paper := b.paper(name)
		if err := b.Get(t.Context(), client.ObjectKeyFromObject(paper), paper); !apierrors.IsNotFound(err) {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
	if left := b.entries("demo"); left != "" {
		t.Errorf("the Kyma still has %s", left)
	}
}
