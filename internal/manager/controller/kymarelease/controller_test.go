package kymarelease

import (
	"context"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	clientfake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding"
)

const space = "kcp-system"

// kymaOf returns a Kyma whose spec and status name releases.
func kymaOf(name, wants, on string) *v1beta2.Kyma {
	kyma := &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: name}}
	kyma.Spec.Release, kyma.Status.Release = wants, on
	return kyma
}

func releaseOf(name string, modules ...v1beta2.ReleasedModule) *v1beta2.KymaRelease {
	return &v1beta2.KymaRelease{
		ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: name, Generation: 1}, Spec: v1beta2.KymaReleaseSpec{Modules: modules},
	}
}

func templateOf(name, version string) *v1beta2.ModuleTemplate {
	return &v1beta2.ModuleTemplate{
		ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: name + "-" + version},
		Spec:       v1beta2.ModuleTemplateSpec{ModuleName: name, Version: version},
	}
}

// newReconciler returns a controller on a hub with these objects, and the number of writes that it has made.
func newReconciler(t *testing.T, objects ...client.Object) (r *Reconciler, writes *int) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1beta2.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	writes = new(int)
	hub := clientfake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&v1beta2.KymaRelease{}).
		WithIndex(&v1beta2.Kyma{}, "release", func(o client.Object) []string { return []string{namesOf(o)[0]} }).
		WithInterceptorFuncs(interceptor.Funcs{SubResourceUpdate: func(
			ctx context.Context, c client.Client, sub string, o client.Object, options ...client.SubResourceUpdateOption,
		) error {
			*writes++
			return c.SubResource(sub).Update(ctx, o, options...)
		}}).Build()
	now := metav1.NewTime(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	return &Reconciler{Client: hub, Index: "release", Shard: sharding.All{}, Now: func() metav1.Time { return now }}, writes
}

func TestReconcile(t *testing.T) {
	r, writes := newReconciler(t, releaseOf("2.2", v1beta2.ReleasedModule{Name: "notes", Version: "1.0.0"}),
		kymaOf("a", "2.2", "2.2"), kymaOf("b", "2.2", "2.1"), kymaOf("c", "2.1", "2.2"), kymaOf("d", "", ""))
	key := types.NamespacedName{Namespace: space, Name: "2.2"}
	pass := func() v1beta2.KymaReleaseStatus {
		t.Helper()
		if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
			t.Fatal(err)
		}
		release := &v1beta2.KymaRelease{}
		if err := r.Client.Get(t.Context(), key, release); err != nil {
			t.Fatal(err)
		}
		return release.Status
	}
	got := pass()
	if got.Kymas != 2 || got.KymasOnRelease != 1 || !slices.Equal(got.MissingTemplates, []string{"notes-1.0.0"}) {
		t.Errorf("the status is %+v", got)
	}
	if pass(); *writes != 1 {
		t.Errorf("%d writes, want 1: a pass that finds nothing to do writes nothing", *writes)
	}
	if err := r.Client.Create(t.Context(), templateOf("notes", "1.0.0")); err != nil {
		t.Fatal(err)
	}
	if got = pass(); len(got.MissingTemplates) > 0 || got.Conditions[0].Reason != v1beta2.ReasonComplete || *writes != 2 {
		t.Errorf("the status is %+v after %d writes", got, *writes)
	}
	if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: types.NamespacedName{Namespace: space, Name: "gone"}}); err != nil {
		t.Errorf("a release that is gone: %v", err)
	}
}

func TestFinders(t *testing.T) {
	mandatory := &v1beta2.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "m"}}
	mandatory.Spec.Mandatory = &v1beta2.Mandatory{Version: "1.0.0"}
	other := &v1beta2.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "m"}}
	r, _ := newReconciler(t, releaseOf("2.2", v1beta2.ReleasedModule{Name: "notes", Version: "1.0.0"}), releaseOf("2.3"))
	for name, c := range map[string]struct {
		find        finder
		before, now client.Object
		want        []string
	}{
		"a Kyma that names a release":                    {ofKyma, nil, kymaOf("a", "2.2", ""), []string{"2.2"}},
		"a Kyma that names none":                         {ofKyma, nil, kymaOf("a", "", ""), nil},
		"a Kyma that changes its release":                {ofKyma, kymaOf("a", "2.2", "2.2"), kymaOf("a", "2.3", "2.2"), []string{"2.2", "2.3"}},
		"a Kyma that arrives":                            {ofKyma, kymaOf("a", "2.2", ""), kymaOf("a", "2.2", "2.2"), []string{"2.2", "2.2"}},
		"a Kyma that changes something else":             {ofKyma, kymaOf("a", "2.2", "2.2"), kymaOf("a", "2.2", "2.2"), nil},
		"a Kyma that is deleted":                         {ofKyma, kymaOf("a", "2.2", "2.2"), nil, []string{"2.2"}},
		"a template that a release names":                {r.ofTemplate, nil, templateOf("notes", "1.0.0"), []string{"2.2"}},
		"a template that is deleted":                     {r.ofTemplate, templateOf("notes", "1.0.0"), nil, []string{"2.2"}},
		"a template of another version":                  {r.ofTemplate, nil, templateOf("notes", "2.0.0"), nil},
		"a module that becomes mandatory":                {r.ofMandatory, other, mandatory, []string{"2.2", "2.3"}},
		"a module that is mandatory no more":             {r.ofMandatory, mandatory, other, []string{"2.2", "2.3"}},
		"a channel that moves concerns no release":       {r.ofMandatory, other, other, nil},
		"a mandatory module that is deleted, that moves": {r.ofMandatory, mandatory, nil, []string{"2.2", "2.3"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, key := range c.find(t.Context(), c.before, c.now) {
				got = append(got, key.Name)
			}
			if slices.Sort(got); !slices.Equal(got, c.want) {
				t.Errorf("enqueues %v, want %v", got, c.want)
			}
		})
	}
}

func TestAnotherSpec(t *testing.T) {
	at := func(uid types.UID, generation int64) *v1beta2.KymaRelease {
		return &v1beta2.KymaRelease{ObjectMeta: metav1.ObjectMeta{UID: uid, Generation: generation}}
	}
	for what, row := range map[string]struct {
		before, now *v1beta2.KymaRelease
		want        bool
	}{
		"its own status":                        {at("a", 1), at("a", 1), false},
		"made again while the watch was broken": {at("a", 1), at("b", 1), true},
	} {
		if got := anotherSpec.Update(event.UpdateEvent{ObjectOld: row.before, ObjectNew: row.now}); got != row.want {
			t.Errorf("%s: it is looked at: %t, want %t", what, got, row.want)
		}
	}
}
