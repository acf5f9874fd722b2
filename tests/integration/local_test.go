package integration

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/setup"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// tenantSpace makes a namespace of the hub whose users may write Kymas, Manifests and ConfigMaps.
func tenantSpace() string {
	GinkgoHelper()
	name := testkit.Unique("tenant")
	env.Hub.Create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	return name
}

// everywhere looks after the Kymas of every namespace; those of some may install into the hub itself.
func everywhere(local ...string) func(*setup.Config) {
	return func(c *setup.Config) { c.Namespace, c.LocalNamespaces = "", local }
}

// smuggled returns a Manifest for the hub itself, with its content in a ConfigMap beside it: all that a tenant needs.
func smuggled(space, name, content string) *v1beta2.Manifest {
	GinkgoHelper()
	yes := true
	env.Hub.Create(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: name}, Immutable: &yes, Data: map[string]string{"content.yaml": content},
	})
	manifest := &v1beta2.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: name}}
	manifest.Spec.Install = v1beta2.InstallInfo{Name: name, Source: testkit.Raw(map[string]any{
		"type": "bundle", "configMaps": []any{map[string]any{"name": name}},
	})}
	return manifest
}

var _ = Describe("The hub itself", func() {
	It("is out of reach of the people of a namespace that the flag does not name", func() {
		emptyHub()
		space := tenantSpace()
		withFlags(everywhere())
		name := testkit.Unique("root")
		binding := fmt.Sprintf("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: %s}\n"+
			"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}\n"+
			"subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: mallory}]\n", name)
		manifest := smuggled(space, name, binding)
		env.Hub.Create(manifest)
		Eventually(testkit.Live(env.Hub, manifest)).Should(tells(v1beta2.StateError, v1beta2.ReasonLocalNamespaceRefused, "--local-namespaces"))
		kyma := testkit.Kyma(testkit.Unique("kyma"), testkit.Local(), testkit.WithModule(offerMaps("1.0.0")))
		kyma.Namespace = space
		env.Hub.Create(kyma)
		Eventually(testkit.Live(env.Hub, kyma)).Should(tells(v1beta2.StateError, v1beta2.ReasonLocalNamespaceRefused, space))
		atRest()
		made := &v1beta2.ManifestList{}
		Expect(env.Hub.Client.List(ctx(), made, client.InNamespace(space))).To(Succeed())
		Expect(made.Items).To(HaveLen(1), "the Kyma makes none")
		given := &unstructured.Unstructured{}
		given.SetAPIVersion("rbac.authorization.k8s.io/v1")
		given.SetKind("ClusterRoleBinding")
		Expect(env.Hub.Client.Get(ctx(), client.ObjectKey{Name: name}, given)).To(Satisfy(apierrors.IsNotFound))
		env.Hub.Delete(manifest, kyma)
		Eventually(testkit.Gone(env.Hub, manifest)).Should(BeTrue())
		Eventually(testkit.Gone(env.Hub, kyma)).Should(BeTrue())
	})

	It("gives back what it has of a namespace that is not named any more, and nothing else", func() {
		emptyHub()
		space := tenantSpace()
		withFlags(everywhere(v1beta2.DefaultNamespace, space))
		name := testkit.Unique("before")
		manifest := smuggled(space, name, mapIn(metav1.NamespaceDefault, name))
		env.Hub.Create(manifest)
		Eventually(testkit.Live(env.Hub, manifest)).Should(testkit.HaveState(v1beta2.StateReady))
		precious := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: v1beta2.DefaultNamespace, Name: testkit.Unique("precious")}}
		env.Hub.Create(precious)

		stopManager()
		startManager(everywhere())
		testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) {
			m.Spec.Resource = &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"namespace": precious.Namespace, "name": precious.Name},
			}}
		})
		Eventually(testkit.Live(env.Hub, manifest)).Should(tells(v1beta2.StateError, v1beta2.ReasonLocalNamespaceRefused))
		installed := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name}}
		Expect(testkit.Gone(env.Hub, installed)()).To(BeFalse(), "what runs stays")

		env.Hub.Delete(manifest)
		Eventually(testkit.Gone(env.Hub, manifest)).Should(BeTrue())
		Expect(testkit.Gone(env.Hub, installed)()).To(BeTrue())
		Expect(testkit.Gone(env.Hub, precious)()).To(BeFalse(), "the spec named it, and no inventory and no mark did")
	})

	It("is closed by a policy too", func() {
		space := tenantSpace()
		there := testkit.Manifest(testkit.Unique("there"), v1beta2.ImageSpec{}, in(space), skipped)
		env.Hub.Create(there)
		obeyThePolicy(space)
		forbidden := And(Satisfy(apierrors.IsForbidden), MatchError(ContainSubstring("--local-namespaces")))
		create := func(object client.Object) error { return env.Hub.Client.Create(ctx(), object, client.DryRunAll) }
		local, remote := testkit.Kyma("local", testkit.Local()), testkit.Kyma("remote")
		local.Namespace, remote.Namespace = space, space
		Expect(create(local)).To(forbidden)
		Expect(create(remote)).To(Succeed())
		Expect(create(testkit.Kyma("local", testkit.Local()))).To(Succeed(), "in the operator's own namespace")
		Expect(create(testkit.Manifest("alone", v1beta2.ImageSpec{}, in(space)))).To(forbidden)
		Expect(create(testkit.Manifest("alone", v1beta2.ImageSpec{}, in(space), testkit.Remote("demo")))).To(Succeed())
		Expect(create(testkit.Manifest("alone", v1beta2.ImageSpec{}))).To(Succeed(), "in the operator's own namespace")
		Expect(create(testkit.Manifest("alone", v1beta2.ImageSpec{}, in(space), byAccount))).To(Succeed(), "by an account of the namespace")
		local.Spec.ServiceAccountName = "deployer"
		Expect(create(local)).To(Succeed(), "by an account of the namespace")
		Expect(create(testkit.Manifest("module", v1beta2.ImageSpec{}, in(space), ofKyma("Kyma")))).To(Succeed(), "it goes where its Kyma says")
		Expect(create(testkit.Manifest("module", v1beta2.ImageSpec{}, in(space), ofKyma("Deployment")))).To(forbidden)

		By("what was there before")
		update := func(change func(*v1beta2.Manifest)) error {
			live := &v1beta2.Manifest{}
			Expect(env.Hub.Client.Get(ctx(), client.ObjectKeyFromObject(there), live)).To(Succeed())
			change(live)
			return env.Hub.Client.Update(ctx(), live)
		}
		Expect(update(func(m *v1beta2.Manifest) { m.Labels["colour"] = "white" })).To(Succeed())
		Expect(update(func(m *v1beta2.Manifest) { m.Spec.Version = "2.0.0" })).To(forbidden)
		Expect(update(func(m *v1beta2.Manifest) { m.Finalizers = []string{"example.com/hold"} })).To(Succeed())
		env.Hub.Delete(there)
		Expect(update(func(m *v1beta2.Manifest) { m.Finalizers = nil })).To(Succeed())
		Eventually(testkit.Gone(env.Hub, there)).Should(BeTrue())
	})
})

// obeyThePolicy applies the admission policy of config/local until the spec ends, and waits until it holds.
func obeyThePolicy(space string) {
	GinkgoHelper()
	for _, object := range env.Hub.Kustomize("config/local") {
		if object.GetName() == "klm-local-namespaces" {
			env.Hub.Apply(object)
			DeferCleanup(env.Hub.Delete, object)
		}
	}
	Eventually(func() error {
		return env.Hub.Client.Create(ctx(), testkit.Manifest("probe", v1beta2.ImageSpec{}, in(space)), client.DryRunAll)
	}).Should(Satisfy(apierrors.IsForbidden), "the policy holds")
}

func in(namespace string) func(*v1beta2.Manifest) {
	return func(m *v1beta2.Manifest) { m.Namespace = namespace }
}

// byAccount has a Manifest installed by a ServiceAccount.
func byAccount(m *v1beta2.Manifest) { m.Spec.ServiceAccountName = "deployer" }

// skipped keeps the manager from a Manifest.
func skipped(m *v1beta2.Manifest) {
	m.Labels = map[string]string{v1beta2.LabelSkipReconciliation: v1beta2.EnabledValue}
}

// ofKyma returns a Manifest a controller of a kind of ours that does not exist.
func ofKyma(kind string) func(*v1beta2.Manifest) {
	return func(m *v1beta2.Manifest) {
		yes := true
		m.OwnerReferences = []metav1.OwnerReference{{
			APIVersion: v1beta2.GroupVersion.String(), Kind: kind, Name: "absent", UID: "absent", Controller: &yes,
		}}
	}
}
