package manifest

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/priority"
)

func TestOfKyma_ReturnsThePriorityOfTheKymasLastPass(t *testing.T) {
	owned := func(kind, name string) *v1beta2.Manifest {
		m := &v1beta2.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "manifest"}}
		if name != "" {
			m.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: name, Controller: new(true)}}
		}
		return m
	}
	r := &Reconciler{Priorities: &priority.LastPriorities{}}
	queue := r.Priorities.Kymas.Keep(priorityqueue.New[reconcile.Request](t.Name()))
	defer queue.ShutDown()
	priority.Add(queue, priority.Later, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "ns", Name: "bumped"}})
	request, _ := queue.Get()
	queue.Done(request)
	cases := map[string]struct {
		manifest *v1beta2.Manifest
		want     priority.Level
	}{
		"that of a Kyma which a new version woke comes later":       {owned("Kyma", "bumped"), priority.Later},
		"that of a Kyma which a person changed comes now":           {owned("Kyma", "changed"), priority.Now},
		"one that stands alone is a person's":                       {owned("", ""), priority.Now},
		"one of another user's is a person's, whatever its name is": {owned("Deployment", "bumped"), priority.Now},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := r.ofKyma(nil, tc.manifest); got != tc.want {
				t.Errorf("level %d, want %d", got, tc.want)
			}
		})
	}
}
