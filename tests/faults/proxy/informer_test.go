package proxy

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// follow runs an informer like a manager's and reports the objects that it received.
func follow(t *testing.T, clients kubernetes.Interface, label string, names chan<- string) {
	t.Helper()
	factory := informers.NewSharedInformerFactoryWithOptions(clients, 0, informers.WithNamespace("default"),
		informers.WithTweakListOptions(func(options *metav1.ListOptions) { options.LabelSelector = "run=" + label }))
	_, err := factory.Core().V1().ConfigMaps().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(object any) {
		if o, ok := object.(metav1.Object); ok {
			names <- o.GetName()
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	factory.Start(t.Context().Done())
	t.Cleanup(factory.Shutdown)
}
