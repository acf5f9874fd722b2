package modulestatus

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func describing(annotations map[string]string, descriptor string) *v1beta2.ModuleTemplate {
	t := &v1beta2.ModuleTemplate{}
	t.Annotations = annotations
	t.Spec.Descriptor = runtime.RawExtension{Raw: []byte(descriptor)}
	return t
}

func TestDescriptionOf(t *testing.T) {
	const component = `{"component":{"labels":[{"name":"org.opencontainers.image.description","value":"Of OCI."},` +
		`{"name":"operator.kyma-project.io/description","value":"Of the component."}]}}`
	for name, c := range map[string]struct {
		annotations      map[string]string
		descriptor, want string
	}{
		"nothing": {nil, ``, ""},
		"own annotation": {
			map[string]string{v1beta2.AnnotationDescription: "Ours.", annotationKubernetesDescription: "Theirs."}, component, "Ours.",
		},
		"well-known":        {map[string]string{annotationKubernetesDescription: "Theirs."}, component, "Theirs."},
		"blank annotation":  {map[string]string{v1beta2.AnnotationDescription: " \n "}, component, "Of the component."},
		"second schema":     {nil, `{"metadata":{"labels":[{"name":"kubernetes.io/description","value":"Of v3."}]}}`, "Of v3."},
		"label is no text":  {nil, `{"component":{"labels":[{"name":"kubernetes.io/description","value":{"a":1}}]}}`, ""},
		"no JSON":           {nil, `{`, ""},
		"several lines":     {map[string]string{v1beta2.AnnotationDescription: "One\n\ttwo.\r\n"}, ``, "One two."},
		"terminal, bidi":    {map[string]string{v1beta2.AnnotationDescription: "a\x1b[31mb\u202ec"}, ``, "a[31mbc"},
		"markup stays text": {map[string]string{v1beta2.AnnotationDescription: "<b>x</b>"}, ``, "<b>x</b>"},
		"longer than a line": {
			map[string]string{v1beta2.AnnotationDescription: strings.Repeat("é", 600)}, ``, strings.Repeat("é", 499) + "…",
		},
	} {
		if got := DescriptionOf(describing(c.annotations, c.descriptor)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func FuzzDescriptionOf(f *testing.F) {
	f.Add("text", `{"component":{"labels":[{"name":"kubernetes.io/description","value":"x"}]}}`)
	f.Add("a\x00\u2028b\xff", `[]`)
	f.Fuzz(func(t *testing.T, text, descriptor string) {
		got := DescriptionOf(describing(map[string]string{v1beta2.AnnotationDescription: text}, descriptor))
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > mostDescription || strings.ContainsFunc(got, unicode.IsControl) {
			t.Errorf("%q", got)
		}
		if got != plain(got) {
			t.Errorf("%q becomes %q", got, plain(got))
		}
	})
}

func TestCatalog_TheNewestDescriptionCounts(t *testing.T) {
	older, newer := describing(map[string]string{v1beta2.AnnotationDescription: "Old."}, ""), describing(nil, "")
	for i, template := range []*v1beta2.ModuleTemplate{older, newer} {
		version := "1." + string(rune('0'+i)) + ".0"
		template.Name, template.Spec.ModuleName, template.Spec.Version = "notes-"+version, "notes", version
	}
	offers := Catalog(Inputs{Templates: []v1beta2.ModuleTemplate{*older, *newer}})
	if len(offers) != 1 || offers[0].Description != "Old." {
		t.Fatalf("%+v", offers)
	}
	if found := Search(offers, "OLD."); len(found) != 1 {
		t.Error("the search does not find a word of the description")
	}
}
