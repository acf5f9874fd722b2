package e2e

import (
	"context"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"

	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// passing are kinds that Kubernetes itself makes and forgets.
var passing = []string{"events", "leases", "endpoints", "endpointslices"}

// everythingIn names every object of a cluster, but those of passing kinds.
func everythingIn(cluster *testkit.Cluster) []string {
	GinkgoHelper()
	finder, err := discovery.NewDiscoveryClientForConfig(cluster.Config)
	Expect(err).NotTo(HaveOccurred())
	reader, err := metadata.NewForConfig(cluster.Config)
	Expect(err).NotTo(HaveOccurred())
	kinds, err := finder.ServerPreferredResources()
	Expect(err).NotTo(HaveOccurred())
	var found []string
	for _, list := range kinds {
		group, err := schema.ParseGroupVersion(list.GroupVersion)
		Expect(err).NotTo(HaveOccurred())
		for i := range list.APIResources {
			kind := &list.APIResources[i]
			if !slices.Contains(kind.Verbs, "list") || slices.Contains(passing, kind.Name) {
				continue
			}
			objects, err := reader.Resource(group.WithResource(kind.Name)).List(context.Background(), metav1.ListOptions{})
			if apierrors.IsNotFound(err) { // its definition has just gone
				continue
			}
			Expect(err).NotTo(HaveOccurred(), kind.Name)
			for j := range objects.Items {
				object := &objects.Items[j]
				found = append(found, strings.Trim(kind.Name+"/"+object.Namespace+"/"+object.Name, "/"))
			}
		}
	}
	return found
}

// firstIn returns what a cluster holds by itself, once nothing more comes.
func firstIn(cluster *testkit.Cluster) []string {
	GinkgoHelper()
	var found []string
	Eventually(func(g Gomega) {
		before := found
		found = everythingIn(cluster)
		for _, name := range found {
			if namespace, is := strings.CutPrefix(name, "namespaces//"); is {
				g.Expect(found).To(ContainElements("serviceaccounts/"+namespace+"/default", "configmaps/"+namespace+"/kube-root-ca.crt"))
			}
		}
		g.Expect(found).To(ConsistOf(before), "others than at the last look")
	}).WithPolling(3 * time.Second).WithTimeout(inTime).Should(Succeed())
	return found
}

// leftIn is for Eventually: what a cluster holds beside what it held before.
func leftIn(cluster *testkit.Cluster, before []string) func() []string {
	return func() []string {
		return slices.DeleteFunc(everythingIn(cluster), func(name string) bool { return slices.Contains(before, name) })
	}
}
