package modulelint

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/diagnostics"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// maxUnplaced bounds how many objects without a namespace are named.
const maxUnplaced = 3

// namespaces warns of objects that would end up in namespace default because no namespace is set. In a chart these include the objects that
// use the namespace of the release.
func (l *linter) namespaces(objects []*unstructured.Unstructured) {
	if l.Module.Namespace != "" || !l.selects(RuleNoNamespace) {
		return
	}
	scope := render.FirstKnown(render.Scopes(objects).Scope, render.BuiltinScope)
	var unplaced []string
	for _, object := range objects {
		namespaced, known := scope(object.GroupVersionKind())
		if !known || !namespaced || object.GetNamespace() != "" && (!l.Chart || object.GetNamespace() != render.DefaultNamespace) {
			continue
		}
		id := inventory.IDOf(object)
		id.Namespace = ""
		unplaced = append(unplaced, id.String())
	}
	if len(unplaced) == 0 {
		return
	}
	named := strings.Join(unplaced[:min(len(unplaced), maxUnplaced)], ", ")
	if more := len(unplaced) - maxUnplaced; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	l.inConfig(RuleNoNamespace, diagnostics.Warning, "manifest",
		fmt.Sprintf("names no namespace for %s: a Kyma installs that into namespace %s", named, render.DefaultNamespace),
		"set targetNamespace, or write metadata.namespace into the manifest")
}
