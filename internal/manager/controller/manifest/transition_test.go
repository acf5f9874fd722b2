package manifest

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestRecordTransition_TellsWhatAKymaDoesNot(t *testing.T) {
	for name, test := range map[string]struct {
		change []func(*v1beta2.Manifest)
		reason string
		told   int
	}{
		"a first installation that goes well": {[]func(*v1beta2.Manifest){ofKyma("kyma", "uid")}, v1beta2.ReasonReady, 0},
		"one of no Kyma":                      {nil, v1beta2.ReasonReady, 1},
		"one that goes wrong":                 {[]func(*v1beta2.Manifest){ofKyma("kyma", "uid")}, v1beta2.ReasonObjectFailed, 1},
		"what is ready once more":             {[]func(*v1beta2.Manifest){ofKyma("kyma", "uid"), installed(3)}, v1beta2.ReasonReady, 1},
	} {
		recorder := events.NewFakeRecorder(2)
		r := newReconciler(t)
		r.Events = recorder
		w := newScope(newManifest(test.change...), testTime)
		w.setCondition(v1beta2.ConditionReady, metav1.ConditionUnknown, test.reason, "so it is")
		r.recordTransition(t.Context(), w)
		if got := len(recorder.Events); got != test.told {
			t.Errorf("%s: %d events, want %d", name, got, test.told)
		}
	}
}
