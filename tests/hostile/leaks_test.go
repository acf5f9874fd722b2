package hostile

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// leaks searches everything that is logged.
var leaks watchdog

type watchdog struct {
	mu    sync.Mutex
	found []string
}

// Write implements io.Writer.
func (w *watchdog) Write(line []byte) (int, error) {
	what := canaryIn(string(line))
	w.mu.Lock()
	defer w.mu.Unlock()
	if what != "" && len(w.found) < 10 {
		w.found = append(w.found, fmt.Sprintf("%s in %.500s", what, line))
	}
	return len(line), nil
}

// expectNoLeaks searches for canaries in the log, in metrics, and in the objects that the manager writes on the hub.
func expectNoLeaks() {
	GinkgoHelper()
	leaks.mu.Lock()
	found := leaks.found
	leaks.found = nil // reported once
	leaks.mu.Unlock()
	Expect(found).To(BeEmpty(), "secrets in the log")
	for _, gatherer := range []prometheus.Gatherer{managerMetrics, metrics.Registry} {
		families, err := gatherer.Gather()
		Expect(err).NotTo(HaveOccurred())
		for _, family := range families {
			Expect(canaryIn(family.String())).To(BeEmpty(), "secrets in the metric %s", family.GetName())
		}
	}
	for _, list := range []client.ObjectList{
		&v1beta2.KymaList{}, &v1beta2.ManifestList{}, &eventsv1.EventList{}, &corev1.ConfigMapList{},
		&v1beta2.ModuleTemplateList{}, &v1beta2.ModuleReleaseMetaList{}, &corev1.NamespaceList{},
	} {
		Expect(env.Hub.Client.List(context.Background(), list)).To(Succeed())
		if manifests, ok := list.(*v1beta2.ManifestList); ok {
			for i := range manifests.Items {
				manifests.Items[i].Spec.Values = nil // where they belong
			}
		}
		text, err := json.Marshal(list)
		Expect(err).NotTo(HaveOccurred())
		Expect(canaryIn(string(text))).To(BeEmpty(), "secrets in a %T", list)
	}
}

// expectNoLeaksAnywhere searches every object of every kind in all clusters. For a Secret, everything except its data counts.
func expectNoLeaksAnywhere() {
	GinkgoHelper()
	expectNoLeaks()
	for _, cluster := range []*testkit.Cluster{env.Hub, env.Runtimes[0], env.Runtimes[1]} {
		kinds := kindsOf(cluster)
		Expect(len(kinds)).To(BeNumerically(">", 40), "kinds of %s that are looked through", cluster.Name)
		for _, kind := range kinds {
			list := &unstructured.UnstructuredList{}
			list.SetGroupVersionKind(kind)
			err := cluster.Client.List(context.Background(), list)
			if apierrors.IsNotFound(err) {
				continue // a definition of a module that was deleted meanwhile
			}
			Expect(err).NotTo(HaveOccurred(), "list %s", kind)
			for i := range list.Items {
				expectClean(cluster, &list.Items[i])
			}
		}
	}
}

func expectClean(cluster *testkit.Cluster, object *unstructured.Unstructured) {
	GinkgoHelper()
	switch object.GetKind() {
	case "Secret":
		delete(object.Object, "data")
	case "Manifest":
		unstructured.RemoveNestedField(object.Object, "spec", "values")
	}
	text, err := json.Marshal(object.Object)
	Expect(err).NotTo(HaveOccurred())
	Expect(canaryIn(string(text))).To(BeEmpty(), "secrets in %s %s/%s of %s", object.GetKind(), object.GetNamespace(), object.GetName(), cluster.Name)
}

// kindsOf returns every kind of a cluster that can be listed.
func kindsOf(cluster *testkit.Cluster) (kinds []schema.GroupVersionKind) {
	GinkgoHelper()
	asked, err := discovery.NewDiscoveryClientForConfig(cluster.Config)
	Expect(err).NotTo(HaveOccurred())
	lists, err := asked.ServerPreferredResources()
	Expect(err).NotTo(HaveOccurred())
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		Expect(err).NotTo(HaveOccurred())
		for i := range list.APIResources {
			if resource := &list.APIResources[i]; canList(resource) {
				kinds = append(kinds, version.WithKind(resource.Kind+"List"))
			}
		}
	}
	return kinds
}

func canList(resource *metav1.APIResource) bool {
	return !strings.Contains(resource.Name, "/") && strings.Contains(strings.Join(resource.Verbs, " "), "list")
}
