package hostile

import (
	"bytes"
	"fmt"
	"net/http"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// identityAt is the path of a runtime's identity.
const identityAt = "/api/v1/namespaces/kube-system"

// calling returns the identity of the runtime, computed anew for every request.
func calling(uid func(n int64) string) bait {
	return on(at(identityAt), func(t *trap, w http.ResponseWriter, _ *http.Request) {
		answerJSON(w, http.StatusOK, fmt.Sprintf(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"kube-system","uid":%q}}`, uid(t.met.Load())))
	})
}

// posing gives the runtime the neighbour's identity.
func posing(target) *trap {
	kubeSystem := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: metav1.NamespaceSystem}}
	live, err := testkit.Live(env.Runtimes[0], kubeSystem)()
	Expect(err).NotTo(HaveOccurred())
	return setTrap(calling(func(int64) string { return string(live.UID) }))
}

var _ = DescribeTable("A runtime that claims to be", strike,
	Entry("the neighbour's", attack{synced: true, set: posing, either: true}),
	Entry("a cluster with an identity of a megabyte", attack{synced: true, tells: "kube-system",
		set: setting(calling(func(int64) string { return string(bytes.Repeat([]byte("a"), 1<<20)) }))}),
	Entry("nobody", attack{set: setting(calling(func(int64) string { return "" })), harmless: true}),
)

var _ = Describe("A runtime that claims another identity in every response", func() {
	It("is served by its first identity, and not written to after a change", func() {
		var changes atomic.Int64
		flipping := calling(func(n int64) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) })
		t := setTrap(func(t *trap, next http.Handler) http.Handler {
			counted := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				if writes(req) {
					changes.Add(1)
				}
				next.ServeHTTP(w, req)
			})
			return flipping(t, counted)
		})
		defer t.spring()
		before := neighbour.snapshot()
		module := offer(nil)
		kyma := testkit.Kyma(testkit.Unique("flipping"), testkit.Unsynced(), testkit.WithModule(module))
		secret := testkit.NewAccessSecret(kyma.Name, t.kubeconfig())
		env.Hub.Create(secret, kyma)
		DeferCleanup(deleteKyma, kyma)
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
		first, err := testkit.Live(env.Hub, kyma)()
		Expect(err).NotTo(HaveOccurred())
		Expect(first.Status.RuntimeID).To(HavePrefix("00000000-"))

		By("a new connection to what is another cluster by now")
		asked := t.met.Load()
		again := bytes.Replace(t.kubeconfig(), []byte("{server:"), []byte("{disable-compression: true, server:"), 1)
		testkit.Edit(env.Hub, secret, func(s *corev1.Secret) { s.Data[v1beta2.AccessSecretKey] = again })
		Eventually(t.met.Load).Should(BeNumerically(">", asked))
		Eventually(func() (string, error) { return said(kyma.Name, module) }).Should(ContainSubstring(v1beta2.ReasonRuntimeReplaced))
		written := changes.Load()
		env.Offer(module, "1.1.0", testkit.ConfigMaps(module, "1.1.0", 2), v1beta2.DefaultChannel)
		expectBystander()
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateError))
		Expect(changes.Load()).To(Equal(written), "writes to a cluster that is another one")
		live, err := testkit.Live(env.Hub, kyma)()
		Expect(err).NotTo(HaveOccurred())
		Expect(live.Status.RuntimeID).To(Equal(first.Status.RuntimeID), "the identity stays that of the first")
		found := &corev1.ConfigMap{}
		key := client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: module + "-0"}
		Expect(env.Runtimes[1].Client.Get(GinkgoT().Context(), key, found)).To(Succeed())
		Expect(found.Data).To(HaveKeyWithValue("version", "1.0.0"))
		neighbour.expectUntouched(before)
		expectNoLeaks()
	})
})
