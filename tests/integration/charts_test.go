package integration

import (
	"crypto/sha256"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

var _ = Describe("A Helm chart", func() {
	It("of a registry is installed in the newest version of a range, pinned, with values, and costs no call at rest", func() {
		emptyHub()
		env.FaultFree()
		chart := testkit.Unique("chart")
		for _, version := range []string{"1.0.0", "1.1.0", "2.0.0"} {
			env.PushChart("charts/"+chart, version, chartOf(chart, version))
		}
		manifest := installs(source{"type": "helm-chart", "url": ociRegistry(), "chartName": chart, "version": "~1"}, withValues(`{"colour":"red"}`))
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready(resolvedTo(manifest.Name, "1.1.0", ""), HaveField("Status.Synced", HaveLen(1))))
		Expect(settings(chart + "-settings")()).To(Equal(map[string]string{
			"version": "1.1.0", "colour": "red", "count": "1", "release": manifest.Name, "namespace": "default", "apps": "true",
		}))

		By("calling nothing at rest, neither clusters nor the registry")
		atRest()
		asked := env.Registry.Counts()
		expectNoCalls()
		Expect(env.Registry.Counts()).To(Equal(asked))

		By("keeping the version when a newer one fits, also when the values change")
		env.PushChart("charts/"+chart, "1.2.0", chartOf(chart, "1.2.0"))
		testkit.Edit(env.Hub, manifest, withValues(`{"colour":"blue","count":2}`))
		Eventually(settings(chart + "-settings")).Should(And(HaveKeyWithValue("colour", "blue"), HaveKeyWithValue("version", "1.1.0")))

		By("taking another one when the spec says so")
		testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) {
			m.Spec.Install.Source = testkit.Raw(source{"url": ociRegistry() + "/" + chart, "version": "2.0.0"})
		})
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready(resolvedTo(manifest.Name, "2.0.0", "")))
		Expect(settings(chart + "-settings")()).To(HaveKeyWithValue("version", "2.0.0"))
		expectRemoved(manifest, chart+"-settings")
	})

	It("of a Helm repository is installed in the newest version of a range; a version that is not there is told, and heals", func() {
		chart, folder := testkit.Unique("chart"), testkit.Unique("helm")
		repository := web.HelmRepository(folder, chart, map[string]testkit.Files{
			"1.0.0": chartOf(chart, "1.0.0"), "1.5.0": chartOf(chart, "1.5.0"), "1.6.0-rc.1": chartOf(chart, "1.6.0-rc.1"),
		})
		manifest := installs(source{"type": "helm-chart", "url": repository, "chartName": chart, "version": ">=1.0.0 <2.0.0"})
		digest := fmt.Sprintf("sha256:%x", sha256.Sum256(chartOf(chart, "1.5.0").Gzip()))
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready(resolvedTo(manifest.Name, "1.5.0", digest)))
		Expect(settings(chart + "-settings")()).To(HaveKeyWithValue("version", "1.5.0"))
		asked := web.Requests(folder + "/index.yaml")
		expectHealed(env.Runtimes[0], configMap(chart+"-settings"))
		Expect(web.Requests(folder+"/index.yaml")).To(Equal(asked), "requests for the index once the chart is there")

		testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) {
			m.Spec.Install.Source = testkit.Raw(source{"url": repository, "chartName": chart, "version": "3.0.0"})
		})
		Eventually(testkit.Live(env.Hub, manifest)).Should(tells(v1beta2.StateError, v1beta2.ReasonContentNotFound, chart, "3.0.0"))
		Expect(settings(chart + "-settings")()).To(HaveKeyWithValue("version", "1.5.0"))
		web.HelmRepository(folder, chart, map[string]testkit.Files{"3.0.0": chartOf(chart, "3.0.0")})
		Eventually(testkit.Live(env.Hub, manifest), "60s").Should(ready(resolvedTo(manifest.Name, "3.0.0", "")))
		expectRemoved(manifest, chart+"-settings")
	})

	It("in a layer takes values, namespace and release name from the config layer, and spec.values go over them", func() {
		env.FaultFree()
		chart, namespace := testkit.Unique("chart"), testkit.Unique("space")
		config := func(overrides string) *v1beta2.ImageSpec {
			spec := env.PushLayer([]byte(fmt.Sprintf("configs:\n- name: main\n  overrides: %q\n  clientConfig: %q\n", overrides,
				"Namespace="+namespace+",CreateNamespace=true,ReleaseName=lamp")), v1beta2.RefTypeOCI)
			return &spec
		}
		layer := env.PushLayer(chartOf(chart, "1.0.0").Gzip(), v1beta2.RefTypeHelmChart)
		manifest := standAlone(layer, withValues(`{"count":3}`), func(m *v1beta2.Manifest) {
			m.Spec.Install.Name, m.Spec.Config = "main", config("colour=green,count=2")
		})
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready(resolvedTo("main", "", layer.Ref), resolvedTo("spec.config", "", "")))
		Expect(settingsIn(namespace, chart+"-settings")()).To(Equal(map[string]string{
			"version": "1.0.0", "colour": "green", "count": "3", "release": "lamp", "namespace": namespace, "apps": "true",
		}))

		By("following a config layer that changes")
		testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) { m.Spec.Config = config("colour=black") })
		Eventually(settingsIn(namespace, chart+"-settings")).Should(HaveKeyWithValue("colour", "black"))
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready())

		By("leaving the namespace behind, which is no one's")
		remove(manifest)
		Expect(settingsIn(namespace, chart+"-settings")()).To(BeNil())
		expectThere(env.Runtimes[0], &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	})

	DescribeTable("that cannot be installed safely is refused by name, and nothing of it is applied",
		func(files testkit.Files, values, reason string, texts ...string) {
			chart := testkit.Unique("chart")
			all := testkit.Chart(chart, "1.0.0", files)
			all[chart+"/templates/good.yaml"] = mapNamed(chart, "1.0.0")
			manifest := standAlone(env.PushLayer(all.Gzip(), v1beta2.RefTypeHelmChart), withValues(values))
			Eventually(testkit.Live(env.Hub, manifest)).Should(And(tells(v1beta2.StateError, reason, texts...),
				testkit.HaveCondition(v1beta2.ConditionResources, metav1.ConditionFalse, reason), HaveField("Status.Synced", BeEmpty())))
			Expect(settings(chart)()).To(BeNil())
		},
		Entry("a hook for an event that there is not", testkit.Files{"templates/hook.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n" +
			"  name: hook\n  annotations: {helm.sh/hook: pre-flight}\n"}, `{}`, v1beta2.ReasonHooksRefused, "hook", "pre-flight"),
		Entry("the time of the render", testkit.Files{"templates/secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: once}\n" +
			"stringData: {password: {{ randAlphaNum 20 }}, at: {{ now | quote }}}\n"}, `{}`, v1beta2.ReasonNonDeterministic, "once", "stringData.at"),
		Entry("values that its schema refuses", testkit.Files{"values.schema.json": `{"type":"object","properties":{"count":{"type":"integer"}}}`},
			`{"count":"many"}`, v1beta2.ReasonValuesInvalid, "count"),
		Entry("a template that fails", testkit.Files{"templates/bad.yaml": `{{ required "colour is needed" .Values.colour }}`}, `{}`,
			v1beta2.ReasonContentInvalid, "colour is needed"),
		Entry("YAML that is none", testkit.Files{"templates/bad.yaml": "kind: [unclosed"}, `{}`, v1beta2.ReasonContentInvalid, "bad.yaml"),
	)

	It("keeps running as it is when new values are refused", func() {
		chart := testkit.Unique("chart")
		manifest := standAlone(env.PushLayer(chartOf(chart, "1.0.0").Gzip(), v1beta2.RefTypeHelmChart), withValues(`{"count":1}`))
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready())
		testkit.Edit(env.Hub, manifest, withValues(`{"count":11}`))
		Eventually(testkit.Live(env.Hub, manifest)).Should(And(tells(v1beta2.StateError, v1beta2.ReasonValuesInvalid, "count"),
			HaveField("Status.Synced", HaveLen(1))))
		Expect(settings(chart + "-settings")()).To(HaveKeyWithValue("count", "1"))
		testkit.Edit(env.Hub, manifest, withValues(`{"count":9}`))
		Eventually(settings(chart + "-settings")).Should(HaveKeyWithValue("count", "9"))
		remove(manifest)
	})

	It("of a registry or repository that wants a login gets the one that credSecretSelector finds", func() {
		chart, user, password := testkit.Unique("chart"), "puller", "s3cret"
		selector := map[string]any{"matchLabels": map[string]any{"registry-of": chart}}
		env.PushChart("charts/"+chart, "1.0.0", chartOf(chart, "1.0.0"))
		repository := web.HelmRepository(chart, chart, map[string]testkit.Files{"1.0.0": chartOf(chart, "1.0.0")})
		web.RequireLogin(chart, user, password)
		inject(localcluster.RequireLogin(user, password))
		private := installs(source{"url": ociRegistry(), "chartName": chart, "credSecretSelector": selector})
		Eventually(testkit.Live(env.Hub, private)).Should(tells(v1beta2.StateError, v1beta2.ReasonRegistryUnauthorized, "registry-of="+chart))
		secret := loginSecret(chart, user, password)
		env.Hub.Create(secret)
		Eventually(testkit.Live(env.Hub, private)).Should(ready(resolvedTo(private.Name, "1.0.0", "")))
		remove(private)

		By("an HTTP login for a Helm repository")
		env.Hub.Delete(secret)
		env.Hub.Create(&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: v1beta2.DefaultNamespace, Name: chart + "-web", Labels: map[string]string{"registry-of": chart},
				Annotations: map[string]string{v1beta2.AnnotationLoginHosts: web.Host},
			},
			Type:       corev1.SecretTypeBasicAuth,
			StringData: map[string]string{"username": user, "password": password},
		})
		open := installs(source{"url": repository, "chartName": chart})
		Eventually(testkit.Live(env.Hub, open)).Should(tells(v1beta2.StateError, v1beta2.ReasonRegistryUnauthorized, web.Host))
		testkit.Edit(env.Hub, open, func(m *v1beta2.Manifest) {
			m.Spec.Install.Source = testkit.Raw(source{"url": repository, "chartName": chart, "credSecretSelector": selector})
		})
		Eventually(testkit.Live(env.Hub, open)).Should(ready(resolvedTo(open.Name, "1.0.0", "")))
		remove(open)
	})
})
