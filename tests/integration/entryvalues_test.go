package integration

import (
	"encoding/json"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// offerValued offers a module that is a chart with a schema, whose config layer sets the size.
func offerValued(module, version string) {
	GinkgoHelper()
	chart := testkit.Chart(module, version, testkit.Files{
		"values.yaml":        "colour: grey\nsize: 1\nsecret: none\n",
		"values.schema.json": `{"type":"object","properties":{"size":{"type":"integer"}}}`,
		"templates/a.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Chart.Name }}-settings}
data: {colour: {{ .Values.colour | quote }}, size: {{ .Values.size | quote }}, login: {{ sha256sum .Values.secret | trunc 8 | quote }}}
`,
	})
	env.Publish(testkit.ComponentName(module), version,
		component.Resource{
			Name: "raw-manifest", Type: "helmChart", MediaType: "application/vnd.cncf.helm.chart.content.v1.tar+gzip", Data: chart.Gzip(),
		},
		component.Resource{Name: "config", Data: []byte("configs: [{name: raw-manifest, values: {size: 2}}]\n")},
	)
	env.Hub.Create(testkit.ModuleTemplate(module, version))
	env.Point(module, version, "regular")
}

// withEntryValues sets the values of a module's entry.
func withEntryValues(module, values string, from ...v1beta2.ValuesReference) func(*v1beta2.Kyma) {
	return func(kyma *v1beta2.Kyma) {
		entry := &kyma.Spec.Modules[slices.IndexFunc(kyma.Spec.Modules, func(m v1beta2.Module) bool { return m.Name == module })]
		entry.Values, entry.ValuesFrom = nil, from
		if values != "" {
			entry.Values = &runtime.RawExtension{Raw: []byte(values)}
		}
	}
}

// valuesIn returns a Secret with values that entries may take.
func valuesIn(name, text string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: v1beta2.DefaultNamespace, Name: name, Labels: map[string]string{v1beta2.LabelValues: v1beta2.EnabledValue},
		},
		StringData: map[string]string{v1beta2.DefaultValuesKey: text},
	}
}

var _ = Describe("Values of a Kyma's entry", func() {
	var module string
	BeforeEach(func() { module = testkit.Unique("valued") })
	installed := func() (map[string]string, error) { return settings(module + "-settings")() }
	kymaWith := func(values string, from ...v1beta2.ValuesReference) *v1beta2.Kyma {
		GinkgoHelper()
		return newKyma(env.Runtimes[0], testkit.WithModule(module), withEntryValues(module, values, from...))
	}

	It("are laid over those of the module; others are another revision, and wrong ones leave what runs", func() {
		offerValued(module, "1.0.0")
		kyma := kymaWith(`{"colour":"violet"}`)
		Eventually(testkit.Live(env.Hub, kyma)).Should(isInstalled(module, "1.0.0"))
		Expect(installed()).To(And(HaveKeyWithValue("colour", "violet"), HaveKeyWithValue("size", "2")))
		first := manifestOf(kyma, module)
		Expect(first.Spec.KymaValues).To(Equal(&v1beta2.EntryValues{Inline: `{"colour":"violet"}`}))
		Expect(first.Status.Revisions).To(HaveLen(1))

		By("changing them")
		testkit.Edit(env.Hub, kyma, withEntryValues(module, `{"colour":"red","size":3}`))
		Eventually(installed).Should(And(HaveKeyWithValue("colour", "red"), HaveKeyWithValue("size", "3")))
		Eventually(testkit.Live(env.Hub, kyma)).Should(isInstalled(module, "1.0.0"))
		second := manifestOf(kyma, module)
		Expect(second.Status.Revisions).To(HaveExactElements(
			And(HaveField("Number", int64(1)), HaveField("Outcome", v1beta2.RevisionSucceeded)),
			And(HaveField("Number", int64(2)), HaveField("Outcome", v1beta2.RevisionSucceeded)),
		))
		expectNoCalls()

		By("asking for what the chart's schema refuses")
		testkit.Edit(env.Hub, kyma, withEntryValues(module, `{"colour":"blue","size":"large"}`))
		Eventually(testkit.Live(env.Hub, kyma)).Should(tells(v1beta2.StateError, v1beta2.ReasonModuleError, "size"))
		Eventually(env.ManifestOf(kyma.Name, module)).Should(tells(v1beta2.StateError, v1beta2.ReasonValuesInvalid, "size"))
		Expect(installed()).To(And(HaveKeyWithValue("colour", "red"), HaveKeyWithValue("size", "3")))

		By("taking them away")
		testkit.Edit(env.Hub, kyma, withEntryValues(module, ""))
		Eventually(testkit.Live(env.Hub, kyma)).Should(isInstalled(module, "1.0.0"))
		Eventually(installed).Should(And(HaveKeyWithValue("colour", "grey"), HaveKeyWithValue("size", "2")))
		Expect(manifestOf(kyma, module).Spec.KymaValues).To(BeNil())
		remove(kyma)
	})

	It("come from Secrets and ConfigMaps beside it, which are watched, and are shown nowhere", func() {
		offerValued(module, "1.0.0")
		login := valuesIn(module+"-login", "secret: hunter2\ncolour: black\n")
		sizes := &corev1.ConfigMap{ObjectMeta: *login.ObjectMeta.DeepCopy(), Data: map[string]string{"sizes": "size: 5\n"}}
		sizes.Name = module + "-sizes"
		kyma := kymaWith(`{"colour":"violet"}`,
			v1beta2.ValuesReference{Kind: v1beta2.ValuesSecret, Name: login.Name},
			v1beta2.ValuesReference{Kind: v1beta2.ValuesConfigMap, Name: sizes.Name, Key: "sizes"})
		Eventually(testkit.Live(env.Hub, kyma)).Should(tells(v1beta2.StateError, v1beta2.ReasonValuesNotFound, login.Name, v1beta2.LabelValues))
		env.Hub.Create(login)
		Eventually(testkit.Live(env.Hub, kyma)).Should(tells(v1beta2.StateError, v1beta2.ReasonValuesNotFound, sizes.Name))
		env.Hub.Create(sizes)
		Eventually(testkit.Live(env.Hub, kyma)).Should(isInstalled(module, "1.0.0"))
		before, err := installed()
		Expect(err).NotTo(HaveOccurred())
		Expect(before).To(And(HaveKeyWithValue("colour", "violet"), HaveKeyWithValue("size", "5")))
		live, err := testkit.Live(env.Hub, kyma)()
		Expect(err).NotTo(HaveOccurred())
		for _, object := range []any{manifestOf(kyma, module), live} {
			text, err := json.Marshal(object)
			Expect(err).NotTo(HaveOccurred())
			Expect(string(text)).NotTo(ContainSubstring("hunter2"))
		}
		expectNoCalls()

		By("following a change")
		testkit.Edit(env.Hub, login, func(s *corev1.Secret) { s.Data[v1beta2.DefaultValuesKey] = []byte("secret: hunter3\n") })
		Eventually(installed).Should(HaveKeyWithValue("login", Not(Equal(before["login"]))))
		Eventually(testkit.Live(env.Hub, kyma)).Should(isInstalled(module, "1.0.0"))
		Eventually(env.ManifestOf(kyma.Name, module)).Should(HaveField("Status.Revisions", HaveLen(2)))
		after, err := installed()
		Expect(err).NotTo(HaveOccurred())

		By("keeping what runs when one is gone, and going on when it is back")
		env.Hub.Delete(login)
		Eventually(testkit.Live(env.Hub, kyma)).Should(tells(v1beta2.StateError, v1beta2.ReasonValuesNotFound, login.Name))
		Expect(installed()).To(Equal(after))
		env.Hub.Create(valuesIn(login.Name, "secret: hunter3\n"))
		Eventually(testkit.Live(env.Hub, kyma)).Should(isInstalled(module, "1.0.0"))
		Expect(installed()).To(Equal(after))
		remove(kyma)
		env.Hub.Delete(login, sizes)
	})

	It("are refused by a module without a chart", func() {
		env.Offer(module, "1.0.0", testkit.ConfigMaps(module, "1.0.0", 1), "regular")
		kyma := kymaWith(`{"colour":"violet"}`)
		Eventually(env.ManifestOf(kyma.Name, module)).Should(tells(v1beta2.StateError, v1beta2.ReasonValuesInvalid, "has no chart that takes them"))
		testkit.Edit(env.Hub, kyma, withEntryValues(module, ""))
		Eventually(testkit.Live(env.Hub, kyma)).Should(isInstalled(module, "1.0.0"))
		remove(kyma)
	})

	It("are refused under an enforced signature, unless the policy allows them", func() {
		key := signingKey()
		required := requiring("enforce", module, key)
		enforceSignatures(required)
		DeferCleanup(func() { enforceSignatures() })
		offerValued(module, "1.0.0")
		sign(module, "1.0.0", key)
		kyma := newKyma(env.Runtimes[0], testkit.WithModule(module))
		Eventually(testkit.Live(env.Hub, kyma)).Should(isInstalled(module, "1.0.0"))
		testkit.Edit(env.Hub, kyma, withEntryValues(module, `{"colour":"violet"}`))
		Eventually(env.ManifestOf(kyma.Name, module)).Should(tells(v1beta2.StateError, v1beta2.ReasonContentNotCovered, "spec.kymaValues"))
		Expect(installed()).To(HaveKeyWithValue("colour", "grey"))
		required["allow"] = []string{"values"}
		enforceSignatures(required)
		Eventually(installed).Should(HaveKeyWithValue("colour", "violet"))
		Eventually(testkit.Live(env.Hub, kyma)).Should(isInstalled(module, "1.0.0"))
		remove(kyma)
	})
})
