package statusreader

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

// admin returns a client with all permissions.
func admin(t testing.TB) client.Client {
	t.Helper()
	apiserver.Need(t)
	config, err := server()
	if err != nil {
		t.Fatal(err)
	}
	return connect(t, config)
}

func connect(t testing.TB, config *rest.Config) client.Client {
	t.Helper()
	config = rest.CopyConfig(config)
	config.QPS = -1
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1beta2.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, kind := range []string{"Manifest", "ModuleTemplate", "ModuleReleaseMeta"} {
		mapper.Add(v1beta2.GroupVersion.WithKind(kind), meta.RESTScopeNamespace)
	}
	kyma := v1beta2.GroupVersion.WithKind("Kyma")
	mapper.AddSpecific(kyma, v1beta2.GroupVersion.WithResource("kymas"), v1beta2.GroupVersion.WithResource("kyma"), meta.RESTScopeNamespace)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Secret"), meta.RESTScopeNamespace)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Namespace"), meta.RESTScopeRoot)
	made, err := client.New(config, client.Options{Scheme: scheme, Mapper: mapper})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func create(t testing.TB, c client.Client, objects ...client.Object) {
	t.Helper()
	for _, o := range objects {
		if err := c.Create(t.Context(), o); err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatalf("create %T %s: %v", o, o.GetName(), err)
		}
	}
}

func namespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func TestFleetIsReadInAFewRequests(t *testing.T) {
	c := admin(t)
	create(t, c, namespace("fleet"))
	for i := range 50 {
		kyma := &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: fmt.Sprintf("k%d", i)}}
		kyma.Spec = v1beta2.KymaSpec{Channel: "regular", Modules: []v1beta2.Module{{Name: "beacon"}}}
		create(t, c, kyma)
		for j := range 5 {
			manifest := &v1beta2.Manifest{ObjectMeta: metav1.ObjectMeta{
				Namespace: "fleet", Name: fmt.Sprintf("k%d-m%d", i, j),
				Labels: map[string]string{v1beta2.LabelKymaName: kyma.Name, v1beta2.LabelManagedBy: v1beta2.ManagedByLifecycleManager},
			}}
			manifest.Spec.Install.Source.Raw = []byte(`{}`)
			create(t, c, manifest)
		}
	}
	var requests atomic.Int64
	config, _ := server()
	counted := rest.CopyConfig(config)
	counted.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return counting(func(r *http.Request) (*http.Response, error) {
			requests.Add(1)
			return next.RoundTrip(r)
		})
	})
	in, err := Read(t.Context(), connect(t, counted), Scope{Namespace: "fleet"})
	if err != nil {
		t.Fatal(err)
	}
	if len(in.Kymas) != 50 || len(in.Manifests) != 250 {
		t.Errorf("read %d Kymas and %d Manifests", len(in.Kymas), len(in.Manifests))
	}
	if n := requests.Load(); n > 12 {
		t.Errorf("that took %d requests, more than 12", n)
	}
	one, err := Read(t.Context(), c, Scope{Kyma: &types.NamespacedName{Namespace: "fleet", Name: "k7"}})
	if err != nil || len(one.Kymas) != 1 || len(one.Manifests) != 5 {
		t.Errorf("of one Kyma read %d Kymas and %d Manifests: %v", len(one.Kymas), len(one.Manifests), err)
	}
}

type counting func(*http.Request) (*http.Response, error)

func (f counting) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestForbiddenIsPartOfTheAnswer(t *testing.T) {
	admin(t)
	config, _ := server()
	nobody := rest.CopyConfig(config)
	nobody.Impersonate.UserName = "nobody"
	in, err := Read(t.Context(), connect(t, nobody), Scope{})
	if err != nil {
		t.Fatal(err)
	}
	if len(in.Unread) != 5 || len(in.Looked) != 0 {
		t.Fatalf("%d kinds were not read, %d were", len(in.Unread), len(in.Looked))
	}
	for _, u := range in.Unread {
		if !u.Forbidden || u.Text == "" {
			t.Errorf("%s: %+v", u.GroupKind, u)
		}
	}
}

func TestGather_NoServerIsAnError(t *testing.T) {
	reader := connect(t, &rest.Config{Host: "http://127.0.0.1:1"})
	if _, err := Read(t.Context(), reader, Scope{}); err == nil {
		t.Error("a cluster that does not answer was read")
	}
}

func packed(t testing.TB, entries ...inventory.Entry) []byte {
	t.Helper()
	text, err := json.Marshal(entries)
	if err != nil {
		t.Fatal(err)
	}
	var data bytes.Buffer
	packer := gzip.NewWriter(&data)
	if _, err := packer.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := packer.Close(); err != nil {
		t.Fatal(err)
	}
	return data.Bytes()
}

func entry(name string) inventory.Entry {
	return inventory.Entry{ID: inventory.ID{Kind: "ConfigMap", Namespace: "kyma-system", Name: name}, Version: "v1", Hash: "x"}
}

func TestDirectInstallationsAreReadFromTheirRecords(t *testing.T) {
	c := admin(t)
	note, err := modulestatus.DirectNote{Version: "1.0.0", Complete: true}.Annotations()
	if err != nil {
		t.Fatal(err)
	}
	secret := func(name string, data map[string][]byte) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
			Namespace: modulestatus.DirectNamespace, Name: name, Labels: modulestatus.DirectNote{}.Labels(name[len("manifest."):]), Annotations: note,
		}, Data: data}
	}
	for name, k := range map[string]struct {
		secrets    []*corev1.Secret
		objects    int
		unreadable bool
	}{
		"one Secret": {[]*corev1.Secret{
			secret("manifest.small", map[string][]byte{recordIndex: []byte(`{}`), recordEntries: packed(t, entry("a"), entry("b"))}),
		}, 2, false},
		"with objects that are only created": {[]*corev1.Secret{secret("manifest.created", map[string][]byte{
			recordIndex:   []byte(`{"created":[{"kind":"Beacon","name":"x","version":"v1","hash":"created"}]}`),
			recordEntries: packed(t, entry("a")),
		})}, 2, false},
		"with a shard": {[]*corev1.Secret{
			secret("manifest.large", map[string][]byte{recordIndex: []byte(`{"shards":["manifest.large.1"]}`), recordEntries: packed(t, entry("a"))}),
			secret("manifest.large.1", map[string][]byte{recordEntries: packed(t, entry("b"))}),
		}, 2, false},
		"with a missing shard": {[]*corev1.Secret{
			secret("manifest.half", map[string][]byte{recordIndex: []byte(`{"shards":["x"]}`), recordEntries: packed(t, entry("a"))}),
		}, 0, true},
		"with a damaged shard": {[]*corev1.Secret{
			secret("manifest.hurt", map[string][]byte{recordIndex: []byte(`{"shards":["manifest.hurt.1"]}`), recordEntries: packed(t, entry("a"))}),
			secret("manifest.hurt.1", map[string][]byte{recordEntries: []byte("x")}),
		}, 0, true},
		"damaged":               {[]*corev1.Secret{secret("manifest.bad", map[string][]byte{recordIndex: []byte(`{`)})}, 0, true},
		"with damaged contents": {[]*corev1.Secret{secret("manifest.worse", map[string][]byte{recordIndex: []byte(`{}`)})}, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			create(t, c, namespace(modulestatus.DirectNamespace))
			for _, s := range k.secrets {
				create(t, c, s)
				t.Cleanup(func() { _ = c.Delete(context.WithoutCancel(t.Context()), s) })
			}
			in, err := Read(t.Context(), c, Scope{CatalogOnly: true})
			if err != nil {
				t.Fatal(err)
			}
			at := -1
			for i := range in.Direct {
				if in.Direct[i].Record.Name == k.secrets[0].Name {
					at = i
				}
			}
			if at < 0 {
				t.Fatalf("there is no such installation among %d", len(in.Direct))
			}
			d := in.Direct[at]
			if d.Version != "1.0.0" || len(d.Inventory) != k.objects || (d.Unreadable != "") != k.unreadable {
				t.Errorf("read %+v", d)
			}
		})
	}
}

func TestGather_WhatModulesNameIsRead(t *testing.T) {
	manager := &v1beta2.Manager{
		GroupVersionKind: metav1.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, Namespace: "a", Name: "m",
	}
	data := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "s/v1", "kind": "Beacon"}}
	template := v1beta2.ModuleTemplate{Spec: v1beta2.ModuleTemplateSpec{ModuleName: "beacon", Manager: manager, Data: data}}
	no := false
	local := v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "k"}}
	local.Spec = v1beta2.KymaSpec{Remote: &no, Modules: []v1beta2.Module{{Name: "beacon"}}}
	other := manager.DeepCopy()
	other.Namespace = "b"
	labels := map[string]string{v1beta2.LabelKymaName: "k", v1beta2.LabelManagedBy: v1beta2.ManagedByLifecycleManager}
	manifest := v1beta2.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Labels: labels}}
	manifest.Spec.Manager = other
	status := local.DeepCopy()
	status.Spec.Modules = nil
	status.Status.Modules = []v1beta2.ModuleStatus{{Name: "x", Resource: &v1beta2.TrackingObject{TypeMeta: metav1.TypeMeta{APIVersion: "t/v1", Kind: "Lamp"}}}}
	for name, c := range map[string]struct {
		in   modulestatus.Inputs
		want string
	}{
		"nothing for the modules of runtimes": {modulestatus.Inputs{Kymas: []v1beta2.Kyma{{}}, Templates: []v1beta2.ModuleTemplate{template}}, ""},
		"only operators where there is no Kyma": {
			modulestatus.Inputs{Templates: []v1beta2.ModuleTemplate{template}}, "Deployment a; ",
		},
		"resource and operator of a local Kyma's modules": {
			modulestatus.Inputs{Kymas: []v1beta2.Kyma{local}, Templates: []v1beta2.ModuleTemplate{template}}, "Deployment a; Beacon ; ",
		},
		"one list where operators are in two namespaces": {
			modulestatus.Inputs{Kymas: []v1beta2.Kyma{local}, Templates: []v1beta2.ModuleTemplate{template}, Manifests: []v1beta2.Manifest{manifest}},
			"Deployment ; Beacon ; ",
		},
		"the kind in a status": {modulestatus.Inputs{Kymas: []v1beta2.Kyma{*status}}, "Lamp ; "},
		"the kinds in a record": {modulestatus.Inputs{Direct: []modulestatus.Direct{{DirectNote: modulestatus.DirectNote{
			Manager: manager, Resource: &modulestatus.Ref{APIVersion: "s/v1", Kind: "Beacon"},
		}}}}, "Deployment a; Beacon ; "},
	} {
		t.Run(name, func(t *testing.T) {
			is := ""
			for _, k := range wanted(&c.in) {
				is += k.Kind + " " + k.namespace + "; "
			}
			if is != c.want {
				t.Errorf("read %q, want %q", is, c.want)
			}
		})
	}
	running := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"namespace": "a", "name": "m"},
	}}
	in := modulestatus.Inputs{Templates: []v1beta2.ModuleTemplate{template}, Objects: []*unstructured.Unstructured{running}}
	if kinds := found(&in); len(kinds) != 1 || kinds[0].Kind != "Beacon" {
		t.Errorf("for an operator that was found, read %v", kinds)
	}
	in.Objects = nil
	if kinds := found(&in); len(kinds) != 1 || kinds[0].Kind != "Beacon" {
		t.Errorf("for an operator that may be gone, read %v", kinds)
	}
	in.Kymas = []v1beta2.Kyma{{}}
	if kinds := found(&in); len(kinds) != 0 {
		t.Errorf("for modules that are in a runtime, read %v", kinds)
	}
	in.Kymas = []v1beta2.Kyma{local}
	in.Kymas[0].Spec.Modules = nil
	if kinds := found(&in); len(kinds) != 1 || kinds[0].Kind != "Beacon" {
		t.Errorf("for a module that is not in the Kyma of this cluster, read %v", kinds)
	}
	in.Looked = []modulestatus.ListedKind{{GroupKind: schema.GroupKind{Group: "s", Kind: "Beacon"}}}
	if again := found(&in); len(again) != 0 {
		t.Errorf("read again: %v", again)
	}
}
