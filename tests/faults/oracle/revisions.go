package oracle

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
)

// newestRevision returns what must be the same of a Manifest's history in two runs that end alike: the newest revision's version, whether
// it succeeded, and whether its content and template are those that the spec asks for. Content and hashes depend on the Scenario's names, so
// that those of two runs cannot be compared with each other.
//
// A fault decides about the rest: how many revisions there were, when each began and from which state, and what became of earlier ones. A
// spec that was written and replaced while no manager ran is in no history.
func newestRevision(object *unstructured.Unstructured) any {
	manifest := &v1beta2.Manifest{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, manifest); err != nil {
		return "cannot be read: " + err.Error()
	}
	known := manifest.Status.Revisions
	if len(known) == 0 {
		return "none"
	}
	newest, asked := known[len(known)-1], revision.Of(&manifest.Spec)
	return map[string]any{
		"newestVersion": newest.Version, "succeeded": newest.Outcome == v1beta2.RevisionSucceeded,
		"asksForContent": newest.Digest == asked.Digest, "asksForTemplate": newest.Template == asked.Template,
	}
}
