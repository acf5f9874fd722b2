package predicates

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func access(kyma, kubeconfig string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "access", Labels: map[string]string{v1beta2.LabelKymaName: kyma}},
		Data:       map[string][]byte{v1beta2.AccessSecretKey: []byte(kubeconfig)},
	}
}

func TestAccessChanged(t *testing.T) {
	annotated := access("a", "config")
	annotated.Annotations = map[string]string{"rotated": "yesterday"}
	for name, test := range map[string]struct {
		before, after *corev1.Secret
		want          bool
	}{
		"another kubeconfig":                     {access("a", "config"), access("a", "other"), true},
		"another Kyma":                           {access("a", "config"), access("b", "config"), true},
		"another annotation only":                {access("a", "config"), annotated, false},
		"a Secret that is no access Secret now":  {access("a", "config"), access("", "config"), false},
		"a Secret that becomes an access Secret": {access("", "config"), access("a", "config"), true},
	} {
		if got := AccessChanged.Update(event.UpdateEvent{ObjectOld: test.before, ObjectNew: test.after}); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if AccessChanged.Create(event.CreateEvent{Object: access("", "config")}) || !AccessChanged.Delete(event.DeleteEvent{Object: access("a", "")}) {
		t.Error("Secrets are told apart by something else than their label")
	}
}

func TestDeletionChanged(t *testing.T) {
	now := metav1.NewTime(time.Unix(1, 0))
	leaving := access("a", "config")
	leaving.DeletionTimestamp = &now
	if !DeletionChanged.Update(event.UpdateEvent{ObjectOld: access("a", "config"), ObjectNew: leaving}) {
		t.Error("the beginning of a deletion is filtered out")
	}
	if DeletionChanged.Update(event.UpdateEvent{ObjectOld: leaving, ObjectNew: leaving}) {
		t.Error("an update during a deletion passes")
	}
}
