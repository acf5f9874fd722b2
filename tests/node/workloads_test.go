package node

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
)

// imagesOf returns what the pods of a module's operator run.
func imagesOf(where *cluster, module string) (images []string) {
	for _, pod := range podsOf(background(), where, module) {
		images = append(images, pod.Spec.Containers[0].Image)
	}
	return images
}

// waiting returns the reasons why containers of a module's operator do not start.
func waiting(where *cluster, module string) (reasons []string) {
	for _, pod := range podsOf(background(), where, module) {
		for i := range pod.Status.ContainerStatuses {
			if state := pod.Status.ContainerStatuses[i].State.Waiting; state != nil {
				reasons = append(reasons, state.Reason)
			}
		}
	}
	return reasons
}

func deployment(where *cluster, module string) *appsv1.Deployment {
	GinkgoHelper()
	found := &appsv1.Deployment{}
	Expect(where.client.Get(background(), client.ObjectKey{Namespace: module + "-system", Name: module}, found)).To(Succeed())
	return found
}

// traced returns what kyma trace says of the Deployment of a module, in this process.
func traced(where *cluster, module string) string {
	GinkgoHelper()
	var out, said bytes.Buffer
	command := cli.New(&console.Console{In: strings.NewReader(""), Out: &out, Err: &said}, target.Of(where.config))
	command.SetArgs([]string{"trace", "deployment/" + module, "--namespace", module + "-system"})
	Expect(command.ExecuteContext(background())).To(Succeed(), said.String())
	return out.String()
}

// theGreeter returns the default custom resource of the module.
func theGreeter() *unstructured.Unstructured {
	cr := &unstructured.Unstructured{}
	cr.SetGroupVersionKind(schema.GroupVersionKind{Group: "samples.kyma-project.io", Version: "v1", Kind: "Greeter"})
	cr.SetNamespace("kyma-system")
	cr.SetName("default")
	return cr
}

// greet changes the custom resource as a user would, and waits until the module's operator, which is a pod, has done its work.
func greet(where *cluster, whom string) {
	GinkgoHelper()
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"whom":"`+whom+`"}}`))
	Expect(where.client.Patch(background(), theGreeter(), patch)).To(Succeed())
	// A Greeter of a newer version may be loud.
	Eventually(func() string { return strings.ToLower(greeting(where)) }).Should(ContainSubstring(whom))
}

// greeting returns what the operator made of the custom resource.
func greeting(where *cluster) string {
	var list corev1.ConfigMapList
	if err := where.client.List(background(), &list, client.InNamespace("kyma-system")); err != nil {
		return err.Error()
	}
	var text strings.Builder
	for i := range list.Items {
		for _, owner := range list.Items[i].OwnerReferences {
			if owner.Kind == "Greeter" {
				for _, value := range list.Items[i].Data {
					text.WriteString(value)
				}
			}
		}
	}
	return text.String()
}

// absent reports whether a namespace is gone.
func absent(where *cluster, namespace string) bool {
	GinkgoHelper()
	err := where.client.Get(background(), client.ObjectKey{Name: namespace}, &corev1.Namespace{})
	Expect(client.IgnoreNotFound(err)).NotTo(HaveOccurred())
	return apierrors.IsNotFound(err)
}

// identities returns the UIDs of what must survive a restart: of the greeter in its cluster, and of all Manifests in the hub.
func identities(where *cluster) map[string]types.UID {
	GinkgoHelper()
	found := map[string]types.UID{}
	cr := theGreeter()
	Expect(where.client.Get(background(), client.ObjectKeyFromObject(cr), cr)).To(Succeed())
	found["custom resource"], found["deployment"] = cr.GetUID(), deployment(where, greeter).UID
	var manifests v1beta2.ManifestList
	Expect(hub.client.List(background(), &manifests)).To(Succeed())
	for i := range manifests.Items {
		found["manifest "+manifests.Items[i].Name] = manifests.Items[i].UID
	}
	return found
}

// objects returns all that a cluster has, of every kind but those that come by themselves.
func objects(where *cluster) map[string]bool {
	GinkgoHelper()
	discoverer, err := discovery.NewDiscoveryClientForConfig(where.config)
	Expect(err).NotTo(HaveOccurred())
	reader, err := metadata.NewForConfig(where.config)
	Expect(err).NotTo(HaveOccurred())
	kinds, err := discoverer.ServerPreferredResources()
	Expect(err).NotTo(HaveOccurred())
	found := map[string]bool{}
	for _, group := range kinds {
		version, err := schema.ParseGroupVersion(group.GroupVersion)
		Expect(err).NotTo(HaveOccurred())
		for i := range group.APIResources {
			kind := &group.APIResources[i]
			if kind.Kind == "Event" || kind.Kind == "Lease" || !slices.Contains(kind.Verbs, "list") {
				continue
			}
			list, err := reader.Resource(version.WithResource(kind.Name)).List(context.Background(), metav1.ListOptions{})
			if apierrors.IsNotFound(err) {
				continue // its definition goes just now
			}
			Expect(err).NotTo(HaveOccurred())
			for j := range list.Items {
				found[kind.Kind+" "+list.Items[j].Namespace+"/"+list.Items[j].Name] = true
			}
		}
	}
	return found
}

// settled returns the objects of a new cluster, once Kubernetes itself adds no more.
func settled(where *cluster) map[string]bool {
	GinkgoHelper()
	var found map[string]bool
	Eventually(func(g Gomega) {
		before := len(found)
		found = objects(where)
		for _, namespace := range []string{"default", "kube-node-lease", "kube-public", "kube-system"} {
			g.Expect(found).To(And(HaveKey("ServiceAccount "+namespace+"/default"), HaveKey("ConfigMap "+namespace+"/kube-root-ca.crt")))
		}
		g.Expect(found).To(HaveLen(before), "more since the last look")
	}).WithPolling(5 * time.Second).Should(Succeed())
	return found
}

// since returns the objects that came and are there still, but for namespace kyma-system, which belongs to the users.
func since(before map[string]bool, where *cluster) (left []string) {
	GinkgoHelper()
	for object := range objects(where) {
		if !before[object] && object != "Namespace /kyma-system" &&
			object != "ConfigMap kyma-system/kube-root-ca.crt" && object != "ServiceAccount kyma-system/default" {
			left = append(left, object)
		}
	}
	slices.Sort(left)
	return left
}
