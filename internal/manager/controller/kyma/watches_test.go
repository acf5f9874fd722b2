package kyma

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	clientfake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

func scheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	if err := v1beta2.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	return s
}

func kymaWith(name string, wanted, had []string) *v1beta2.Kyma {
	kyma := &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: name, UID: "uid-" + "1"}}
	for _, module := range wanted {
		kyma.Spec.Modules = append(kyma.Spec.Modules, v1beta2.Module{Name: module})
	}
	for _, module := range had {
		kyma.Status.Modules = append(kyma.Status.Modules, v1beta2.ModuleStatus{Name: module, Version: "1.0.0"})
	}
	return kyma
}

func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "kcp-system", Name: name}
}

// drained returns what a handler has enqueued, sorted.
func drained(t *testing.T, do func(workqueue.TypedRateLimitingInterface[reconcile.Request])) []string {
	t.Helper()
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer queue.ShutDown()
	do(queue)
	var names []string
	for queue.Len() > 0 {
		request, _ := queue.Get()
		names = append(names, request.Name)
		queue.Done(request)
	}
	slices.Sort(names)
	return names
}

func TestDependents(t *testing.T) {
	template := &v1beta2.ModuleTemplate{ObjectMeta: named("template-operator-1.0.0")}
	template.Spec.ModuleName = "something-else" // a wrong spec must be told to those who look for the name
	release := &v1beta2.ModuleReleaseMeta{ObjectMeta: named("template-operator")}
	elsewhere := &v1beta2.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: "template-operator"}}
	kymas := []client.Object{
		kymaWith("wants", []string{"template-operator"}, nil), kymaWith("had", nil, []string{"template-operator"}),
		kymaWith("neither", []string{"template"}, []string{"operator"}), kymaWith("empty", nil, nil),
	}
	r := &Reconciler{Client: clientfake.NewClientBuilder().WithScheme(scheme(t)).WithObjects(kymas...).WithStatusSubresource(&v1beta2.Kyma{}).
		WithIndex(&v1beta2.Kyma{}, indexModule, func(o client.Object) []string {
			return slices.Collect(func(yield func(string) bool) {
				for name := range versionsByModule(&module.Snapshot{Kyma: o.(*v1beta2.Kyma)}) {
					yield(name)
				}
			})
		}).Build()}
	had := kymaWith("had", nil, []string{"template-operator"})
	if err := r.Client.Get(t.Context(), client.ObjectKeyFromObject(had), had); err != nil {
		t.Fatal(err)
	}
	had.Status.Modules = []v1beta2.ModuleStatus{{Name: "template-operator", State: v1beta2.StateReady}}
	if err := r.Client.Status().Update(t.Context(), had); err != nil {
		t.Fatal(err)
	}
	effective := kymaWith("empty", []string{"named-there"}, nil)
	r.nameModules(kymaWith("empty", nil, nil), effective) // what the users of its runtime ask for
	both, everybody := []string{"had", "wants"}, []string{"empty", "had", "neither", "wants"}
	forced := &v1beta2.ModuleReleaseMeta{ObjectMeta: named("forced"), Spec: v1beta2.ModuleReleaseMetaSpec{Mandatory: &v1beta2.Mandatory{}}}
	was := &v1beta2.ModuleReleaseMeta{ObjectMeta: named("was"), Spec: v1beta2.ModuleReleaseMetaSpec{Mandatory: &v1beta2.Mandatory{}}}
	if err := r.Client.Create(t.Context(), forced.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	names := func(o client.Object) []string { return []string{o.GetName()} }
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	for name, test := range map[string]struct {
		do   func(queue)
		want []string
	}{
		"a new release wakes the Kymas that have or had the module": {
			func(q queue) { r.dependents(0, names).Create(t.Context(), event.CreateEvent{Object: release}, q) }, both,
		},
		"a changed release does": {
			func(q queue) {
				r.dependents(0, names).Update(t.Context(), event.UpdateEvent{ObjectOld: release, ObjectNew: release}, q)
			}, both,
		},
		"a deleted release does": {
			func(q queue) { r.dependents(0, names).Delete(t.Context(), event.DeleteEvent{Object: release}, q) }, both,
		},
		"a template does by its name, whatever its spec says": {
			func(q queue) {
				r.dependents(0, modulesOfTemplate).Create(t.Context(), event.CreateEvent{Object: template}, q)
			}, both,
		},
		"a release wakes the Kyma in whose runtime alone the module is asked for, though no status names it yet": {
			func(q queue) {
				r.dependents(0, names).Create(t.Context(), event.CreateEvent{Object: &v1beta2.ModuleReleaseMeta{ObjectMeta: named("named-there")}}, q)
			}, []string{"empty"},
		},
		"so does a template": {
			func(q queue) {
				r.dependents(0, modulesOfTemplate).Create(t.Context(),
					event.CreateEvent{Object: &v1beta2.ModuleTemplate{ObjectMeta: named("named-there-1.0.0")}}, q)
			}, []string{"empty"},
		},
		"a mandatory release wakes all Kymas": {
			func(q queue) { r.dependents(0, names).Create(t.Context(), event.CreateEvent{Object: forced}, q) }, everybody,
		},
		"one that is gone does": {
			func(q queue) { r.dependents(0, names).Delete(t.Context(), event.DeleteEvent{Object: was}, q) }, everybody,
		},
		"one that was mandatory does": {
			func(q queue) {
				r.dependents(0, names).Update(t.Context(), event.UpdateEvent{ObjectOld: was, ObjectNew: &v1beta2.ModuleReleaseMeta{ObjectMeta: named("was")}}, q)
			}, everybody,
		},
		"a template of a mandatory module does": {
			func(q queue) {
				r.dependents(0, modulesOfTemplate).Create(t.Context(), event.CreateEvent{Object: &v1beta2.ModuleTemplate{ObjectMeta: named("forced-1.0.0")}}, q)
			}, everybody,
		},
		"what is there at the start wakes no one": {
			func(q queue) {
				r.dependents(0, names).Create(t.Context(), event.CreateEvent{Object: release, IsInInitialList: true}, q)
			}, nil,
		},
		"another namespace is another world": {
			func(q queue) { r.dependents(0, names).Create(t.Context(), event.CreateEvent{Object: elsewhere}, q) }, nil,
		},
		"a rollout delay wakes no one at once": {
			func(q queue) {
				r.dependents(time.Hour, names).Update(t.Context(), event.UpdateEvent{ObjectOld: release, ObjectNew: release}, q)
			}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, drained(t, test.do)); diff != "" {
				t.Errorf("woken differently (-want +got):\n%s", diff)
			}
		})
	}
}

func TestModulesOfTemplate(t *testing.T) {
	for name, test := range map[string]struct {
		template string
		want     []string
	}{
		"a name with one word":                           {"istio-1.2.3", []string{"istio"}},
		"a name with several words":                      {"template-operator-1.2.3", []string{"template-operator"}},
		"a pre-release":                                  {"istio-1.2.3-rc1", []string{"istio"}},
		"a pre-release that begins with a digit":         {"istio-1.2.3-1", []string{"istio", "istio-1.2.3"}},
		"a module with a number in its name":             {"s3-2-1.0.0", []string{"s3", "s3-2"}},
		"a name without version":                         {"istio", nil},
		"a name that ends with a dash":                   {"istio-", nil},
		"a version without a module":                     {"-1.0.0", nil},
		"an old name, of a channel instead of a version": {"istio-regular", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, modulesOfTemplate(&v1beta2.ModuleTemplate{ObjectMeta: named(test.template)})); diff != "" {
				t.Errorf("differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestKymasOf_EnqueuesTheKymaOfAManifest(t *testing.T) {
	yes := true
	owned := func(kind string) metav1.ObjectMeta {
		meta := named("manifest")
		meta.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: "owner", Controller: &yes}}
		meta.Labels = map[string]string{v1beta2.LabelKymaName: "label", v1beta2.LabelManagedBy: v1beta2.ManagedByLifecycleManager}
		return meta
	}
	labelled := func(labels map[string]string) metav1.ObjectMeta {
		meta := named("manifest")
		meta.Labels = labels
		return meta
	}
	for name, test := range map[string]struct {
		meta metav1.ObjectMeta
		want string
	}{
		"its owner counts more than its label":  {owned("Kyma"), "owner"},
		"one of another controller is not ours": {owned("Other"), ""},
		"one that lost its owner says so by its labels": {
			labelled(map[string]string{v1beta2.LabelKymaName: "label", v1beta2.LabelManagedBy: v1beta2.ManagedByLifecycleManager}), "label",
		},
		"a stand-alone one may name a runtime": {labelled(map[string]string{v1beta2.LabelKymaName: "label"}), ""},
		"one without anything is no one's":     {labelled(nil), ""},
	} {
		t.Run(name, func(t *testing.T) {
			var want []reconcile.Request
			if test.want != "" {
				want = []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: "kcp-system", Name: test.want}}}
			}
			if diff := cmp.Diff(want, kymasOf(context.Background(), &v1beta2.Manifest{ObjectMeta: test.meta})); diff != "" {
				t.Errorf("differs (-want +got):\n%s", diff)
			}
		})
	}
}
