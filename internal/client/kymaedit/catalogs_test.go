package kymaedit

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// counted returns a client that counts its reads.
func counted(c client.WithWatch, gets, lists *int) client.WithWatch {
	return interceptor.NewClient(c, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
			*gets++
			return c.Get(ctx, key, o, options...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			*lists++
			return c.List(ctx, list, options...)
		},
	})
}

func TestApplyTo_ReadsAgainOnlyAfterAConflict(t *testing.T) {
	c := connect(t)
	key := someKyma(t, c)
	var gets, lists int
	counting := counted(c, &gets, &lists)
	listed := read(t, c, key)
	if result, err := ApplyTo(t.Context(), counting, listed, enable("notes"), Options{DryRun: DryRunClient}); err != nil || result.Written {
		t.Fatalf("a dry run: written %t, %v", result.Written, err)
	}
	if result, err := ApplyTo(t.Context(), counting, listed, enable("notes"), Options{}); err != nil || !result.Written || gets != 0 {
		t.Fatalf("written %t after %d reads, %v", result.Written, gets, err)
	}
	result, err := ApplyTo(t.Context(), counting, listed, enable("beacon"), Options{}) // listed is older than what is there now
	if err != nil || !result.Written || gets != 1 {
		t.Fatalf("written %t after %d reads, %v", result.Written, gets, err)
	}
	if now := read(t, c, key); len(now.Spec.Modules) != 2 || result.After.Generation != now.Generation {
		t.Errorf("the Kyma has %+v in generation %d, and the result is of generation %d", now.Spec.Modules, now.Generation, result.After.Generation)
	}
}

func TestLoadCatalogs(t *testing.T) {
	c := connect(t)
	for namespace, version := range map[string]string{"catalog-a": "1.0.0", "catalog-b": "2.0.0"} {
		in := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: namespace, Name: name} }
		for _, o := range []client.Object{
			&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
			&v1beta2.ModuleReleaseMeta{ObjectMeta: in("notes"), Spec: v1beta2.ModuleReleaseMetaSpec{
				ModuleName: "notes", OCMComponentName: "example.com/notes",
				Channels: []v1beta2.ChannelVersion{{Channel: "regular", Version: version}},
			}},
			&v1beta2.ModuleTemplate{ObjectMeta: in("notes-" + version), Spec: v1beta2.ModuleTemplateSpec{ModuleName: "notes", Version: version}},
		} {
			if err := c.Create(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, namespaces := range map[string][]string{"one namespace": {"catalog-a"}, "several": {"catalog-a", "catalog-b", "catalog-none"}} {
		t.Run(name, func(t *testing.T) {
			var gets, lists int
			catalogs, err := LoadCatalogs(t.Context(), counted(c, &gets, &lists), namespaces)
			if err != nil || gets != 0 || lists != 2 {
				t.Fatalf("%d gets, %d lists, %v", gets, lists, err)
			}
			for i, version := range []string{"1.0.0", "2.0.0", ""}[:len(namespaces)] {
				s := catalogs.ContextOf(&v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: namespaces[i], Name: "demo"}})
				if s.Offers["notes"].Channels["regular"] != version || len(s.Templates) != min(len(version), 1) {
					t.Errorf("the catalog of %s has %+v and %d templates", namespaces[i], s.Offers, len(s.Templates))
				}
			}
		})
	}
}
