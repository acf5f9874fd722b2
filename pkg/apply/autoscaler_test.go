package apply

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

const workload = `
apiVersion: apps/v1
kind: KIND
metadata: {name: operator}
spec:
  replicas: 2
  selector: {matchLabels: {app: operator}}
  template:
    metadata: {labels: {app: operator}}
    spec: {containers: [{name: manager, image: "example.org/operator:1.0.0"}]}
`

func (f *fixture) workload(kind string) *unstructured.Unstructured {
	f.Helper()
	return f.object(strings.ReplaceAll(workload, "KIND", kind))
}

// release returns another version of a workload.
func (f *fixture) release(obj *unstructured.Unstructured, version string) *unstructured.Unstructured {
	f.Helper()
	obj = obj.DeepCopy()
	f.must(unstructured.SetNestedSlice(obj.Object, []any{map[string]any{"name": "manager", "image": "example.org/operator:" + version}},
		"spec", "template", "spec", "containers"))
	return obj
}

func (f *fixture) autoscaler(kind, name string) *unstructured.Unstructured {
	f.Helper()
	return f.object("{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: " + strings.ToLower(kind+"-"+name) + "}, spec: " +
		"{minReplicas: 3, maxReplicas: 9, scaleTargetRef: {apiVersion: apps/v1, kind: " + kind + ", name: " + name + "}}}")
}

// scale scales the workload as the controller of an autoscaler does.
func (f *fixture) scale(obj *unstructured.Unstructured, replicas int64) {
	f.Helper()
	scale, err := f.theirs(obj).Get(f.Context(), obj.GetName(), metav1.GetOptions{}, "scale")
	f.must(err)
	f.must(unstructured.SetNestedField(scale.Object, replicas, "spec", "replicas"))
	_, err = f.theirs(obj).Update(f.Context(), scale, metav1.UpdateOptions{FieldManager: "kube-controller-manager"}, "scale")
	f.must(err)
}

func (i *installation) yields(obj *unstructured.Unstructured, replicas string, overruled ...FieldConflict) {
	i.Helper()
	outcome := i.install(obj)[0]
	if i.is(outcome, Updated, ""); !outcome.Yielded {
		i.Error("replicas were not left to the autoscaler")
	}
	if !slices.Equal(outcome.Overruled, overruled) {
		i.Errorf("overruled %v, want %v", outcome.Overruled, overruled)
	}
	if got := valueAt(i.get(obj), "spec", "replicas"); got != replicas {
		i.Errorf("%s replicas, want %s", got, replicas)
	}
	i.rests(obj)
}

func TestReplicasYieldToAnAutoscalerOfTheCluster(t *testing.T) {
	for _, kind := range []string{"Deployment", "StatefulSet", "ReplicaSet"} {
		t.Run(kind, func(t *testing.T) {
			i := &installation{fixture: onServer(t)}
			resource := strings.ToLower(kind) + "s.apps"
			object := i.workload(kind)
			i.installs(Created, object)
			i.exists(i.marked(i.autoscaler(kind, "operator"), ""), "kubectl")

			i.scale(object, 5)
			if steps := i.decide(object); len(steps) != 1 || steps[0].Why != inventory.WhyDrifted {
				t.Fatalf("the scaling was not noticed: %v", steps)
			}
			i.costs([]string{"get " + resource, "patch " + resource, "patch " + resource, "list horizontalpodautoscalers.autoscaling", "patch " + resource},
				func() { i.yields(object, "5") })
			i.scale(object, 7) // through the migration: no longer ours
			i.rests(object)

			i.edit(object, "kubectl-set", "{spec: {template: {spec: {containers: [{name: manager, image: 'theirs'}]}}}}")
			i.costs([]string{"patch " + resource, "list horizontalpodautoscalers.autoscaling", "patch " + resource}, func() {
				i.yields(i.release(object, "2.0.0"), "7",
					FieldConflict{`.spec.template.spec.containers[name="manager"].image`, "kubectl-set"})
			})
			i.scale(object, 9) // by one call: not ours either
			i.rests(i.release(object, "2.0.0"))
		})
	}
}

func TestReplicasYieldToAnAutoscalerOfTheContentWithoutAsking(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	object := i.workload("Deployment")
	i.opts.Autoscaled = func(id inventory.ID) bool { return id == inventory.IDOf(object) }
	if live := i.installs(Created, object); valueAt(live, "spec", "replicas") != "2" {
		t.Errorf("made with %s replicas", valueAt(live, "spec", "replicas"))
	}
	i.scale(object, 5)
	i.yields(object, "5")
	i.costs([]string{"patch deployments.apps", "patch deployments.apps"}, func() { i.yields(i.release(object, "2.0.0"), "5") })
}

func TestReplicasAreEnforcedAgainstEverybodyElse(t *testing.T) {
	other := func(i *installation) *unstructured.Unstructured { return i.autoscaler("Deployment", "another") }
	ours := func(i *installation) *unstructured.Unstructured { return i.autoscaler("Deployment", "operator") }
	theirs := func(i *installation) *unstructured.Unstructured { return i.marked(ours(i), "") }
	never := func(inventory.ID) bool { return false }
	for _, test := range []struct {
		name       string
		scaler     func(*installation) *unstructured.Unstructured
		autoscaled func(inventory.ID) bool
		yields     bool
	}{
		{"without an autoscaler", nil, nil, false},
		{"an autoscaler of another workload", other, nil, false},
		{"an autoscaler that the content dropped and that is pruned next", ours, never, false},
		{"ours, with unknown content", ours, nil, true},
		{"a user's, which is not in the content", theirs, never, true},
		{"ours that was dropped and is kept", func(i *installation) *unstructured.Unstructured {
			scaler := ours(i)
			scaler.SetAnnotations(map[string]string{ownerKey: mine, AnnotationKeep: "true"})
			return scaler
		}, never, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			i := &installation{fixture: onServer(t)}
			i.opts.Autoscaled = test.autoscaled
			object := i.workload("Deployment")
			i.installs(Created, object)
			if test.scaler != nil {
				i.exists(test.scaler(i), "somebody")
			}
			i.scale(object, 5)
			if test.yields {
				i.yields(object, "5")
				return
			}
			outcome := i.install(object)[0]
			if diff := cmp.Diff([]FieldConflict{{replicasField, "kube-controller-manager"}}, outcome.Overruled); diff != "" || outcome.Yielded {
				t.Error(outcome.Yielded, diff)
			}
			if got := valueAt(i.get(object), "spec", "replicas"); got != "2" {
				t.Errorf("%s replicas", got)
			}
		})
	}
}

func TestReplicasThatTheContentDropsAreHandedToItsAutoscaler(t *testing.T) {
	for _, migrated := range []bool{false, true} {
		i := &installation{fixture: onServer(t)}
		object := i.workload("Deployment")
		i.must(unstructured.SetNestedField(object.Object, int64(6), "spec", "replicas"))
		i.installs(Created, object)
		if migrated {
			i.installs(Updated, i.release(object, "1.1.0"))
		}
		object = i.release(object, "2.0.0")
		unstructured.RemoveNestedField(object.Object, "spec", "replicas")
		i.opts.Autoscaled = func(inventory.ID) bool { return true }
		if live := i.installs(Updated, object); valueAt(live, "spec", "replicas") != "6" {
			t.Errorf("scaled to %s before the autoscaler had its say (migrated: %t)", valueAt(live, "spec", "replicas"), migrated)
		}
		i.rests(object)
		i.scale(object, 7)
		i.installs(Unchanged, object) // now the autoscaler alone owns the replicas
		i.scale(object, 8)
		i.rests(object)
		if live := i.installs(Updated, i.release(object, "3.0.0")); valueAt(live, "spec", "replicas") != "8" {
			t.Errorf("scaled to %s", valueAt(live, "spec", "replicas"))
		}
	}
}

func TestAutoscalersOfANamespaceAreListedOncePerRun(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	i.opts.Workers = 4
	var objects []*unstructured.Unstructured
	for _, name := range []string{"a", "b", "c", "d"} {
		object := i.workload("Deployment")
		object.SetName(name)
		objects = append(objects, object)
		if name != "d" {
			i.exists(i.marked(i.autoscaler("Deployment", name), ""), "kubectl")
		}
	}
	i.install(objects...)
	for _, object := range objects {
		i.scale(object, 5)
	}
	lists := 0
	i.before = func(request *http.Request) {
		if strings.Contains(request.URL.Path, "horizontalpodautoscalers") {
			i.mutex.Lock()
			defer i.mutex.Unlock()
			lists++
		}
	}
	for at, outcome := range i.install(objects...) {
		if i.is(outcome, Updated, ""); outcome.Yielded != (at < 3) {
			t.Errorf("%s: yielded %t", outcome.ID, outcome.Yielded)
		}
	}
	if lists != 1 {
		t.Errorf("%d lists", lists)
	}
}

func TestAutoscalersThatCannotBeSeenStopTheChange(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	object := i.workload("Deployment")
	i.installs(Created, object)
	i.scale(object, 5)
	i.grant("deployers", "apps", "deployments", "get", "patch")
	config := rest.CopyConfig(i.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: "somebody", Groups: []string{"deployers"}}
	i.cluster.Dynamic = i.client(config)
	outcome := i.install(object)[0]
	i.is(outcome, Failed, ClassForbidden)
	i.tells(outcome, "could not determine whether an autoscaler sets its replicas")
	if got := valueAt(i.get(object), "spec", "replicas"); got != "5" {
		t.Errorf("%s replicas", got)
	}
}

// grant gives a group permissions in the test's namespace, the one to get Deployments among them.
func (f *fixture) grant(group, apiGroup, resource string, verbs ...string) {
	f.Helper()
	client := f.granted(group, apiGroup, resource, verbs...)
	f.await("the rights are known", func() bool {
		resource, err := f.resource(f.Context(), f.object("{apiVersion: apps/v1, kind: Deployment}").GroupVersionKind())
		f.must(err)
		_, err = client.Resource(resource.GroupVersionResource).Namespace(f.namespace).Get(f.Context(), "none", metav1.GetOptions{})
		return Classify(err) == ClassConflict
	})
}

// granted gives a group permissions in the test's namespace, which hold a moment later, and returns the client of a member.
func (f *fixture) granted(group, apiGroup, resource string, verbs ...string) dynamic.Interface {
	f.Helper()
	f.exists(f.object("{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: granted}, rules: [{apiGroups: ['"+apiGroup+"'], "+
		"resources: ["+resource+"], verbs: ["+strings.Join(verbs, ", ")+"]}]}"), "test")
	f.exists(f.object("{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: granted}, "+
		"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: granted}, "+
		"subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: "+group+"}]}"), "test")
	config := rest.CopyConfig(f.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: "somebody", Groups: []string{group}}
	return f.client(config)
}
