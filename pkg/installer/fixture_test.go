package installer

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/tests/testkit/calls"
)

// fixture is one test's view of the shared API server: a namespace of its own, a config whose calls are counted, and another user's
// client.
type fixture struct {
	*testing.T
	config    *rest.Config
	namespace string
	counter   calls.Counter
	other     client.Client
	// before, when set, is called ahead of every request of the library: the place to interfere.
	before func(*http.Request)
	// loses, when set, says of which requests the response does not arrive.
	loses func(*http.Request) bool
}

type roundTrip func(*http.Request) (*http.Response, error)

func (r roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

// onServer skips where there is no API server.
func onServer(t *testing.T) *fixture {
	t.Helper()
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("KUBEBUILDER_ASSETS is not set: in CI, no test of the library may be skipped")
		}
		t.Skip("no API server: KUBEBUILDER_ASSETS is not set; run \"make test\"")
	}
	config, err := server()
	if err != nil {
		t.Fatalf("start an API server: %v", err)
	}
	f := &fixture{T: t, config: rest.CopyConfig(config)}
	f.other, err = client.New(config, client.Options{})
	f.must(err)
	f.config.Wrap(f.counter.Wrap)
	f.config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(request *http.Request) (*http.Response, error) {
			if f.before != nil {
				f.before(request)
			}
			response, err := next.RoundTrip(request)
			if err == nil && f.loses != nil && f.loses(request) {
				_ = response.Body.Close()
				return nil, io.ErrUnexpectedEOF
			}
			return response, err
		})
	})
	namespace := object("{apiVersion: v1, kind: Namespace, metadata: {generateName: manifest-}}")
	f.must(f.other.Create(t.Context(), namespace))
	f.namespace = namespace.GetName()
	return f
}

func (f *fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func object(text string) *unstructured.Unstructured {
	made := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &made.Object); err != nil {
		panic(err)
	}
	return made
}

// installation returns one of a text.
func (f *fixture) installation(texts ...string) Installation {
	inst := Installation{Name: "demo", Namespace: f.namespace, Config: f.config}
	for i, text := range texts {
		inst.Sources = append(inst.Sources, YAML(fmt.Sprintf("source-%d", i), text))
	}
	return inst
}

func configMap(name string, data ...string) string {
	text := "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\ndata: {"
	for _, pair := range data {
		key, value, _ := strings.Cut(pair, "=")
		text += fmt.Sprintf("%s: %q,", key, value)
	}
	return text + "}\n"
}

func deployment(name string) string {
	return `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: ` + name + `}
spec:
  replicas: 1
  selector: {matchLabels: {app: ` + name + `}}
  template:
    metadata: {labels: {app: ` + name + `}}
    spec: {containers: [{name: main, image: "example.com/main:1"}]}
`
}

// runs plays the controllers that an API server alone does not have: the Deployment becomes available.
func (f *fixture) runs(name string) {
	f.Helper()
	live := f.get("apps/v1", "Deployment", name)
	f.must(unstructured.SetNestedMap(live.Object, map[string]any{
		"observedGeneration": live.GetGeneration(), "replicas": int64(1), "updatedReplicas": int64(1), "readyReplicas": int64(1),
		"availableReplicas": int64(1), "conditions": []any{
			map[string]any{"type": "Available", "status": "True"},
			map[string]any{"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"},
		},
	}, "status"))
	f.must(f.other.Status().Update(f.Context(), live))
}

func (f *fixture) get(apiVersion, kind, name string) *unstructured.Unstructured {
	f.Helper()
	live := f.find(apiVersion, kind, f.namespace, name)
	if live == nil {
		f.Fatalf("%s %s does not exist", kind, name)
	}
	return live
}

// find reads an object; nil when it does not exist.
func (f *fixture) find(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	f.Helper()
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(schema.FromAPIVersionAndKind(apiVersion, kind))
	err := f.known(func() error {
		return f.other.Get(f.Context(), client.ObjectKey{Namespace: namespace, Name: name}, live)
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	f.must(err)
	return live
}

func (f *fixture) has(name string) bool {
	f.Helper()
	return f.find("v1", "ConfigMap", f.namespace, name) != nil
}

// edit is another user's merge patch.
func (f *fixture) edit(live *unstructured.Unstructured, patch string) {
	f.Helper()
	data, err := yaml.YAMLToJSON([]byte(patch))
	f.must(err)
	f.must(f.other.Patch(f.Context(), live, client.RawPatch(types.MergePatchType, data), client.FieldOwner("somebody")))
}

// remove deletes an object as kubectl does: an API server by itself orphans what a Job has made, and waits for its garbage collector.
func (f *fixture) remove(live *unstructured.Unstructured) {
	f.Helper()
	f.must(f.other.Delete(f.Context(), live, client.PropagationPolicy(metav1.DeletePropagationBackground)))
}

// installs returns an Install that must succeed.
func (f *fixture) installs(inst Installation) Report {
	f.Helper()
	report, err := Install(f.Context(), inst)
	if err != nil || !report.Ready {
		f.Fatalf("Install: %v\n%s", err, pretty(report))
	}
	return report
}

func pretty(value any) string {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// actions are "Kind name: action" of a Report.
func actions(report Report) []string {
	var told []string
	for _, object := range report.Objects {
		told = append(told, fmt.Sprintf("%s %s: %s", object.Kind, object.Name, object.Action))
	}
	return told
}

func (f *fixture) equal(what string, got, want []string) {
	f.Helper()
	if !slices.Equal(got, want) {
		f.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

// writes returns the calls since that may have changed something, without the names of users.
func (f *fixture) writes(since calls.Counts) []string {
	var told []string
	for call, n := range f.counter.Since(since).Plain() {
		if call.Write() {
			told = append(told, fmt.Sprintf("%d %s", n, call))
		}
	}
	slices.Sort(told)
	return told
}

func (f *fixture) records() []string {
	f.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion("v1")
	list.SetKind("SecretList")
	f.must(f.other.List(f.Context(), list, client.InNamespace(f.namespace), client.HasLabels{recordLabel}))
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].GetName())
	}
	return names
}

// soon waits until a condition holds.
func (f *fixture) soon(what string, holds func() bool) {
	f.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range 3000 {
		if holds() {
			return
		}
		<-tick.C
	}
	f.Fatalf("did not happen: %s", what)
}

// known repeats a call until discovery tells of the kind, which may have been defined a moment ago.
func (f *fixture) known(call func() error) (err error) {
	f.Helper()
	f.soon("discovery tells of the kind", func() bool { err = call(); return !meta.IsNoMatchError(err) })
	return err
}

// definition returns a CustomResourceDefinition of a group of its own for each test.
func (f *fixture) definition(kind, properties string) *unstructured.Unstructured {
	plural := strings.ToLower(kind) + "s"
	group := f.namespace + ".example.com"
	return object(fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]s.%[2]s}
spec:
  group: %[2]s
  scope: Namespaced
  names: {kind: %[3]s, plural: %[1]s}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {%[4]s}}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
`, plural, group, kind, properties))
}

func (f *fixture) customResource(kind, name, spec string) *unstructured.Unstructured {
	return object(fmt.Sprintf("{apiVersion: %s.example.com/v1, kind: %s, metadata: {name: %s}, spec: {%s}}", f.namespace, kind, name, spec))
}

func (f *fixture) findCustom(kind, name string) *unstructured.Unstructured {
	f.Helper()
	return f.find(f.namespace+".example.com/v1", kind, f.namespace, name)
}

// reason checks the reason of an error, and that a Report goes with it.
func (f *fixture) reason(report Report, err error, want string) {
	f.Helper()
	if ReasonOf(err) != want || report.Reason != want || report.State != StateError || report.Ready || report.Message != err.Error() {
		f.Errorf("got %q (%v), want %s\n%s", ReasonOf(err), err, want, pretty(report))
	}
}
