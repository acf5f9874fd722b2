package permissions

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// analyseAPIServices reports which API groups are served by programs in place of the API server.
func (b *builder) analyseAPIServices() {
	for _, object := range b.ofKind("apiregistration.k8s.io", "APIService") {
		spec, _ := object.Object["spec"].(map[string]any)
		group, groupOK := spec["group"].(string)
		if spec == nil || spec["group"] != nil && !groupOK {
			b.unreadable(object, "which API group it takes over is unknown")
			continue
		}
		stripped, _ := strip(spec).(map[string]any)
		hash := inventory.ContentHash(&unstructured.Unstructured{Object: stripped})
		b.out.APIServices = append(b.out.APIServices, Named{object.GetName(), hash})
		service, _ := spec["service"].(map[string]any)
		if service == nil {
			continue // the API server serves it itself
		}
		b.reportAPIService(object, group, service)
		if skips, _ := spec["insecureSkipTLSVerify"].(bool); skips {
			b.add(Finding{
				Key: joinKey("apiservice", escapes.Replace(group), "insecure"), Category: CategoryAPIService, Severity: Medium, Rule: place(object),
				Sentence: "Lets the API server forward requests for " + groupText(group) + " without checking who answers.",
			})
		}
	}
	b.out.APIServices = sortNamed(b.out.APIServices)
}

func (b *builder) reportAPIService(object *unstructured.Unstructured, group string, service map[string]any) {
	name, _ := service["name"].(string)
	namespace, _ := service["namespace"].(string)
	severity := Medium
	_, builtin := inventory.BuiltinScope(schema.GroupKind{Group: group})
	switch {
	case builtin:
		severity = Critical
	case strings.HasSuffix(group, ".k8s.io"):
		severity = High
	}
	b.add(Finding{
		Key: joinKey("apiservice", escapes.Replace(group)), Category: CategoryAPIService, Severity: severity, Rule: place(object),
		Subject:  "Service " + namespace + "/" + name,
		Sentence: "Answers all requests for " + groupText(group) + " in place of the API server, and sees who asks.",
	})
}

func groupText(group string) string {
	if group == "" {
		return "the core API"
	}
	return "API group " + short(group)
}
