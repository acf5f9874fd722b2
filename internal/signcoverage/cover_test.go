package signcoverage

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

var (
	signedDigest = "sha256:" + strings.Repeat("1", 64)
	pinnedDigest = "sha256:" + strings.Repeat("2", 64)
	otherDigest  = "sha256:" + strings.Repeat("e", 64)
)

func covered() *descriptor.Coverage {
	return &descriptor.Coverage{Images: []descriptor.CoveredImage{
		{Resource: "operator", Version: "1.0.0", Digest: signedDigest, Reference: "example.com/operator:1.0.0@" + signedDigest},
		{Resource: "moved", Version: "1.0.0", Digest: otherDigest[:len(otherDigest)-1] + "0", Unbound: "example.com/tool:1"},
	}}
}

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	made := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &made.Object); err != nil {
		t.Fatal(err)
	}
	return made
}

func pod(t *testing.T, spec string) *unstructured.Unstructured {
	return object(t, "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: b}, spec: "+spec+"}")
}

func TestImages(t *testing.T) {
	for name, c := range map[string]struct {
		object    *unstructured.Unstructured
		localized []string
		values    bool
		says      string
	}{
		"an image by tag takes the digest of its resource":   {pod(t, `{containers: [{image: "example.com/operator:1.0.0"}]}`), covered().Localized(), false, ""},
		"a digest in the content is signed with it":          {pod(t, `{containers: [{image: "x.io/a:1@`+pinnedDigest+`"}]}`), nil, false, ""},
		"a digest in the content does not count with values": {pod(t, `{containers: [{image: "x.io/a:1@`+pinnedDigest+`"}]}`), nil, true, "stands neither"},
		"a digest of a resource stays with values":           {pod(t, `{containers: [{image: "x.io/a:1@`+signedDigest+`"}]}`), nil, true, ""},
		"an image by tag that no resource names":             {pod(t, `{containers: [{image: "x.io/a:1"}]}`), covered().Localized(), false, "x.io/a:1, which has no digest"},
		"an image without a tag":                             {pod(t, `{initContainers: [{image: "a"}]}`), nil, false, "image a, which has no digest"},
		"an empty image":                                     {pod(t, `{containers: [{image: ""}]}`), nil, false, "which has no digest"},
		"an image of an ephemeral container":                 {pod(t, `{ephemeralContainers: [{image: "a:1"}]}`), nil, false, "image a:1"},
		"a mounted image":                                    {pod(t, `{volumes: [{name: v, image: {reference: "a:1"}}]}`), nil, false, "image a:1"},
		"a resource whose reference is of another image":     {pod(t, `{containers: [{image: "example.com/tool:1"}]}`), covered().Localized(), false, "reference of resource moved is not signed"},
		"a pod in a custom resource, which an operator runs": {object(t, `{apiVersion: argo/v1, kind: Rollout, metadata: {name: a}, spec: {deep: {template: {spec: {containers: [{image: "a:1"}]}}}}}`), nil, false, "image a:1"},
		"a definition that describes containers is no pod":   {object(t, `{apiVersion: v1, kind: Thing, metadata: {name: a}, spec: {properties: {containers: {type: array, items: {properties: {image: {type: string}}}}}}}`), nil, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := Images(covered(), []*unstructured.Unstructured{c.object}, c.localized, !c.values)
			if err != nil {
				t.Fatal(err)
			}
			if (len(found) == 0) != (c.says == "") || len(found) > 0 && !strings.Contains(found[0].String(), c.says) {
				t.Errorf("got %v, want %q", found, c.says)
			}
		})
	}
}

func TestLocalized(t *testing.T) {
	for name, c := range map[string]struct {
		image string
		bad   bool
	}{
		"a mirror":             {"mirror.example.com/a/operator:1.0.0@" + signedDigest, false},
		"another digest":       {"example.com/operator:1.0.0@" + otherDigest, true},
		"no digest":            {"example.com/operator:1.0.0", true},
		"under another name":   {"example.com/sidecar:1.0.0@" + signedDigest, true},
		"under another tag":    {"example.com/operator:2.0.0@" + signedDigest, true},
		"what is no reference": {"@" + signedDigest, true},
	} {
		if found := Localized(covered(), []string{c.image}); (len(found) > 0) != c.bad {
			t.Errorf("%s: %v", name, found)
		}
	}
}

func TestDefaultCR(t *testing.T) {
	signed := object(t, "{apiVersion: a.io/v1, kind: A, metadata: {name: default, labels: {}}, spec: {size: 1, list: [1, 2.5]}}")
	definition := object(t, "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: as.a.io}, spec: {group: a.io, names: {kind: A}}}")
	change := func(fields ...string) *unstructured.Unstructured {
		changed := signed.DeepCopy()
		if err := unstructured.SetNestedField(changed.Object, fields[0], fields[1:]...); err != nil {
			t.Fatal(err)
		}
		return changed
	}
	for name, c := range map[string]struct {
		signed, asked *unstructured.Unstructured
		free, bad     bool
	}{
		"none is requested":                           {signed, nil, false, false},
		"the same":                                    {signed, signed.DeepCopy(), false, false},
		"in the namespace of modules":                 {signed, change(v1beta2.RuntimeNamespace, "metadata", "namespace"), false, false},
		"in another namespace":                        {signed, change("kube-system", "metadata", "namespace"), false, true},
		"with a status, which does not count":         {signed, change("Ready", "status", "state"), false, false},
		"with another name":                           {signed, change("other", "metadata", "name"), false, true},
		"with an additional field":                    {signed, change("evil", "spec", "image"), false, true},
		"with an additional label":                    {signed, change("evil", "metadata", "labels", "a"), false, true},
		"with a finalizer":                            {signed, func() *unstructured.Unstructured { o := signed.DeepCopy(); o.SetFinalizers([]string{"a/b"}); return o }(), false, true},
		"of another kind":                             {signed, change("B", "kind"), false, true},
		"and the component has none":                  {nil, signed, false, true},
		"free, of a kind that the content defines":    {signed, change("evil", "spec", "image"), true, false},
		"free, of a kind that it does not":            {signed, change("B", "kind"), true, true},
		"free, and the same as the signed one":        {signed, signed.DeepCopy(), true, false},
		"free, of the same kind in a different group": {signed, change("b.io/v1", "apiVersion"), true, true},
	} {
		found := DefaultCR(c.signed, c.asked, []*unstructured.Unstructured{definition}, c.free)
		if (len(found) > 0) != c.bad {
			t.Errorf("%s: %v", name, found)
		}
	}
}

func TestManagerAndCRDChanges(t *testing.T) {
	template := &v1beta2.ModuleTemplate{}
	template.Spec.AllowCRDChanges = []v1beta2.CRDRule{"FieldRemoved"}
	template.Spec.Manager = &v1beta2.Manager{GroupVersionKind: metav1.GroupVersionKind{Kind: "Deployment"}, Name: "elsewhere"}
	objects := []*unstructured.Unstructured{pod(t, "{}")}
	if found := Manager(template, objects, template.Spec.Manager.DeepCopy()); len(found) > 0 {
		t.Errorf("the one of the signed template: %v", found)
	}
	if found := Manager(template, objects, &v1beta2.Manager{GroupVersionKind: metav1.GroupVersionKind{Version: "v1", Kind: "Pod"}, Name: "a"}); len(found) > 0 {
		t.Errorf("one of the content: %v", found)
	}
	if found := Manager(template, objects, &v1beta2.Manager{GroupVersionKind: metav1.GroupVersionKind{Kind: "Pod"}, Name: "b"}); len(found) != 1 {
		t.Errorf("one of neither: %v", found)
	}
	if found := CRDChanges(template, []v1beta2.CRDRule{"FieldRemoved", "ScopeChanged"}); len(found) != 1 || !strings.Contains(found[0].What, "ScopeChanged") {
		t.Errorf("rules: %v", found)
	}
}

func TestRelease(t *testing.T) {
	template := &v1beta2.ModuleTemplate{}
	template.Spec.ModuleName = "lamp-in-the-template"
	for name, c := range map[string]struct {
		template *v1beta2.ModuleTemplate
		release  string
		bad      bool
	}{
		"the last part of the component's name":            {&v1beta2.ModuleTemplate{}, "lamp", false},
		"the module's name in the template":                {template, "lamp-in-the-template", false},
		"another name":                                     {template, "kube-proxy", true},
		"another name, and no template":                    {&v1beta2.ModuleTemplate{}, "lamp-in-the-template", true},
		"the component's whole name":                       {template, "example.com/module/lamp", true},
		"a name that only has the module's name as prefix": {template, "lamp-2", true},
	} {
		if found := Release("example.com/module/lamp", c.template, c.release); (len(found) > 0) != c.bad {
			t.Errorf("%s: %v", name, found)
		}
	}
}
