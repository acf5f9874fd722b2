package module

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// shop is what a hub offers, with the Kyma that views it.
type shop struct {
	kyma       *v1beta2.Kyma
	releases   map[string]*v1beta2.ModuleReleaseMeta
	templates  map[string]*v1beta2.ModuleTemplate
	restricted []string
}

// newShop returns a shop with version 1.0.0 in channel regular and 2.0.0 in fast.
func newShop(edits ...func(*shop)) *shop {
	s := &shop{
		kyma:     newKyma(),
		releases: map[string]*v1beta2.ModuleReleaseMeta{operator: newRelease(operator, "regular", v1, "fast", v2)},
		templates: map[string]*v1beta2.ModuleTemplate{
			operator + "-" + v1: newTemplate(operator, v1), operator + "-" + v2: newTemplate(operator, v2),
		},
	}
	for _, edit := range edits {
		edit(s)
	}
	return s
}

func (s *shop) catalog() []Entry { return Catalog(s.kyma, s.releases, s.templates, s.restricted) }

func (s *shop) visibility() string { return Visibility(s.kyma, s.releases, s.restricted) }

// inWords returns a catalog as text: "template-operator[regular=1.0.0 fast=2.0.0] template-operator-1.0.0 ...".
func inWords(entries []Entry) string {
	var words []string
	for _, entry := range entries {
		word := entry.Object.GetName()
		if entry.Object.GetKind() == kindRelease {
			var channels []string
			list, _, _ := unstructured.NestedSlice(entry.Object.Object, "spec", "channels")
			for _, channel := range list {
				fields := channel.(map[string]any)
				channels = append(channels, fmt.Sprintf("%v=%v", fields["channel"], fields["version"]))
			}
			word += "[" + strings.Join(channels, " ") + "]"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

const everything = "template-operator[regular=1.0.0 fast=2.0.0] template-operator-1.0.0 template-operator-2.0.0"

func TestCatalogIsWhatAKymaMaySee(t *testing.T) {
	release := func(edit func(*v1beta2.ModuleReleaseMeta)) func(*shop) {
		return func(s *shop) { edit(s.releases[operator]) }
	}
	first := func(edit func(*v1beta2.ModuleTemplate)) func(*shop) {
		return func(s *shop) { edit(s.templates[operator+"-"+v1]) }
	}
	const second = "template-operator[fast=2.0.0] template-operator-2.0.0"
	for _, test := range []struct {
		name string
		edit func(*shop)
		want string
	}{
		{"every channel and its template", func(*shop) {}, everything},
		{"a version in two channels has one template", release(func(r *v1beta2.ModuleReleaseMeta) { r.Spec.Channels[1].Version = v1 }),
			"template-operator[regular=1.0.0 fast=1.0.0] template-operator-1.0.0"},
		{"a template that no channel names is not shown", release(func(r *v1beta2.ModuleReleaseMeta) { r.Spec.Channels = r.Spec.Channels[1:] }), second},
		{"such a template is not shown when the Kyma pins its version, either", func(s *shop) {
			s.releases[operator].Spec.Channels = s.releases[operator].Spec.Channels[1:]
			s.kyma.Spec.Modules = []v1beta2.Module{{Name: operator, Version: v1}}
		}, second},
		{"a channel whose template is missing is not shown", func(s *shop) { delete(s.templates, operator+"-"+v1) }, second},
		{"a channel whose template is being deleted is not shown",
			first(func(m *v1beta2.ModuleTemplate) { m.DeletionTimestamp = noon.DeepCopy() }), second},
		{"a channel whose template is mandatory is not shown", first(func(m *v1beta2.ModuleTemplate) { m.Spec.Mandatory = true }), second},
		{"a channel whose template belongs to another module is not shown", first(func(m *v1beta2.ModuleTemplate) { m.Spec.ModuleName = "other" }), second},
		{"a release with no channel left is not shown", func(s *shop) { s.templates = nil }, ""},
		{"a mandatory release is not shown", release(func(r *v1beta2.ModuleReleaseMeta) {
			r.Spec.Channels, r.Spec.Mandatory = nil, &v1beta2.Mandatory{Version: v1}
		}), ""},
		{"a release that is being deleted is not shown",
			release(func(r *v1beta2.ModuleReleaseMeta) { r.DeletionTimestamp = noon.DeepCopy() }), ""},
		{"a release without a component is shown, as in upstream",
			release(func(r *v1beta2.ModuleReleaseMeta) { r.Spec.OCMComponentName = "" }), everything},
		{"releases come before templates, each by name", func(s *shop) {
			s.releases["another"] = newRelease("another", "regular", v1)
			s.templates["another-"+v1] = newTemplate("another", v1)
		}, "another[regular=1.0.0] template-operator[regular=1.0.0 fast=2.0.0] another-1.0.0 template-operator-1.0.0 template-operator-2.0.0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := inWords(newShop(test.edit).catalog()); got != test.want {
				t.Errorf("got %q\nwant %q", got, test.want)
			}
		})
	}
}

// TestCatalogShowsBetaAndInternalToThoseWhoAreIt covers all labels of Kyma and template, and one value in capitals.
func TestCatalogShowsBetaAndInternalToThoseWhoAreIt(t *testing.T) {
	type marks struct{ beta, internal string }
	set := func(m marks) map[string]string {
		labels := map[string]string{v1beta2.LabelBeta: m.beta, v1beta2.LabelInternal: m.internal}
		maps.DeleteFunc(labels, func(_, value string) bool { return value == "" })
		return labels
	}
	all := []marks{{"", ""}, {"true", ""}, {"", "true"}, {"true", "true"}}
	count := 0
	check := func(name string, kyma, template marks, want bool) {
		count++
		t.Run(name, func(t *testing.T) {
			s := newShop(func(s *shop) {
				s.kyma.Labels = set(kyma)
				s.templates[operator+"-"+v1].Labels = set(template)
				s.templates[operator+"-"+v2].Labels = set(template)
			})
			if got := len(s.catalog()) > 0; got != want {
				t.Errorf("shown is %v, want %v", got, want)
			}
		})
	}
	for _, kyma := range all {
		for _, template := range all {
			want := (template.beta == "" || kyma.beta != "") && (template.internal == "" || kyma.internal != "")
			check(fmt.Sprintf("a Kyma with %+v and a template with %+v", kyma, template), kyma, template, want)
		}
	}
	check("values may be in capitals", marks{"True", ""}, marks{"TRUE", ""}, true)
	if count != 17 {
		t.Errorf("%d combinations", count)
	}
}

// TestCatalogFollowsSelectorAndLabels takes one restricted release through every change that its publisher and the Kyma's operator can
// make.
func TestCatalogFollowsSelectorAndLabels(t *testing.T) {
	s := newShop(func(s *shop) { s.restricted = []string{operator} })
	selects := func(labels map[string]string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: labels}
	}
	accounts := map[string]string{"account": "a"}
	for _, step := range []struct {
		name  string
		do    func()
		shown bool
	}{
		{"restricted without a selector: no Kyma sees it", func() {}, false},
		{"a selector that does not match", func() { s.releases[operator].Spec.KymaSelector = selects(accounts) }, false},
		{"the Kyma gets the label", func() { s.kyma.Labels = map[string]string{"account": "a"} }, true},
		{"the Kyma loses the label", func() { s.kyma.Labels = nil }, false},
		{"the Kyma gets it again", func() { s.kyma.Labels = map[string]string{"account": "a"} }, true},
		{"the selector asks for another value", func() { s.releases[operator].Spec.KymaSelector = selects(map[string]string{"account": "b"}) }, false},
		{"the Kyma follows", func() { s.kyma.Labels = map[string]string{"account": "b"} }, true},
		{"an empty selector selects no Kyma", func() { s.releases[operator].Spec.KymaSelector = selects(nil) }, false},
		{"the selector goes", func() { s.releases[operator].Spec.KymaSelector = nil }, false},
		{"the operator lifts the restriction", func() { s.restricted = nil }, true},
		{"a selector without a restriction hides it", func() { s.releases[operator].Spec.KymaSelector = selects(map[string]string{"account": "b"}) }, false},
	} {
		step.do()
		if got := inWords(s.catalog()); got != map[bool]string{true: everything}[step.shown] {
			t.Errorf("%s: got %q", step.name, got)
		}
	}
}

func TestCatalogEntriesAreReadyForTheRuntime(t *testing.T) {
	s := newShop(func(s *shop) {
		template := s.templates[operator+"-"+v1]
		template.ObjectMeta = metav1.ObjectMeta{
			Name: template.Name, Namespace: namespace, UID: "u", ResourceVersion: "7", Generation: 3, Finalizers: []string{"a/b"},
			Labels:          map[string]string{"team": "x", v1beta2.LabelManagedBy: "somebody"},
			Annotations:     map[string]string{lastApplied: "{}", v1beta2.AnnotationRollout: "uid", "doc": "text"},
			OwnerReferences: []metav1.OwnerReference{{Name: "o"}},
		}
		template.Spec.Descriptor = runtime.RawExtension{Raw: []byte(`{"a":1}`)}
	})
	before := s.templates[operator+"-"+v1].DeepCopy()
	entries := s.catalog()
	want := map[string]any{
		"apiVersion": "operator.kyma-project.io/v1beta2", "kind": "ModuleTemplate",
		"metadata": map[string]any{
			"name": operator + "-" + v1, "namespace": "kyma-system",
			"labels":      map[string]any{"team": "x", v1beta2.LabelManagedBy: "kyma"},
			"annotations": map[string]any{"doc": "text"},
		},
		"spec": map[string]any{
			"moduleName": operator, "version": v1, "descriptor": map[string]any{"a": int64(1)},
			"data": map[string]any{
				"apiVersion": "operator.kyma-project.io/v1alpha1", "kind": "Sample",
				"metadata": map[string]any{"name": "sample"}, "spec": map[string]any{"size": int64(3)},
			},
			"manager": map[string]any{"group": "apps", "version": "v1", "kind": "Deployment", "name": operator, "namespace": "kyma-system"},
		},
	}
	if diff := cmp.Diff(want, entries[1].Object.Object); diff != "" {
		t.Errorf("entry (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, s.templates[operator+"-"+v1]); diff != "" {
		t.Errorf("the hub's template was changed:\n%s", diff)
	}
	if _, found := entries[2].Object.Object["spec"].(map[string]any)["descriptor"]; found {
		t.Error("a descriptor that is not there is written as null")
	}
}

// TestCatalogIsTheSameForAnEqualVisibility checks Visibility, by which catalogs are shared, against Catalog.
func TestCatalogIsTheSameForAnEqualVisibility(t *testing.T) {
	offers := newShop(func(s *shop) {
		s.restricted = []string{"secret"}
		s.releases["secret"] = newRelease("secret", "regular", v1)
		s.releases["secret"].Spec.KymaSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"account": "a"}}
		s.templates["secret-"+v1] = newTemplate("secret", v1)
		s.templates[operator+"-"+v1].Labels = map[string]string{v1beta2.LabelBeta: "true"}
		s.templates[operator+"-"+v2].Labels = map[string]string{v1beta2.LabelInternal: "true"}
	})
	seen, views := map[string]string{}, map[string]bool{}
	for i := range 64 {
		labels := map[string]string{}
		for bit, pair := range []string{"account=a", "account=b", "other=x", v1beta2.LabelBeta + "=true", v1beta2.LabelInternal + "=TRUE",
			v1beta2.LabelBeta + "=false"} {
			if i&(1<<bit) != 0 {
				key, value, _ := strings.Cut(pair, "=")
				labels[key] = value
			}
		}
		offers.kyma.Labels = labels
		key, got := offers.visibility(), inWords(offers.catalog())
		if before, ok := seen[key]; ok && before != got {
			t.Errorf("visibility %q stands for %q and for %q", key, before, got)
		}
		seen[key], views[got] = got, true
	}
	if len(seen) != 8 || len(views) != 8 {
		t.Errorf("%d visibilities and %d catalogs: %v", len(seen), len(views), slices.Sorted(maps.Keys(seen)))
	}
}
