package manifest

import (
	"errors"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// ended gives a Manifest that went back a newest revision with that outcome.
func ended(outcome v1beta2.RevisionOutcome) func(*v1beta2.Manifest) {
	return func(m *v1beta2.Manifest) {
		m.Annotations = map[string]string{v1beta2.AnnotationRollback: v1beta2.ReasonProgressDeadlineExceeded}
		m.Status.Revisions = []v1beta2.Revision{
			{Number: 1, Version: "1.0.0", Outcome: v1beta2.RevisionSucceeded}, {Number: 2, Version: "1.1.0", Outcome: v1beta2.RevisionRolledBack},
			{Number: 3, Version: "1.0.0", Outcome: outcome},
		}
	}
}

// webhookFailing returns a configuration of one webhook with that policy.
func webhookFailing(policy string) *unstructured.Unstructured {
	made := object("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "guard")
	made.Object["webhooks"] = []any{map[string]any{
		"name": "guard.example.com", "failurePolicy": policy, "rules": []any{map[string]any{"resources": []any{"configmaps"}}},
	}}
	return made
}

func TestClearWebhook_RemovesOnlyWhatTheFailedVersionLeft(t *testing.T) {
	before, after := webhookFailing("Ignore"), webhookFailing("Fail")
	desired := []*unstructured.Unstructured{before}
	for name, test := range map[string]struct {
		manifest func(*v1beta2.Manifest)
		desired  []*unstructured.Unstructured
		hash     string        // that is recorded when a write failed
		why      inventory.Why // it is to be applied in this pass
		live     *unstructured.Unstructured
		removed  bool
	}{
		"only the failed version has it":                             {ended(""), nil, "x", "", after, true},
		"and the version before failed once, too":                    {ended(v1beta2.RevisionFailed), nil, "x", "", after, true},
		"the version before has been ready since":                    {ended(v1beta2.RevisionSucceeded), nil, "x", "", after, false},
		"the Manifest did not go back":                               {func(*v1beta2.Manifest) {}, nil, "x", "", after, false},
		"no revision is known":                                       {func(m *v1beta2.Manifest) { ended("")(m); m.Status.Revisions = nil }, nil, "x", "", after, false},
		"both versions have it, and it is the version before's":      {ended(""), desired, inventory.ContentHash(before), "", before, false},
		"it was written in this pass":                                {ended(""), desired, inventory.ContentHash(before), inventory.WhyChanged, before, false},
		"both have it, and it is still the failed version's":         {ended(""), desired, "", inventory.WhyChanged, after, true},
		"the same, in a later pass":                                  {ended(""), desired, "", inventory.WhyNew, after, true},
		"it was written by a pass whose end was not recorded":        {ended(""), desired, "", inventory.WhyNew, defaulted(before), false},
		"it was written before, and a field of it is to be put back": {ended(""), desired, "", inventory.WhyDrifted, after, false},
	} {
		t.Run(name, func(t *testing.T) {
			live := test.live.DeepCopy()
			live.SetUID("uid-guard")
			w := newScope(newManifest(test.manifest), testTime)
			live.SetAnnotations(map[string]string{v1beta2.AnnotationOwnedBy: w.owner()})
			client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{
				webhookKinds[live.GetKind()]: "ValidatingWebhookConfigurationList",
			}, live)
			entry := entryOf(inventory.IDOf(live))
			entry.Hash = test.hash
			w.runtime, w.recorded, w.desired = &cluster{dynamic: client}, []inventory.Entry{entry}, test.desired
			var steps []inventory.Step
			if test.why != "" {
				steps = append(steps, inventory.Step{Object: before, Entry: entry, Why: test.why})
			}
			refused := apierrors.NewInternalError(errors.New(`failed calling webhook "guard.example.com": failed to call webhook: refused`))
			cleared := newReconciler(t).clearWebhook(t.Context(), w, steps, []apply.Outcome{{Err: apply.Explain("apply", accountID, refused)}})
			var deleted bool
			for _, action := range client.Actions() {
				deleted = deleted || action.GetVerb() == "delete"
			}
			if deleted != test.removed || (cleared != nil) != test.removed {
				t.Errorf("deleted %t and told %v, want %t", deleted, cleared, test.removed)
			}
		})
	}
}

// defaulted returns a configuration as an API server stores it.
func defaulted(configuration *unstructured.Unstructured) *unstructured.Unstructured {
	stored := configuration.DeepCopy()
	webhooks := slices.Clone(stored.Object["webhooks"].([]any))
	webhooks[0].(map[string]any)["timeoutSeconds"] = int64(10)
	webhooks[0].(map[string]any)["rules"].([]any)[0].(map[string]any)["scope"] = "*"
	stored.Object["webhooks"] = webhooks
	return stored
}
