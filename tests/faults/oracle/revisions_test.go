package oracle

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
	"github.com/kyma-project/lifecycle-manager/tests/faults/operation"
)

// withRevisions returns a Manifest of a Scenario that was upgraded to 1.1.0, as the hub has it.
func withRevisions(t *testing.T, scenario string, change func(*v1beta2.Manifest)) *unstructured.Unstructured {
	t.Helper()
	manifest := &v1beta2.Manifest{
		TypeMeta: metav1.TypeMeta{APIVersion: v1beta2.GroupVersion.String(), Kind: "Manifest"},
		Spec: v1beta2.ManifestSpec{Version: "1.1.0", TargetNamespace: scenario, Install: v1beta2.InstallInfo{
			Name: "raw-manifest", Source: runtime.RawExtension{Raw: []byte(`{"ref":"` + scenario + `"}`)},
		}},
		Status: v1beta2.ManifestStatus{State: v1beta2.StateReady},
	}
	first := revision.Key{Version: "1.0.0", Digest: "sha256:" + strings.Repeat("a", 64)}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	known := revision.End(revision.Begin(nil, first, "", "", now), v1beta2.RevisionSucceeded, "")
	known = revision.Begin(known, revision.Of(&manifest.Spec), v1beta2.StateReady, "", now)
	manifest.Status.Revisions = revision.End(known, v1beta2.RevisionSucceeded, "")
	change(manifest)
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(manifest)
	if err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: fields}
}

func TestNormalise_OfRevisionsOnlyWhatIsAskedForCounts(t *testing.T) {
	seen := func(scenario string, change func(*v1beta2.Manifest)) any {
		fields, _ := normalise(&operation.Scenario{ID: scenario}, withRevisions(t, scenario, change)).(map[string]any)
		status, _ := fields["status"].(map[string]any)
		return status["revisions"]
	}
	want := seen("aaaa", func(*v1beta2.Manifest) {})
	for sentence, test := range map[string]struct {
		same   bool
		change func(*v1beta2.Manifest)
	}{
		"another Scenario has other content": {true, func(*v1beta2.Manifest) {}},
		"a fault made another revision on the way": {true, func(m *v1beta2.Manifest) {
			known := m.Status.Revisions
			known[0].Outcome, known[0].Reason = v1beta2.RevisionFailed, v1beta2.ReasonObjectFailed
			known[1].Number, known[1].Before, known[1].At = 7, v1beta2.StateError, metav1.NewTime(known[1].At.Add(time.Hour))
		}},
		"the manager was not there for the one before": {true, func(m *v1beta2.Manifest) { m.Status.Revisions = m.Status.Revisions[1:] }},
		"another version is the newest":                {false, func(m *v1beta2.Manifest) { m.Status.Revisions = m.Status.Revisions[:1] }},
		"it did not succeed":                           {false, func(m *v1beta2.Manifest) { m.Status.Revisions[1].Outcome = v1beta2.RevisionFailed }},
		"its content is not what is asked for":         {false, func(m *v1beta2.Manifest) { m.Status.Revisions[1].Digest = "sha256:" }},
		"its template is not":                          {false, func(m *v1beta2.Manifest) { m.Status.Revisions[1].Template = "0" }},
		"there is none":                                {false, func(m *v1beta2.Manifest) { m.Status.Revisions = nil }},
	} {
		if diff := cmp.Diff(want, seen("bbbb", test.change)); (diff == "") != test.same {
			t.Errorf("%s: counts as the same: %v\n%s", sentence, !test.same, diff)
		}
	}
}
