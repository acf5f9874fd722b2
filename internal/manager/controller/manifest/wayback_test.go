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
	clienttesting "k8s.io/client-go/testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/crdsafety"
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
		"only the failed version has it":                              {ended(""), nil, "x", "", after, true},
		"and the version before failed once, too":                     {ended(v1beta2.RevisionFailed), nil, "x", "", after, true},
		"the version before has been ready since":                     {ended(v1beta2.RevisionSucceeded), nil, "x", "", after, false},
		"the Manifest did not go back":                                {func(*v1beta2.Manifest) {}, nil, "x", "", after, false},
		"no revision is known":                                        {func(m *v1beta2.Manifest) { ended("")(m); m.Status.Revisions = nil }, nil, "x", "", after, false},
		"both versions have it alike, and it blocks what comes first": {ended(""), desired, inventory.ContentHash(before), "", before, true},
		"it was written in this pass":                                 {ended(""), desired, inventory.ContentHash(before), inventory.WhyChanged, before, false},
		"both have it, and it is still the failed version's":          {ended(""), desired, "", inventory.WhyChanged, after, true},
		"the same, in a later pass":                                   {ended(""), desired, "", inventory.WhyNew, after, true},
		"it was written by a pass whose end was not recorded":         {ended(""), desired, "", inventory.WhyNew, defaulted(before), false},
		"it was written before, and a field of it is to be put back":  {ended(""), desired, "", inventory.WhyDrifted, after, false},
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

// holding returns a scope of a Manifest that went back, whose cluster holds these definitions; its watch has listed nothing yet. refuse is
// what the cluster answers to a read.
func holding(change func(*v1beta2.Manifest), refuse error, definitions ...*unstructured.Unstructured) (*scope, *dynamicfake.FakeDynamicClient) {
	objects := make([]runtime.Object, 0, len(definitions))
	for _, definition := range definitions {
		objects = append(objects, definition.DeepCopy())
	}
	client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{
		inventory.CRDResource: "CustomResourceDefinitionList",
	}, objects...)
	client.PrependReactor("get", "*", func(clienttesting.Action) (bool, runtime.Object, error) { return refuse != nil, nil, refuse })
	w := newScope(newManifest(ended(""), change), testTime)
	w.runtime = &cluster{dynamic: client, live: map[inventory.ID]inventory.Live{}}
	return w, client
}

// owned returns a definition that carries an owner's mark, as the cluster has it.
func owned(definition *unstructured.Unstructured, owner string) *unstructured.Unstructured {
	live := definition.DeepCopy()
	live.SetUID("uid-live")
	live.SetAnnotations(map[string]string{v1beta2.AnnotationOwnedBy: owner})
	return live
}

func TestKeepDefinitions_ReadsWhatWasNotListedYet(t *testing.T) {
	const mine = "kcp-system/sample"
	before, newer := definedBy("thing", "size"), definedBy("thing", "size", "weight")
	terminating := owned(newer, mine)
	terminating.SetDeletionTimestamp(&testTime)
	for name, test := range map[string]struct {
		live     *unstructured.Unstructured
		presence inventory.Presence
		refuse   error
		applied  bool
		reason   string
		calls    int
	}{
		"the newer one is there, and was not listed yet": {live: owned(newer, mine), calls: 1},
		"it is there, and was listed":                    {live: owned(newer, mine), presence: inventory.Present, calls: 1},
		"there is none":                                  {applied: true, calls: 1},
		"it was listed, and there is none":               {presence: inventory.Absent, applied: true},
		"it is another owner's":                          {live: owned(newer, "kcp-system/other"), applied: true, calls: 1},
		"it is being deleted":                            {live: terminating, applied: true, calls: 1},
		"it was listed as gone since":                    {presence: inventory.Present, applied: true, calls: 1},
		"it cannot be read": {
			live: owned(newer, mine), refuse: apierrors.NewServiceUnavailable("down"), reason: v1beta2.ReasonRuntimeUnreachable, calls: 1,
		},
		"it does not serve the content": {live: owned(definedBy("thing"), mine), reason: v1beta2.ReasonRollbackUnsafe, calls: 1},
	} {
		t.Run(name, func(t *testing.T) {
			var exists []*unstructured.Unstructured
			if test.live != nil {
				exists = append(exists, test.live)
			}
			w, client := holding(func(*v1beta2.Manifest) {}, test.refuse, exists...)
			id := inventory.IDOf(before)
			w.runtime.(*cluster).live[id] = inventory.Live{Presence: test.presence}
			step := inventory.Step{Object: before, Entry: inventory.Entry{ID: id, Version: "v1", Hash: "h"}, Why: inventory.WhyChanged}
			decision := inventory.Decision{Apply: []inventory.Step{step}}
			err := w.keepDefinitions(t.Context(), &decision)
			if got := reasonOf(err); got != test.reason {
				t.Fatalf("error %v, want reason %q", err, test.reason)
			}
			if got := len(client.Actions()); got != test.calls {
				t.Errorf("%d calls, want %d", got, test.calls)
			}
			if err != nil {
				return
			}
			if applied := len(decision.Apply) == 1; applied != test.applied {
				t.Errorf("applied: %t, want %t", applied, test.applied)
			}
			kept := len(w.recorded) == 1 && w.recorded[0].UID == "uid-live" && w.recorded[0].Hash == "h"
			if kept == test.applied {
				t.Errorf("recorded %+v", w.recorded)
			}
		})
	}
}

// converting returns a definition whose objects the Service default/name converts.
func converting(definition *unstructured.Unstructured, strategy, name string) *unstructured.Unstructured {
	spec := definition.Object["spec"].(map[string]any)
	spec["conversion"] = map[string]any{"strategy": strategy, "webhook": map[string]any{
		"clientConfig": map[string]any{"service": map[string]any{"namespace": "default", "name": name, "port": int64(443)}},
	}}
	return definition
}

func TestKeepDefinitions_NeverTakesTheConverterAway(t *testing.T) {
	const mine = "kcp-system/sample"
	service := inventory.ID{Kind: "Service", Namespace: "default", Name: "converter"}
	definition := inventory.IDOf(definedBy("thing"))
	for name, test := range map[string]struct {
		live   *unstructured.Unstructured
		refuse error
		allow  []v1beta2.CRDRule
		reason string
		pruned []inventory.ID
	}{
		"its objects are not converted": {live: definedBy("thing"), pruned: []inventory.ID{service}},
		"what converts them is pruned":  {live: converting(definedBy("thing"), "Webhook", "converter"), reason: v1beta2.ReasonRollbackUnsafe},
		"no rule allows that": {
			live: converting(definedBy("thing"), "Webhook", "converter"), allow: []v1beta2.CRDRule{crdsafety.UnknownChange}, reason: v1beta2.ReasonRollbackUnsafe,
		},
		"what converts them stays":       {live: converting(definedBy("thing"), "Webhook", "another"), pruned: []inventory.ID{service}},
		"the webhook is not called":      {live: converting(definedBy("thing"), "None", "converter"), pruned: []inventory.ID{service}},
		"the definition is gone already": {pruned: []inventory.ID{definition, service}},
		"it cannot be read": {
			live: definedBy("thing"), refuse: apierrors.NewServiceUnavailable("down"), reason: v1beta2.ReasonRuntimeUnreachable,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var exists []*unstructured.Unstructured
			if test.live != nil {
				exists = append(exists, owned(test.live, mine))
			}
			w, _ := holding(func(m *v1beta2.Manifest) { m.Spec.AllowCRDChanges = test.allow }, test.refuse, exists...)
			decision := inventory.Decision{Prune: []inventory.Entry{entryOf(definition), entryOf(service)}}
			err := w.keepDefinitions(t.Context(), &decision)
			if got := reasonOf(err); got != test.reason {
				t.Fatalf("error %v, want reason %q", err, test.reason)
			}
			if err != nil {
				return
			}
			var pruned []inventory.ID
			for _, entry := range decision.Prune {
				pruned = append(pruned, entry.ID)
			}
			if !slices.Equal(pruned, test.pruned) {
				t.Errorf("pruned %v, want %v", pruned, test.pruned)
			}
		})
	}
}

func reasonOf(err error) string {
	if problem := problemOf(err); problem != nil {
		return problem.Reason
	}
	return ""
}
