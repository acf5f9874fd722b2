package hostile

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// neighbour is a Kyma that no attack targets.
var neighbour *resident

// resident is a synchronised Kyma on the healthy runtime, with a module.
type resident struct {
	kyma   *v1beta2.Kyma
	module string
}

func newNeighbour() *resident {
	GinkgoHelper()
	r := &resident{module: offer(nil)}
	r.kyma = testkit.Kyma("neighbour", testkit.WithModule(r.module))
	env.AccessSecret(r.kyma.Name, env.Runtimes[0])
	env.Hub.Create(r.kyma)
	Eventually(testkit.Live(env.Hub, r.kyma), "60s").Should(testkit.HaveState(v1beta2.StateReady))
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: v1beta2.RuntimeNamespace, Name: "image-pull"}
	Eventually(env.Runtimes[0].Client.Get).WithArguments(context.Background(), key, secret).Should(Succeed())
	pullSecret.seen(string(secret.Data[corev1.DockerConfigJsonKey]))
	return r
}

// prepare leaves a runtime in the state after the deletion of a Kyma. In a runtime that never had one, it is a matter of chance whether the
// manager reads the attack's version of the runtime's Kyma before it has created one itself, whose response then counts as newer.
func prepare(runtime *testkit.Cluster) {
	GinkgoHelper()
	kyma := testkit.Kyma("tenant", testkit.WithModule(offer(nil)))
	secret := env.AccessSecret(kyma.Name, runtime)
	env.Hub.Create(kyma)
	Eventually(testkit.Live(env.Hub, kyma), "60s").Should(testkit.HaveState(v1beta2.StateReady))
	env.Hub.Delete(secret, kyma)
	Eventually(testkit.Gone(env.Hub, kyma), "60s").Should(BeTrue())
}

// manifest returns the name of the resident's Manifest.
func (r *resident) manifest() string { return target{kyma: r.kyma.Name, module: r.module}.manifest() }

// expectUntouched checks that everything of the neighbour's is as before, and that it is Ready.
func (r *resident) expectUntouched(before map[string]string) {
	GinkgoHelper()
	Expect(r.snapshot()).To(Equal(before), "what belongs to others")
	Eventually(testkit.Live(env.Hub, r.kyma), time.Minute).Should(And(
		testkit.HaveState(v1beta2.StateReady), testkit.HaveModule(r.module, testkit.HaveState(v1beta2.StateReady))), "the neighbour")
}

// snapshot returns the versions of all of the neighbour's objects, which the second runtime must not affect. For its Kyma and its Manifest,
// it contains only parts that the manager does not write continually: on a machine that an attack keeps busy, a request to the runtime may
// be late, which their status reports.
func (r *resident) snapshot() map[string]string {
	GinkgoHelper()
	found := map[string]string{}
	note := func(c *testkit.Cluster, list client.ObjectList, options ...client.ListOption) {
		Expect(c.Client.List(context.Background(), list, options...)).To(Succeed())
		objects, err := meta.ExtractList(list)
		Expect(err).NotTo(HaveOccurred())
		for _, item := range objects {
			object, ok := item.(client.Object)
			Expect(ok).To(BeTrue())
			found[fmt.Sprintf("%s %T %s", c.Name, list, client.ObjectKeyFromObject(object))] = object.GetResourceVersion()
		}
	}
	own := client.MatchingLabels{v1beta2.LabelKymaName: r.kyma.Name}
	found["Manifest"] = r.installed()
	note(env.Hub, &corev1.SecretList{}, own)
	found["Kyma"] = r.identity()
	for _, object := range []client.Object{testkit.ModuleReleaseMeta(r.module), testkit.ModuleTemplate(r.module, "1.0.0")} {
		Expect(env.Hub.Client.Get(context.Background(), client.ObjectKeyFromObject(object), object)).To(Succeed())
		found[fmt.Sprintf("%T", object)] = object.GetResourceVersion()
	}
	for i := range 2 {
		m := &corev1.ConfigMap{}
		key := client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: fmt.Sprintf("%s-%d", r.module, i)}
		Expect(env.Runtimes[0].Client.Get(context.Background(), key, m)).To(Succeed())
		found["runtime "+key.String()] = string(m.UID)
	}
	note(env.Hub, &corev1.NamespaceList{})
	return found
}

// identity returns the neighbour's Kyma without the parts that the manager writes continually, and with the ID of its runtime.
func (r *resident) identity() string {
	GinkgoHelper()
	live, err := testkit.Live(env.Hub, r.kyma)()
	Expect(err).NotTo(HaveOccurred())
	text, err := json.Marshal(map[string]any{
		"uid": live.UID, "generation": live.Generation, "spec": live.Spec, "runtime": live.Status.RuntimeID, "deleted": live.DeletionTimestamp,
		"labels": live.Labels, "annotations": live.Annotations, "finalizers": live.Finalizers, "owners": live.OwnerReferences,
	})
	Expect(err).NotTo(HaveOccurred())
	return string(text)
}

// installed returns the neighbour's Manifest without its state and conditions, and with everything that it has in the runtime.
func (r *resident) installed() string {
	GinkgoHelper()
	live, err := env.ManifestOf(r.kyma.Name, r.module)()
	Expect(err).NotTo(HaveOccurred())
	text, err := json.Marshal(map[string]any{
		"uid": live.UID, "generation": live.Generation, "spec": live.Spec, "deleted": live.DeletionTimestamp, "labels": live.Labels,
		"annotations": live.Annotations, "finalizers": live.Finalizers, "owners": live.OwnerReferences, "synced": live.Status.Synced,
		"resolved": live.Status.Resolved,
	})
	Expect(err).NotTo(HaveOccurred())
	return string(text)
}
