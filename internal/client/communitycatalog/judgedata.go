package communitycatalog

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/modulelint"
)

// data checks the default custom resource by itself.
func (l *linter) data(e *entry) {
	data := e.template.Spec.Data
	if data == nil {
		return
	}
	if data.GetName() == "" {
		l.err(e, RuleDefault, "spec.data.metadata.name", "is missing", "name the default custom resource")
	}
	if data.GroupVersionKind().Group == "" {
		l.err(e, RuleDefault, "spec.data.apiVersion", "is none of a custom resource", "write GROUP/VERSION of the module's own kind")
	}
	if _, there := data.Object["status"]; there {
		l.warn(e, RuleDefault, "spec.data.status", "is the operator's to write", "remove it")
	}
	l.images(e, "spec.data", data.Object)
	scope, there := e.template.Annotations[v1beta2.AnnotationIsClusterScoped]
	field := "metadata.annotations[" + v1beta2.AnnotationIsClusterScoped + "]"
	whole, err := strconv.ParseBool(scope)
	switch {
	case there && err != nil:
		l.err(e, RuleScope, field, "is neither true nor false", `write "true" or "false"`)
	case whole && data.GetNamespace() != "":
		l.err(e, RuleScope, field, "says that the default custom resource has no namespace, and it has one", "correct one of the two")
	}
}

// images warns of images in the default custom resource that name no version. Only fields whose name ends in image are images.
func (l *linter) images(e *entry, field string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			text, isText := value[key].(string)
			if isText && strings.HasSuffix(strings.ToLower(key), "image") && unpinned(text) {
				l.warn(e, modulelint.RuleImage, field+"."+key, fmt.Sprintf("%q names no version: what runs changes by itself", short(text)),
					"name a tag other than latest, or a digest")
			}
			l.images(e, field+"."+key, value[key])
		}
	case []any:
		for i, one := range value {
			l.images(e, fmt.Sprintf("%s[%d]", field, i), one)
		}
	}
}

// unpinned reports whether a reference has a tag that changes.
func unpinned(image string) bool {
	if strings.Contains(image, "@") {
		return false
	}
	_, tag, _ := strings.Cut(image[strings.LastIndexByte(image, '/')+1:], ":")
	return tag == "latest" || tag == "main"
}

// clusterScoped returns the scope of a kind by its definition; known is false when there is none.
func clusterScoped(objects []*unstructured.Unstructured, of *unstructured.Unstructured) (scoped, known bool) {
	kind := of.GroupVersionKind()
	for _, object := range objects {
		if object.GetKind() != "CustomResourceDefinition" {
			continue
		}
		group, _, _ := unstructured.NestedString(object.Object, "spec", "group")
		name, _, _ := unstructured.NestedString(object.Object, "spec", "names", "kind")
		if group == kind.Group && name == kind.Kind {
			scope, _, _ := unstructured.NestedString(object.Object, "spec", "scope")
			return scope == "Cluster", true
		}
	}
	return false, false
}
