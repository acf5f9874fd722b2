package crdsafety_test

import (
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/pkg/crdsafety"
)

type objects = []*unstructured.Unstructured

// object returns a definition in the form in which a module contains it.
func object(t *testing.T, definition *apiextensionsv1.CustomResourceDefinition) *unstructured.Unstructured {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(definition)
	if err != nil {
		t.Fatal(err)
	}
	found := &unstructured.Unstructured{Object: content}
	found.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	return found
}

func TestCompareAll(t *testing.T) {
	text := object(t, widgets(t, "{type: string}"))
	number := object(t, widgets(t, "{type: integer}"))
	scoped := number.DeepCopy()
	scoped.Object["spec"].(map[string]any)["scope"] = "Cluster"
	broken := text.DeepCopy()
	broken.Object["spec"] = "nothing that can be read"
	renamed := number.DeepCopy()
	renamed.SetName("others.example.com")
	configMap := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
	configMap.SetName(text.GetName())

	const anyObject, everywhere = "that has an object of the kind", "in every cluster that has the definition"
	for name, c := range map[string]struct {
		before, after objects
		rules         []string
		where         string
	}{
		"an unchanged definition has no findings": {objects{text}, objects{text}, nil, anyObject},
		"a changed schema matters where objects exist": {objects{configMap, text}, objects{number, configMap},
			[]string{crdsafety.TypeChanged}, anyObject},
		"a changed scope matters everywhere": {objects{text}, objects{scoped},
			[]string{crdsafety.ScopeChanged, crdsafety.TypeChanged}, everywhere},
		"a new definition cannot break objects":         {objects{text}, objects{renamed}, nil, anyObject},
		"an object of another kind is not a definition": {objects{configMap}, objects{number}, nil, anyObject},
		"an unreadable definition may break everything": {objects{text}, objects{broken}, []string{crdsafety.UnknownChange}, everywhere},
	} {
		t.Run(name, func(t *testing.T) {
			findings := crdsafety.CompareAll(c.before, c.after)
			var rules []string
			for _, finding := range findings {
				rules = append(rules, finding.Rule)
			}
			slices.Sort(rules)
			if rules = slices.Compact(rules); !slices.Equal(rules, c.rules) {
				t.Errorf("the rules are %q", rules)
			}
			if where := crdsafety.RefusedWhere(findings); !strings.HasSuffix(where, c.where) {
				t.Errorf("refused %s", where)
			}
		})
	}
}
