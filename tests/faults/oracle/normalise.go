package oracle

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/faults/operation"
)

// Patterns of values that differ from run to run.
var (
	looksLikeTime     = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	looksLikeUID      = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	looksLikeDigest   = regexp.MustCompile(`[0-9a-f]{64}`)
	looksLikeManifest = regexp.MustCompile(`(kyma-SCENE-[a-z]+-SCENE)-\d+`)
	looksLikeServer   = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	// What was wrong with a version depends on the fault: it may have been refused before its own fault showed.
	looksLikeCause = regexp.MustCompile(`failed here \(.*?\) and `)
	// An object may have been created or applied: after a crash it exists already. Its fields are compared separately.
	looksLikeFields = regexp.MustCompile(`^[ua]:[0-9a-f]{16}$`)
)

// hashes are fields whose value depends on names; only whether they are set is compared.
var hashes = []string{"uid", "hash", "digest", "resourceVersion", "generation", "resourceGeneration"}

// normalise removes everything from an object that may differ between two runs with the same end state.
func normalise(s *operation.Scenario, object *unstructured.Unstructured) any {
	object = object.DeepCopy()
	metadata, _ := object.Object["metadata"].(map[string]any)
	status, _ := object.Object["status"].(map[string]any)
	if object.GetKind() == "Manifest" && status["revisions"] != nil { // while it can still be read as a Manifest
		status["revisions"] = newestRevision(object)
	}
	if observed, found := status["observedGeneration"]; found {
		if status["observedGeneration"] = "outdated"; observed == metadata["generation"] {
			status["observedGeneration"] = "current"
		}
	}
	conditions, _ := status["conditions"].([]any)
	for _, condition := range conditions { // its generation depends on what was recreated
		if fields, is := condition.(map[string]any); is {
			delete(fields, "observedGeneration")
		}
	}
	metadata["managers"] = managers(object)
	annotations, _ := metadata["annotations"].(map[string]any)
	if annotations[v1beta2.AnnotationRollbackMessage] != nil {
		annotations[v1beta2.AnnotationRollbackMessage] = "CAUSE"
	}
	// The plan that a Manifest was created with counts until it has a status, and then stays or goes with the next write of the spec. It names
	// the scene in packed text, and where the content was not read in time there is none.
	delete(annotations, v1beta2.AnnotationPlan)
	for _, field := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink"} {
		delete(metadata, field)
	}
	if object.GetKind() == "Secret" {
		object.Object["data"] = "is not looked at"
	}
	if object.GetKind() == "CustomResourceDefinition" {
		delete(object.Object, "status")
	}
	if strings.HasPrefix(object.GetAPIVersion(), "testkit.kyma-project.io/") { // its labels are those of the version that created it
		delete(metadata, "labels")
	}
	if object.GetKind() == "Kyma" { // the last operation may differ
		delete(status, "lastOperation")
	}
	return plain(s, object.Object)
}

// managers returns the field managers of an object, each once.
func managers(object *unstructured.Unstructured) []any {
	var names []string
	for _, entry := range object.GetManagedFields() {
		name := entry.Manager
		if entry.Subresource != "" {
			name += "/" + entry.Subresource
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	sorted := make([]any, 0, len(names))
	for _, name := range names {
		sorted = append(sorted, name)
	}
	return sorted
}

func plain(s *operation.Scenario, value any) any {
	switch v := value.(type) {
	case string:
		return rename(s, v)
	case map[string]any:
		out := map[string]any{}
		for key, inner := range v {
			if slices.Contains(hashes, key) && inner != "" && inner != nil {
				out[key] = "SET"
				continue
			}
			out[rename(s, key)] = plain(s, inner)
		}
		return out
	case []any:
		out := make([]any, 0, len(v))
		for _, inner := range v {
			out = append(out, plain(s, inner))
		}
		sortNamed(out)
		return out
	}
	return value
}

// sortNamed sorts lists of named entries: the order in which modules became ready does not matter.
func sortNamed(list []any) {
	key := func(entry any) string { // "" for an entry without a name
		fields, _ := entry.(map[string]any)
		if fields["name"] == nil && fields["type"] == nil {
			return ""
		}
		return fmt.Sprint(fields["kind"], fields["namespace"], fields["name"], fields["type"])
	}
	if slices.ContainsFunc(list, func(entry any) bool { return key(entry) == "" }) {
		return
	}
	slices.SortStableFunc(list, func(a, b any) int { return strings.Compare(key(a), key(b)) })
}

// rename replaces the Scenario's ID, times, UIDs and digests in a text.
func rename(s *operation.Scenario, text string) string {
	text = strings.ReplaceAll(text, s.ID, "SCENE")
	text = strings.ReplaceAll(text, strings.ToUpper(s.ID[:1])+s.ID[1:], "SCENE")
	text = looksLikeManifest.ReplaceAllString(text, "$1-HASH")
	text = looksLikeTime.ReplaceAllString(text, "TIME")
	text = looksLikeUID.ReplaceAllString(text, "UID")
	text = looksLikeServer.ReplaceAllString(text, "SERVER")
	text = looksLikeCause.ReplaceAllString(text, "failed here (CAUSE) and ")
	text = looksLikeFields.ReplaceAllString(text, "FIELDS")
	return looksLikeDigest.ReplaceAllString(text, "DIGEST")
}
