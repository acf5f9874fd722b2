package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// workload is what changes of a Deployment when it is restarted, deleted or made anew.
type workload struct {
	UID        types.UID
	Generation int64
}

// workloadOf reads it.
func workloadOf(runtime *testkit.Cluster, module string) workload {
	GinkgoHelper()
	live, err := testkit.Live(runtime, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: module}})()
	Expect(err).NotTo(HaveOccurred())
	return workload{UID: live.UID, Generation: live.Generation}
}

// lose removes objects from the hub as a lost etcd does: no finalizer holds them, and no controller sees it.
func lose(objects ...client.Object) {
	GinkgoHelper()
	for _, object := range objects {
		testkit.Edit(env.Hub, object, func(o client.Object) { o.SetFinalizers(nil) })
		env.Hub.Delete(object)
		Eventually(testkit.Gone(env.Hub, object)).Should(BeTrue())
	}
}

var _ = Describe("A hub that is restored without status", func() {
	for _, lost := range []struct {
		what      string
		kyma      bool
		manifests bool // are restored as they were, without status; otherwise they are lost for good
	}{
		{"Kymas, and Manifests for good", true, false},
		{"Kymas and Manifests", true, true},
		{"Manifests, for good", false, false},
		{"Manifests", false, true},
	} {
		It("restarts, deletes and makes nothing: "+lost.what, func() {
			emptyHub()
			module, runtime := testkit.Unique("deploy"), env.AddRuntime(testkit.Unique("restored"))
			env.Offer(module, "1.0.0", testkit.Deployment(module, "1.0.0"), "regular")
			kyma := newKyma(runtime, testkit.WithModule(module))
			Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
			manifest, before := manifestOf(kyma, module), workloadOf(runtime, module)

			whileDown(func() {
				lose(manifest)
				if lost.kyma {
					lose(kyma)
					kyma = &v1beta2.Kyma{ObjectMeta: fresh(kyma), Spec: kyma.Spec}
					env.Hub.Create(kyma)
				}
				if lost.manifests {
					env.Hub.Create(&v1beta2.Manifest{ObjectMeta: fresh(manifest), Spec: manifest.Spec})
				}
			})
			Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateReady),
				testkit.HaveModule(module, testkit.HaveState(v1beta2.StateReady))))
			Eventually(env.ManifestOf(kyma.Name, module)).Should(And(testkit.HaveState(v1beta2.StateReady),
				HaveField("UID", Not(Equal(manifest.UID)))))
			Expect(workloadOf(runtime, module)).To(Equal(before))
			remove(kyma)
		})
	}
})
