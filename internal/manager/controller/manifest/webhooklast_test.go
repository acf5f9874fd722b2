package manifest

import (
	"errors"
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

func TestClearWebhook_LetsCustomResourcesWaitForAWebhookThatBothVersionsHave(t *testing.T) {
	configuration := webhookFailing("Fail")
	for sentence, test := range map[string]struct {
		blocked inventory.ID
		removed bool
	}{
		"what it blocks may be what answers for it": {deploymentID, true},
		"what it blocks comes after it":             {inventory.ID{Group: "example.com", Kind: "Sample", Namespace: "default", Name: "one"}, false},
	} {
		live := configuration.DeepCopy()
		live.SetUID("uid-guard")
		w := newScope(newManifest(ended("")), testTime)
		live.SetAnnotations(map[string]string{v1beta2.AnnotationOwnedBy: w.owner()})
		client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{
			webhookKinds[live.GetKind()]: "ValidatingWebhookConfigurationList",
		}, live)
		entry := entryOf(inventory.IDOf(live))
		entry.Hash = inventory.ContentHash(configuration)
		w.runtime, w.recorded, w.desired = &cluster{dynamic: client}, []inventory.Entry{entry}, []*unstructured.Unstructured{configuration}
		refused := apierrors.NewInternalError(errors.New(`failed calling webhook "guard.example.com": failed to call webhook: refused`))
		outcome := apply.Outcome{ID: test.blocked, Err: apply.Explain("apply", test.blocked, refused)}
		if cleared := newReconciler(t).clearWebhook(t.Context(), w, nil, []apply.Outcome{outcome}); (cleared != nil) != test.removed {
			t.Errorf("%s: told %v", sentence, cleared)
		}
	}
}

func TestPostponeWebhooks_OnlyThoseThatWereInstalledAndAreGone(t *testing.T) {
	guard := webhookFailing("Fail")
	id := inventory.IDOf(guard)
	for sentence, test := range map[string]struct {
		manifest func(*v1beta2.Manifest)
		id       inventory.ID
		entry    func(*inventory.Entry)
		live     inventory.Presence
		waits    bool
	}{
		"it was removed, and would stand in the way again": {ended(""), id, nil, inventory.Absent, true},
		"it is not known yet whether it is there":          {ended(""), id, nil, inventory.Unknown, false},
		"it is there":                                        {ended(""), id, nil, inventory.Present, false},
		"it was never installed":                             {ended(""), id, func(e *inventory.Entry) { e.UID = "" }, inventory.Absent, false},
		"something else is gone":                             {ended(""), accountID, nil, inventory.Absent, false},
		"the version before has been ready since":            {ended(v1beta2.RevisionSucceeded), id, nil, inventory.Absent, false},
		"the Manifest did not go back, and puts it back now": {func(*v1beta2.Manifest) {}, id, nil, inventory.Absent, false},
	} {
		w := newScope(newManifest(test.manifest), testTime)
		w.runtime = &cluster{live: map[inventory.ID]inventory.Live{test.id: {Presence: test.live}}}
		entry := entryOf(test.id)
		if test.entry != nil {
			test.entry(&entry)
		}
		decision := inventory.Decision{Apply: []inventory.Step{{Entry: entryOf(deploymentID)}, {Entry: entry}}}
		w.postponeWebhooks(&decision)
		if waits := len(w.postponed) == 1 && len(decision.Apply) == 1; waits != test.waits || len(w.postponed)+len(decision.Apply) != 2 {
			t.Errorf("%s: %d wait, %d are applied", sentence, len(w.postponed), len(decision.Apply))
		}
	}
}

func TestPutBackWebhooks_WaitsUntilAllElseIsReady(t *testing.T) {
	w := newScope(newManifest(ended("")), testTime)
	w.postponed = []inventory.Step{{Entry: entryOf(inventory.IDOf(webhookFailing("Fail")))}}
	if found, err := newReconciler(t).putBackWebhooks(t.Context(), w, waits); err != nil || found != waits || len(w.postponed) != 1 {
		t.Errorf("found %+v, error %v, %d left", found, err, len(w.postponed))
	}
}
