package communitycatalog

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

func TestMain(m *testing.M) { apiserver.Main(m, apiserver.OurKinds) }

// admin returns a client with all permissions, and a namespace for the test alone.
func admin(t *testing.T) (client.Client, string) {
	t.Helper()
	apiserver.Need(t)
	c := apiserver.Client(t)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "catalog-"}}
	create(t, c, namespace)
	return c, namespace.Name
}

func create(t *testing.T, c client.Client, objects ...client.Object) {
	t.Helper()
	for _, o := range objects {
		if err := c.Create(t.Context(), o); err != nil {
			t.Fatalf("create %T %s: %v", o, o.GetName(), err)
		}
	}
}

func TestShelf(t *testing.T) {
	c, namespace := admin(t)
	shelf := SourceStore{Client: c, Namespace: namespace}
	ours := Source{Name: "ours", URL: "https://example.com/all-modules.yaml", Digest: digestOf(nil)}
	if err := shelf.Add(t.Context(), ours, false); err != nil {
		t.Fatal(err)
	}
	if err := shelf.Add(t.Context(), ours, false); err != nil {
		t.Errorf("the same again: %v", err)
	}
	other := Source{Name: "ours", URL: "oci://example.com/catalog:1", Key: testKeys(t)["ECDSA"].public}
	if err := shelf.Add(t.Context(), other, false); !apierrors.IsAlreadyExists(err) {
		t.Errorf("another one of its name: %v", err)
	}
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	if err := shelf.Note(t.Context(), "ours", 3, nil, now); err != nil {
		t.Fatal(err)
	}
	want := ours
	want.Kind, want.Checked, want.Read, want.Modules = HTTPS, &now, &now, 3
	if all, err := shelf.List(t.Context()); err != nil || cmp.Diff([]Source{want}, all) != "" {
		t.Errorf("%v %s", err, cmp.Diff([]Source{want}, all))
	}
	if err := shelf.Note(t.Context(), "ours", 0, errors.New(strings.Repeat("x", 5000)), now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if got, err := shelf.Get(t.Context(), "ours"); err != nil || len(got.Error) != maxTrouble {
		t.Errorf("%d characters of trouble, %v", len(got.Error), err)
	} else if got.Modules != 3 || !got.Read.Equal(now) || !got.Checked.Equal(now.Add(time.Hour)) {
		t.Errorf("what was read before is forgotten: %+v", got)
	}
	if err := shelf.Add(t.Context(), other, true); err != nil {
		t.Fatal(err)
	}
	other.Kind = OCI
	if got, err := shelf.Get(t.Context(), "ours"); err != nil || cmp.Diff(other, got) != "" {
		t.Errorf("replaced: %v %s", err, cmp.Diff(other, got))
	}
	if err := (SourceStore{Client: c, Namespace: namespace, DryRun: true}).Remove(t.Context(), "ours"); err != nil {
		t.Errorf("dry run: %v", err)
	}
	if err := shelf.Remove(t.Context(), "ours"); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		shelf.Remove(t.Context(), "ours"), shelf.Note(t.Context(), "ours", 0, nil, now), second(shelf.Get(t.Context(), "ours")),
	} {
		if !apierrors.IsNotFound(err) {
			t.Errorf("%v, want not found", err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestConfigMapsOfOthers(t *testing.T) {
	c, namespace := admin(t)
	shelf := SourceStore{Client: c, Namespace: namespace}
	stored := func(name, label string, data map[string]string) *corev1.ConfigMap {
		made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: data}
		if label != "" {
			made.Labels = map[string]string{LabelSource: label}
		}
		return made
	}
	create(t, c,
		stored("catalog-source-foreign", "", map[string]string{"url": "https://example.com/x"}),
		stored("catalog-source-broken", "broken", map[string]string{"url": "https://me:secret@example.com/x"}),
		stored("elsewhere", "moved", map[string]string{"url": "https://example.com/x"}),
	)
	if err := shelf.Remove(t.Context(), "foreign"); !apierrors.IsNotFound(err) {
		t.Errorf("another user's is removed: %v", err)
	}
	if err := shelf.Add(t.Context(), Source{Name: "foreign", URL: "https://example.com/x"}, true); !apierrors.IsNotFound(err) {
		t.Errorf("another user's is replaced: %v", err)
	}
	all, err := shelf.List(t.Context())
	if err != nil || len(all) != 2 {
		t.Fatalf("%v, %v", all, err)
	}
	for i, want := range []string{"login", "belongs into another one"} {
		if !strings.Contains(all[i].Error, want) || strings.Contains(fmt.Sprint(all[i]), "secret") {
			t.Errorf("%+v, want %q", all[i], want)
		}
	}
}

func TestHome(t *testing.T) {
	c, _ := admin(t)
	if _, err := Home(t.Context(), c); err == nil || !strings.Contains(err.Error(), "--namespace") {
		t.Errorf("without both: %v", err)
	}
	for _, name := range []string{v1beta2.RuntimeNamespace, v1beta2.DefaultNamespace} {
		create(t, c, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
		if home, err := Home(t.Context(), c); err != nil || home != name {
			t.Errorf("%s, %v, want %s", home, err, name)
		}
	}
}

// TestHome_ForbiddenIsNotAbsent: a namespace that may not be read is reported as forbidden, with the missing permission.
func TestHome_ForbiddenIsNotAbsent(t *testing.T) {
	apiserver.Need(t)
	_, err := Home(t.Context(), asUser(t, "stranger"))
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `cannot list resource "configmaps"`) {
		t.Errorf("got %v", err)
	}
}

func TestExport(t *testing.T) {
	c, namespace := admin(t)
	for _, text := range []string{notes("1.0.0"), notes("1.1.0")} {
		found, err := Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		template := found.Templates[0]
		template.Namespace = namespace
		template.Labels[v1beta2.LabelManagedBy] = v1beta2.ManagedByKyma
		template.Annotations[AnnotationSource] = "https://example.com/old"
		template.Annotations[corev1.LastAppliedConfigAnnotation] = "{}"
		create(t, c, &template)
	}
	old := &v1beta2.ModuleTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "ancient"}}
	old.Spec.Data = nil
	create(t, c, old, &v1beta2.ModuleReleaseMeta{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "notes"},
		Spec: v1beta2.ModuleReleaseMetaSpec{
			ModuleName: "notes", OCMComponentName: "example.com/module/notes",
			Channels: []v1beta2.ChannelVersion{{Channel: "regular", Version: "1.0.0"}},
		},
	})
	made, err := Export(t.Context(), c, ExportOptions{Namespace: namespace, Releases: true})
	if err != nil {
		t.Fatal(err)
	}
	files, want := fstest.MapFS{}, wholeFolder()
	for _, file := range made.Files {
		files[file.Path] = &fstest.MapFile{Data: file.Data}
	}
	if len(made.Skipped) != 1 || !strings.Contains(made.Skipped[0], "ancient") {
		t.Errorf("skipped %v", made.Skipped)
	}
	if found := Lint(t.Context(), files, Options{Content: links}); len(found) > 0 {
		t.Errorf("what was exported has findings: %v", found)
	}
	if diff := cmp.Diff(string(built(t, want).YAML), string(built(t, files).YAML)); diff != "" {
		t.Errorf("what was exported is another catalog: %s", diff)
	}
	only, err := Export(t.Context(), c, ExportOptions{Namespace: namespace, Modules: []string{"beacon"}})
	if err != nil || len(only.Files) != 0 {
		t.Errorf("%d files of a module that there is not, %v", len(only.Files), err)
	}
	found, digest, err := Fetch(t.Context(), Source{URL: "cluster://" + namespace}, Limits{Cluster: c})
	if err != nil || digest != "" || len(found.Modules()) == 0 {
		t.Errorf("as a source: %v %q %v", found.Modules(), digest, err)
	}
	if _, _, err := Fetch(t.Context(), Source{URL: "cluster://" + namespace}, Limits{}); err == nil {
		t.Error("a namespace of no cluster is read")
	}
}

func TestSourceStore_OneVersionInTwoNamespaces(t *testing.T) {
	c, first := admin(t)
	_, second := admin(t)
	for _, namespace := range []string{first, second} {
		create(t, c, &v1beta2.ModuleTemplate{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "twice-1.0.0"},
			Spec:       v1beta2.ModuleTemplateSpec{ModuleName: "twice", Version: "1.0.0"},
		})
	}
	_, err := Export(t.Context(), c, ExportOptions{Modules: []string{"twice"}})
	if err == nil || !strings.Contains(err.Error(), "--namespace") {
		t.Error(err)
	}
}
