package resourcetree

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/kyma-project/lifecycle-manager/pkg/fielddiff"
)

func parsed(t *testing.T, kind, document string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(document), &o.Object); err != nil {
		t.Fatal(err)
	}
	if o.Object == nil {
		o.Object = map[string]any{}
	}
	o.SetKind(kind)
	o.SetAPIVersion("v1")
	if kind == "Sample" {
		o.SetAPIVersion("example.com/v1")
	}
	return o
}

func TestDifference(t *testing.T) {
	for name, test := range map[string]struct {
		kind, wanted, live string
		want               []Field
	}{
		"what the API server and others add": {"Pod", "{spec: {a: 1}}",
			"{spec: {a: 1, b: 2}, status: {phase: x}, metadata: {uid: u, labels: {x: y}}}", nil},
		"a changed field and one that is gone": {"Pod", "{spec: {a: 1, b: x}}", "{spec: {a: 2}}",
			[]Field{{"spec.a", "1", "2"}, {"spec.b", "x", ""}}},
		"the status that a version brings":             {"Pod", "{status: {a: 1}}", "{}", nil},
		"what means the same as nothing":               {"Pod", "{spec: {a: false, b: {}, c: [], d: null, e: {f: 0}}}", "{spec: {}}", nil},
		"but not in a kind that a definition adds":     {"Sample", "{spec: {a: false, b: {}}}", "{spec: {}}", []Field{{"spec.a", "false", ""}}},
		"another way to write a quantity":              {"Pod", "{resources: {limits: {cpu: 1000m, memory: 1Gi}}}", "{resources: {limits: {cpu: '1', memory: 1024Mi}}}", nil},
		"another quantity":                             {"Pod", "{resources: {limits: {cpu: 2}}}", "{resources: {limits: {cpu: '1'}}}", []Field{{"resources.limits.cpu", "2", "1"}}},
		"a text that is no quantity there":             {"Pod", "{env: 1000m}", "{env: '1'}", []Field{{"env", "1000m", "1"}}},
		"named items in another order and more":        {"Pod", "{l: [{name: a, v: 1}, {name: b, v: 1}]}", "{l: [{name: x}, {name: b, v: 1}, {name: a, v: 1, w: 2}]}", nil},
		"a named item that is gone":                    {"Pod", "{l: [{name: a, v: 1}]}", "{l: []}", []Field{{"l[name=a].name", "a", ""}, {"l[name=a].v", "1", ""}}},
		"an item more in a list without names":         {"Pod", "{l: [a]}", "{l: [a, b]}", []Field{{"l[1]", "", "b"}}},
		"finalizers that controllers add":              {"Pod", "{metadata: {finalizers: [a]}}", "{metadata: {finalizers: [b, a]}}", nil},
		"stringData is data":                           {"Secret", "{stringData: {a: x}, data: {b: eQ==}}", "{data: {a: eA==, b: eQ==}}", nil},
		"a value of a Secret":                          {"Secret", "{stringData: {a: x}}", "{data: {a: eQ==}}", []Field{{"data.a", "(hidden)", "(hidden)"}}},
		"a value of a Secret within":                   {"Sample", "{spec: {kind: Secret, data: {a: p}}}", "{spec: {kind: Secret, data: {a: q}}}", []Field{{"spec.data.a", "(hidden)", differs}}},
		"another type":                                 {"Pod", "{a: {b: 1}, c: [1]}", "{a: x, c: z}", []Field{{"a", `{"b":1}`, "x"}, {"c", "[1]", "z"}}},
		"the copy that kubectl keeps is no difference": {"Pod", `{metadata: {annotations: {kubectl.kubernetes.io/last-applied-configuration: a}}}`, "{}", nil},
	} {
		t.Run(name, func(t *testing.T) {
			wanted, live := parsed(t, test.kind, test.wanted), parsed(t, test.kind, test.live)
			before := wanted.DeepCopy()
			got, more := Difference(wanted, live, fielddiff.Secrets{})
			if diff := cmp.Diff(test.want, got); diff != "" || more != 0 {
				t.Error(diff, more)
			}
			if diff := cmp.Diff(before, wanted); diff != "" {
				t.Errorf("what is wanted was changed: %s", diff)
			}
		})
	}
}

func TestDifference_IsBounded(t *testing.T) {
	wanted, live := parsed(t, "ConfigMap", "{}"), parsed(t, "ConfigMap", "{}")
	data := map[string]any{}
	for i := range MostFields + 7 {
		data[fmt.Sprint("k", i)] = "v"
	}
	wanted.Object["data"] = data
	if fields, more := Difference(wanted, live, fielddiff.Secrets{}); len(fields) != MostFields || more != 7 {
		t.Errorf("%d fields and %d more", len(fields), more)
	}
	if fields, _ := Difference(wanted, wanted, fielddiff.Secrets{}); len(fields) != 0 {
		t.Errorf("an object differs from itself: %v", fields)
	}
}

func TestDetail_OfAPod(t *testing.T) {
	pod := parsed(t, "Pod", `
metadata: {name: p, namespace: n, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: r, uid: u, controller: true}, {kind: X, name: y}]}
spec:
  initContainers: [{name: setup, image: a}, {name: proxy, restartPolicy: Always}]
  containers: [{name: main, image: b}, {name: quiet}, 7]
  ephemeralContainers: [{name: debug}]
status:
  conditions: [{type: Ready, status: 'False', reason: R, message: m, lastTransitionTime: '2026-01-01T00:00:00Z'}, {status: 'True'}, 3]
  initContainerStatuses: [{name: setup, state: {terminated: {reason: Completed}}}]
  containerStatuses: [{name: main, ready: true, restartCount: 3, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 1}}}]
`)
	want := []Container{
		{Name: "setup", Kind: InitContainer, Image: "a", State: "terminated", Reason: "Completed"}, {Name: "proxy", Kind: SidecarContainer},
		{Name: "main", Kind: MainContainer, Image: "b", State: "waiting", Reason: "CrashLoopBackOff", Ready: true, Restarts: 3, Previous: true},
		{Name: "quiet", Kind: MainContainer}, {Name: "debug", Kind: EphemeralContainer},
	}
	if diff := cmp.Diff(want, ContainersOf(pod)); diff != "" {
		t.Error(diff)
	}
	if got := ConditionsOf(pod); len(got) != 1 || got[0].Message != "m" {
		t.Errorf("%+v", got)
	}
	if got := OwnersOf(pod); len(got) != 2 || !got[0].Controller || got[0].Kind != "ReplicaSet" || got[1].Controller {
		t.Errorf("%+v", got)
	}
	if got := ContainersOf(parsed(t, "Sample", "{spec: {containers: [{name: x}]}}")); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	if CreatedOf(pod) != nil {
		t.Error("it was created at no time")
	}
}
