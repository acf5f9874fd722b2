package integration

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/provision"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// source is one source of a Manifest, as people write it.
type source map[string]any

// installs makes a stand-alone Manifest that installs a source into a runtime.
func installs(from source, changes ...func(*v1beta2.Manifest)) *v1beta2.Manifest {
	GinkgoHelper()
	of := func(m *v1beta2.Manifest) { m.Spec.Install.Source = testkit.Raw(from) }
	return standAlone(v1beta2.ImageSpec{}, append([]func(*v1beta2.Manifest){of}, changes...)...)
}

func withValues(values string) func(*v1beta2.Manifest) {
	return func(m *v1beta2.Manifest) { m.Spec.Values = &runtime.RawExtension{Raw: []byte(values)} }
}

// also adds a further installation.
func also(name string, from any) func(*v1beta2.Manifest) {
	return func(m *v1beta2.Manifest) {
		m.Spec.AdditionalInstalls = append(m.Spec.AdditionalInstalls, v1beta2.InstallInfo{Name: name, Source: testkit.Raw(from)})
	}
}

// ociRegistry is the registry as a chart's url names it.
func ociRegistry() string { return "oci://" + env.Registry.Host + "/charts" }

// chartOf is a chart that tells in one ConfigMap what it was rendered with.
func chartOf(name, version string) testkit.Files {
	return testkit.Chart(name, version, testkit.Files{
		"values.yaml":         "colour: grey\ncount: 1\n",
		"values.schema.json":  `{"type": "object", "properties": {"count": {"type": "integer", "maximum": 9}}}`,
		"templates/_name.tpl": `{{ define "name" }}{{ .Chart.Name }}-settings{{ end }}`,
		"templates/NOTES.txt": "Nobody reads this.",
		"templates/settings.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: {{ include "name" . }}}
data:
  version: {{ .Chart.Version | quote }}
  colour: {{ .Values.colour | quote }}
  count: {{ .Values.count | quote }}
  release: {{ .Release.Name | quote }}
  namespace: {{ .Release.Namespace | quote }}
  apps: {{ .Capabilities.APIVersions.Has "apps/v1/Deployment" | quote }}
`,
	})
}

// settings reads a ConfigMap of namespace default in the first runtime; nil while it is not there.
func settings(name string) func() (map[string]string, error) {
	return settingsIn(metav1.NamespaceDefault, name)
}

func settingsIn(namespace, name string) func() (map[string]string, error) {
	return func() (map[string]string, error) {
		found := &corev1.ConfigMap{}
		err := env.Runtimes[0].Client.Get(ctx(), client.ObjectKey{Namespace: namespace, Name: name}, found)
		return found.Data, client.IgnoreNotFound(err)
	}
}

// resolvedTo matches a Manifest whose status names version and digest of a source; an empty text stands for any.
func resolvedTo(name, version, digest string) types.GomegaMatcher {
	matchers := []types.GomegaMatcher{HaveField("Name", name), HaveField("Digest", HavePrefix("sha256:"))}
	if version != "" {
		matchers = append(matchers, HaveField("Version", version))
	}
	if digest != "" {
		matchers = append(matchers, HaveField("Digest", digest))
	}
	return HaveField("Status.Resolved", ContainElement(And(matchers...)))
}

func ready(matchers ...types.GomegaMatcher) types.GomegaMatcher {
	return And(append([]types.GomegaMatcher{testkit.HaveState(v1beta2.StateReady)}, matchers...)...)
}

// mapNamed is a ConfigMap as YAML.
func mapNamed(name, version string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {version: %q}\n", name, version)
}

// expectRemoved deletes a Manifest and sees that these ConfigMaps are gone with it.
func expectRemoved(manifest *v1beta2.Manifest, names ...string) {
	GinkgoHelper()
	remove(manifest)
	for _, name := range names {
		Expect(settings(name)()).To(BeNil(), name)
	}
}

// expectNoCalls counts that the manager, once it came to rest, calls nothing.
func expectNoCalls() {
	GinkgoHelper()
	atRest()
	hub, far := hubCalls.Snapshot(), runtimeCalls.Snapshot()
	Consistently(func() int {
		return countable(hubCalls.Since(hub)).Total() + countable(runtimeCalls.Since(far)).Total()
	}, 4*time.Second).Should(BeZero(), "%s\n%s", countable(hubCalls.Since(hub)), countable(runtimeCalls.Since(far)))
}

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
		asked := web.Asked(folder + "/index.yaml")
		expectHealed(env.Runtimes[0], configMap(chart+"-settings"))
		Expect(web.Asked(folder+"/index.yaml")).To(Equal(asked), "requests for the index once the chart is there")

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

		By("leaving the namespace behind, which is nobody's")
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
		Entry("a hook", testkit.Files{"templates/hook.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: hook\n" +
			"  annotations: {helm.sh/hook: pre-install}\n"}, `{}`, v1beta2.ReasonHooksRefused, "hook", "pre-install"),
		Entry("a generated password", testkit.Files{"templates/secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: once}\n" +
			"stringData: {password: {{ randAlphaNum 20 }}}\n"}, `{}`, v1beta2.ReasonNonDeterministic, "once"),
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
		inject(provision.RequireLogin(user, password))
		private := installs(source{"url": ociRegistry(), "chartName": chart, "credSecretSelector": selector})
		Eventually(testkit.Live(env.Hub, private)).Should(tells(v1beta2.StateError, v1beta2.ReasonRegistryUnauthorized, "registry-of="+chart))
		secret := loginSecret(chart, user, password)
		env.Hub.Create(secret)
		Eventually(testkit.Live(env.Hub, private)).Should(ready(resolvedTo(private.Name, "1.0.0", "")))
		remove(private)

		By("an HTTP login for a Helm repository")
		env.Hub.Delete(secret)
		env.Hub.Create(&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: v1beta2.DefaultNamespace, Name: chart + "-web", Labels: map[string]string{"registry-of": chart}},
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

// definitionFor is a CRD of a kind that only this spec has.
func definitionFor(name string) []byte {
	return testkit.Content{Objects: testkit.Operator(name, "1.0.0").Objects[:1]}.YAML()
}

// customFor is a custom resource of that kind.
func customFor(name, of string) string {
	return fmt.Sprintf("apiVersion: testkit.kyma-project.io/v1\nkind: %s\nmetadata: {name: %s}\nspec: {size: 2}\n", testkit.KindOf(of), name)
}

// stuckDeployment is one whose pods no node can run.
func stuckDeployment(name string) testkit.Content {
	GinkgoHelper()
	content := testkit.Deployment(name, "1.0.0")
	for _, object := range content.Objects {
		if object.GetKind() == "Deployment" {
			Expect(unstructured.SetNestedField(object.Object, "golden", "spec", "template", "spec", "nodeSelector", "disk")).To(Succeed())
		}
	}
	return content
}

var _ = Describe("The installations of a Manifest", func() {
	It("come in order: definitions, the first, the further ones, each when all before it are ready", func() {
		env.FaultFree()
		name := testkit.Unique("order")
		crds := env.PushLayer(definitionFor(name), v1beta2.RefTypeOCI)
		first := publish(testkit.RawManifest([]byte(string(stuckDeployment(name).YAML()) + "---\n" + customFor("sample", name))))
		chart := testkit.Chart(name, "1.0.0", testkit.Files{"templates/two.yaml": mapNamed(name+"-second", "1.0.0")})
		manifest := standAlone(first, also("second", env.PushLayer(chart.Gzip(), v1beta2.RefTypeHelmChart)),
			also("third", publish(testkit.RawManifest([]byte(mapNamed(name+"-third", "1.0.0"))))),
			func(m *v1beta2.Manifest) { m.Spec.Install.Name, m.Spec.CRDs = "first", &crds })

		waits := And(testkit.HaveState(v1beta2.StateProcessing), testkit.HaveCondition(v1beta2.ConditionReady, metav1.ConditionFalse, v1beta2.ReasonWaitingForInstall),
			HaveField("Status.LastOperation.Operation", And(HavePrefix("second waits for"), ContainSubstring(name))))
		Eventually(testkit.Live(env.Hub, manifest)).Should(waits)
		Consistently(testkit.Live(env.Hub, manifest)).Should(waits)
		Expect(settings(name + "-second")()).To(BeNil())
		Expect(settings(name + "-third")()).To(BeNil())

		By("going on by itself once the first runs")
		testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) {
			source := publish(testkit.RawManifest([]byte(string(testkit.Deployment(name, "1.0.0").YAML()) + "---\n" + customFor("sample", name))))
			m.Spec.Install.Source = testkit.Raw(source)
		})
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready(
			HaveField("Status.Resolved", HaveExactElements(HaveField("Name", "spec.crds"), HaveField("Name", "first"), HaveField("Name", "second"), HaveField("Name", "third"))),
			HaveField("Status.Synced", HaveLen(6))))
		Expect(created(name + "-second")).To(BeTemporally("<=", created(name+"-third")))

		By("putting back what of a later one is deleted, although an earlier one does not run")
		env.Runtimes[0].Delete(configMap(name + "-third"))
		Eventually(settings(name+"-third"), atOnce).ShouldNot(BeNil())

		By("pruning an installation that is no longer asked for")
		testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) { m.Spec.AdditionalInstalls = m.Spec.AdditionalInstalls[:1] })
		Eventually(settings(name + "-third")).Should(BeNil())
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready(HaveField("Status.Synced", HaveLen(5))))
		expectRemoved(manifest, name+"-second")
		expectGone(env.Runtimes[0], definitionOf(testkit.Operator(name, "1.0.0")), deployment(name))
	})

	It("that name no namespace go to spec.targetNamespace", func() {
		env.FaultFree()
		name, namespace := testkit.Unique("target"), testkit.Unique("space")
		env.Runtimes[0].Create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
		manifest := standAlone(publish(testkit.RawManifest([]byte(mapNamed(name, "1.0.0")))), func(m *v1beta2.Manifest) { m.Spec.TargetNamespace = namespace })
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready(HaveField("Status.Synced", HaveExactElements(HaveField("Namespace", namespace)))))
		Expect(settingsIn(namespace, name)()).NotTo(BeNil())
		remove(manifest)
		Expect(settingsIn(namespace, name)()).To(BeNil())
	})
})

func created(name string) time.Time {
	GinkgoHelper()
	found := configMap(name)
	Expect(env.Runtimes[0].Client.Get(ctx(), client.ObjectKeyFromObject(found), found)).To(Succeed())
	return found.CreationTimestamp.Time
}

// kustomization has a base and an overlay that reaches out of its folder for it.
func kustomization(name string) testkit.Files {
	return testkit.Files{
		"base/kustomization.yaml":          "resources: [map.yaml]\n",
		"base/map.yaml":                    mapNamed(name, "1.0.0"),
		"overlays/demo/kustomization.yaml": "resources: [../../base]\nnameSuffix: -demo\nlabels:\n- pairs: {from: overlay}\n",
	}
}

// bundle has numbered files: a definition, a custom resource of it, and one without a number.
func bundle(name string) testkit.Files {
	return testkit.Files{
		"README.md":                    "Not a manifest.",
		"manifests/00_definition.yaml": string(definitionFor(name)),
		"manifests/01_sample.json": fmt.Sprintf(
			`{"apiVersion":"testkit.kyma-project.io/v1","kind":%q,"metadata":{"name":"sample"},"spec":{"size":1}}`, testkit.KindOf(name)),
		"manifests/map.yaml": mapNamed(name, "{{ .NotATemplate }}"),
	}
}

var _ = Describe("A kustomization", func() {
	It("in a layer is built in the folder that path names", func() {
		env.FaultFree()
		name := testkit.Unique("kust")
		layer := env.PushLayer(kustomization(name).Tar(), v1beta2.RefTypeKustomize)
		manifest := installs(source{"repo": layer.Repo, "name": layer.Name, "ref": layer.Ref, "type": "kustomize", "path": "overlays/demo"})
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready(resolvedTo(manifest.Name, "", layer.Ref)))
		found, err := testkit.Live(env.Runtimes[0], configMap(name+"-demo"))()
		Expect(err).NotTo(HaveOccurred())
		Expect(found.Labels).To(HaveKeyWithValue("from", "overlay"))
		expectRemoved(manifest, name+"-demo")
	})

	It("of a git repository is built from the commit that a branch had, which is kept when the branch moves on", func() {
		env.FaultFree()
		name := testkit.Unique("kust")
		url, commit := web.Commit(name, kustomization(name))
		manifest := installs(source{"git": map[string]any{"url": url, "ref": map[string]any{"branch": "main"}}, "type": "kustomize", "path": "overlays/demo"})
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready(resolvedTo(manifest.Name, commit, "")))
		Expect(settings(name + "-demo")()).To(HaveKeyWithValue("version", "1.0.0"))

		By("another commit on the branch")
		changed := kustomization(name)
		changed["base/map.yaml"] = mapNamed(name, "1.1.0")
		_, next := web.Commit(name, changed)
		testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) { m.Spec.Version = "1.0.1" })
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready(resolvedTo(manifest.Name, commit, "")))
		expectHealed(env.Runtimes[0], configMap(name+"-demo"))
		Expect(settings(name + "-demo")()).To(HaveKeyWithValue("version", "1.0.0"))

		By("that commit by its hash")
		testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) {
			m.Spec.Install.Source = testkit.Raw(source{"git": map[string]any{"url": url, "ref": map[string]any{"commit": next}}, "type": "kustomize", "path": "overlays/demo"})
		})
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready(resolvedTo(manifest.Name, next, "")))
		Expect(settings(name + "-demo")()).To(HaveKeyWithValue("version", "1.1.0"))
		expectRemoved(manifest, name+"-demo")
	})

	It("that refers to something outside of its content is refused, and heals", func() {
		name := testkit.Unique("kust")
		files := kustomization(name)
		files["base/kustomization.yaml"] = "resources: [map.yaml, \"https://example.com/more.yaml\"]\n"
		layer := env.PushLayer(files.Tar(), v1beta2.RefTypeKustomize)
		from := source{"repo": layer.Repo, "name": layer.Name, "ref": layer.Ref, "type": "kustomize", "path": "overlays/demo"}
		manifest := installs(from)
		Eventually(testkit.Live(env.Hub, manifest)).Should(tells(v1beta2.StateError, v1beta2.ReasonRemoteBaseRefused, "base/kustomization.yaml", "https://example.com/more.yaml"))
		layer = env.PushLayer(kustomization(name).Tar(), v1beta2.RefTypeKustomize)
		from["name"], from["ref"] = layer.Name, layer.Ref
		testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) { m.Spec.Install.Source = testkit.Raw(from) })
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready())
		expectRemoved(manifest, name+"-demo")
	})
})

var _ = Describe("A plain bundle", func() {
	DescribeTable("is installed step by step", func(from func(name string, files testkit.Files) source) {
		env.FaultFree()
		name := testkit.Unique("bundle")
		manifest := installs(from(name, bundle(name)))
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready(HaveField("Status.Synced", HaveLen(3)), resolvedTo(manifest.Name, "", "")))
		Expect(settings(name)()).To(HaveKeyWithValue("version", "{{ .NotATemplate }}"))
		expectRemoved(manifest, name)
		expectGone(env.Runtimes[0], definitionOf(testkit.Operator(name, "1.0.0")))
	},
		Entry("from an image", func(name string, files testkit.Files) source {
			env.PushImage("bundles/"+name, "v1", testkit.Files{"old.txt": "below"}, files)
			return source{"image": env.Registry.Host + "/bundles/" + name + ":v1"}
		}),
		Entry("from an image by digest", func(name string, files testkit.Files) source {
			digest := env.PushImage("bundles/"+name, "v1", files)
			return source{"type": "bundle", "image": env.Registry.Host + "/bundles/" + name + "@" + digest}
		}),
		Entry("from a layer", func(_ string, files testkit.Files) source {
			layer := env.PushLayer(files.Gzip(), v1beta2.RefTypeBundle)
			return source{"type": "bundle", "repo": layer.Repo, "name": layer.Name, "ref": layer.Ref}
		}),
		Entry("from a folder of a git repository", func(name string, files testkit.Files) source {
			url, _ := web.Commit(name, files.Below("deploy"))
			return source{"git": map[string]any{"url": url, "ref": map[string]any{"branch": "main"}}, "path": "deploy"}
		}),
		Entry("from an archive on a web server", func(name string, files testkit.Files) source {
			url, digest := web.Put(name+".tgz", files.Gzip())
			return source{"http": map[string]any{"url": url, "sha256": strings.TrimPrefix(digest, "sha256:")}}
		}),
		Entry("from immutable ConfigMaps", func(name string, files testkit.Files) source {
			data := map[string]string{}
			for path, text := range files {
				if file, inside := strings.CutPrefix(path, "manifests/"); inside {
					data[file] = text
				}
			}
			immutable := true
			env.Hub.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: v1beta2.DefaultNamespace, Name: name}, Data: data, Immutable: &immutable})
			return source{"configMaps": []any{map[string]any{"name": name}}}
		}),
	)

	DescribeTable("is refused with its reason", func(from func(name string) source, reason string, texts ...string) {
		manifest := installs(from(testkit.Unique("bundle")))
		Eventually(testkit.Live(env.Hub, manifest)).Should(And(tells(v1beta2.StateError, reason, texts...), HaveField("Status.Synced", BeEmpty())))
	},
		Entry("when its bytes are others than the digest says", func(name string) source {
			url, _ := web.Put(name+".tgz", bundle(name).Gzip())
			return source{"http": map[string]any{"url": url, "sha256": strings.Repeat("1", 64)}}
		}, v1beta2.ReasonDigestMismatch, ".tgz"),
		Entry("when it has no folder manifests", func(name string) source {
			env.PushImage("bundles/"+name, "v1", testkit.Files{"map.yaml": mapNamed(name, "1.0.0")})
			return source{"image": env.Registry.Host + "/bundles/" + name + ":v1"}
		}, v1beta2.ReasonContentInvalid, "manifests"),
		Entry("when a ConfigMap can still be changed", func(name string) source {
			env.Hub.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: v1beta2.DefaultNamespace, Name: name}, Data: map[string]string{"map.yaml": mapNamed(name, "1.0.0")}})
			return source{"configMaps": []any{map[string]any{"name": name}}}
		}, v1beta2.ReasonSourceInvalid, "immutable: true"),
		Entry("when a ConfigMap is not there", func(name string) source {
			return source{"configMaps": []any{map[string]any{"name": name}}}
		}, v1beta2.ReasonContentNotFound, "create it"),
		Entry("when its tag is not there", func(name string) source {
			return source{"image": env.Registry.Host + "/bundles/" + name + ":v1"}
		}, v1beta2.ReasonContentNotFound, ":v1"),
		Entry("when a file is no manifest", func(name string) source {
			files := bundle(name)
			files["manifests/README.md"] = "Just text."
			env.PushImage("bundles/"+name, "v1", files)
			return source{"image": env.Registry.Host + "/bundles/" + name + ":v1"}
		}, v1beta2.ReasonContentInvalid, "README.md"),
	)
})

// inConfigMap puts the files of one folder into an immutable ConfigMap, and returns the entry of a source that names it.
func inConfigMap(name, folder string, files testkit.Files) map[string]any {
	GinkgoHelper()
	immutable, data := true, map[string]string{}
	for path, text := range files {
		data[path] = text
	}
	env.Hub.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: v1beta2.DefaultNamespace, Name: name}, Data: data, Immutable: &immutable})
	return map[string]any{"name": name, "path": folder}
}

var _ = Describe("Every type of content", func() {
	chart := func(name string) testkit.Files {
		return testkit.Chart(name, "1.0.0", testkit.Files{"templates/map.yaml": mapNamed(name, "1.0.0")})
	}
	git := func(name string, files testkit.Files) map[string]any {
		url, commit := web.Commit(name, files)
		return map[string]any{"url": url, "ref": map[string]any{"commit": commit}}
	}
	file := func(name string, data []byte) map[string]any {
		url, digest := web.Put(name, data)
		return map[string]any{"url": url, "sha256": digest}
	}
	DescribeTable("comes from every place that can hold it", func(from func(name string) source) {
		env.FaultFree()
		name := testkit.Unique("mix")
		manifest := installs(from(name))
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready(resolvedTo(manifest.Name, "", "")))
		Expect(settings(name)()).To(HaveKeyWithValue("version", "1.0.0"))
		expectRemoved(manifest, name)
	},
		Entry("a chart of a git repository", func(name string) source {
			return source{"type": "helm-chart", "path": "charts/" + name, "git": git(name, chart(name).Below("charts"))}
		}),
		Entry("a chart behind a URL", func(name string) source {
			return source{"type": "helm-chart", "http": file(name+".tgz", chart(name).Gzip())}
		}),
		Entry("a chart in an image", func(name string) source {
			env.PushImage("mixed/"+name, "v1", chart(name).Below("charts"))
			return source{"type": "helm-chart", "path": "charts", "image": env.Registry.Host + "/mixed/" + name + ":v1"}
		}),
		Entry("a chart in ConfigMaps", func(name string) source {
			files := chart(name)
			return source{"type": "helm-chart", "configMaps": []any{
				inConfigMap(name, name, testkit.Files{"Chart.yaml": files[name+"/Chart.yaml"]}),
				inConfigMap(name+"-templates", name+"/templates", testkit.Files{"map.yaml": files[name+"/templates/map.yaml"]}),
			}}
		}),
		Entry("a kustomization in an image", func(name string) source {
			env.PushImage("mixed/"+name, "v1", testkit.Files{"deploy/kustomization.yaml": "resources: [map.yaml]\n", "deploy/map.yaml": mapNamed(name, "1.0.0")})
			return source{"type": "kustomize", "path": "deploy", "image": env.Registry.Host + "/mixed/" + name + ":v1"}
		}),
		Entry("a kustomization behind a URL", func(name string) source {
			files := testkit.Files{"deploy/kustomization.yaml": "resources: [map.yaml]\n", "deploy/map.yaml": mapNamed(name, "1.0.0")}
			return source{"type": "kustomize", "path": "deploy", "http": file(name+".tar", files.Tar())}
		}),
		Entry("a kustomization in a ConfigMap", func(name string) source {
			return source{"type": "kustomize", "path": "deploy", "configMaps": []any{
				inConfigMap(name, "deploy", testkit.Files{"kustomization.yaml": "resources: [map.yaml]\n", "map.yaml": mapNamed(name, "1.0.0")}),
			}}
		}),
		Entry("plain YAML behind a URL", func(name string) source {
			return source{"type": "oci-ref", "http": file(name+".yaml", []byte(mapNamed(name, "1.0.0")))}
		}),
		Entry("the only file of a folder of a git repository", func(name string) source {
			return source{"type": "oci-dir", "path": "deploy", "git": git(name, testkit.Files{"deploy/map.yaml": mapNamed(name, "1.0.0")})}
		}),
		Entry("the first file of an archive behind a URL", func(name string) source {
			return source{"type": "oci-dir", "http": file(name+".tar", testkit.Files{"a.yaml": mapNamed(name, "1.0.0")}.Tar())}
		}),
	)

	It("is installed into the hub itself as well", func() {
		env.FaultFree()
		name := testkit.Unique("local")
		manifest := testkit.Manifest(name, env.PushLayer(chartOf(name, "1.0.0").Gzip(), v1beta2.RefTypeHelmChart))
		env.Hub.Create(manifest)
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready())
		found, err := testkit.Live(env.Hub, configMap(name+"-settings"))()
		Expect(err).NotTo(HaveOccurred())
		Expect(found.Data).To(And(HaveKeyWithValue("apps", "true"), HaveKeyWithValue("release", name)))
		remove(manifest)
		expectGone(env.Hub, configMap(name+"-settings"))
	})

	It("survives a restart with the registry down: nothing is fetched, nothing is written, and drift is healed from the store", func() {
		emptyHub()
		name := testkit.Unique("chart")
		env.PushChart("charts/"+name, "1.0.0", chartOf(name, "1.0.0"))
		manifest := installs(source{"url": ociRegistry(), "chartName": name, "version": "^1"}, withValues(`{"colour":"red"}`))
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready())
		atRest()
		inject(provision.Down())
		hub, far := hubCalls.Snapshot(), runtimeCalls.Snapshot()
		env.Registry.ResetCounts()
		whileDown(func() {})
		Eventually(func() int { return runtimeCalls.Since(far).Total() }).Should(BeNumerically(">", 0))
		atRest()
		Expect(writes(hubCalls.Since(hub))).To(BeEmpty())
		Expect(writes(runtimeCalls.Since(far))).To(BeEmpty())
		expectHealed(env.Runtimes[0], configMap(name+"-settings"))
		Expect(settings(name + "-settings")()).To(HaveKeyWithValue("colour", "red"))
		Expect(testkit.Live(env.Hub, manifest)()).To(ready())
		Expect(env.Registry.Counts()).To(BeEmpty())
		remove(manifest)
	})

	It("that waits for an earlier installation can be deleted", func() {
		name := testkit.Unique("stuck")
		manifest := standAlone(publish(testkit.RawManifest(stuckDeployment(name).YAML())),
			also("second", publish(testkit.RawManifest([]byte(mapNamed(name, "1.0.0"))))))
		Eventually(testkit.Live(env.Hub, manifest)).Should(tells(v1beta2.StateProcessing, v1beta2.ReasonWaitingForInstall))
		remove(manifest)
		expectGone(env.Runtimes[0], deployment(name))
	})
})

var _ = Describe("A module", func() {
	// offerParts publishes a component with these resources and offers it on channel regular.
	offerParts := func(module string, parts ...component.Resource) {
		GinkgoHelper()
		env.Publish(testkit.ComponentName(module), "1.0.0", parts...)
		env.Hub.Create(testkit.ModuleTemplate(module, "1.0.0"))
		env.Point(module, "1.0.0", "regular")
	}

	It("whose component holds definitions, a chart and a config layer is installed from all of them", func() {
		env.FaultFree()
		module := testkit.Unique("charted")
		config := fmt.Sprintf("configs:\n- name: %s\n  overrides: colour=violet\n", "chart")
		offerParts(module,
			component.Resource{Name: "chart", Type: "helmChart", MediaType: "application/vnd.cncf.helm.chart.content.v1.tar+gzip", Data: chartOf(module, "1.0.0").Gzip()},
			component.Resource{Name: "config", Data: []byte(config)},
			component.Resource{Name: "crds", Data: definitionFor(module)},
			testkit.RawManifest([]byte(customFor("sample", module))),
		)
		kyma := newKyma(env.Runtimes[0], testkit.WithModule(module))
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveModule(module, testkit.HaveState(v1beta2.StateReady)))
		Expect(settings(module + "-settings")()).To(And(HaveKeyWithValue("colour", "violet"), HaveKeyWithValue("release", "chart")))
		Expect(manifestOf(kyma, module).Status.Resolved).To(HaveExactElements(HaveField("Name", "spec.config"), HaveField("Name", "spec.crds"),
			HaveField("Name", "raw-manifest"), HaveField("Name", "chart")))
		remove(kyma)
		Expect(settings(module + "-settings")()).To(BeNil())
		expectGone(env.Runtimes[0], definitionOf(testkit.Operator(module, "1.0.0")))
	})

	It("whose component holds a bundle and a kustomization by label is installed from both, in the order of the descriptor", func() {
		env.FaultFree()
		module := testkit.Unique("labelled")
		overlay := kustomization(module)
		overlay["kustomization.yaml"] = "resources: [overlays/demo]\n"
		env.PublishRendered(testkit.ComponentName(module), "1.0.0",
			testkit.Rendered{Name: "parts", Renderer: "bundle", Data: bundle(module).Tar()},
			testkit.Rendered{Name: "overlay", Renderer: "kustomize", Data: overlay.Gzip()})
		env.Hub.Create(testkit.ModuleTemplate(module, "1.0.0"))
		env.Point(module, "1.0.0", "regular")
		kyma := newKyma(env.Runtimes[0], testkit.WithModule(module))
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveModule(module, testkit.HaveState(v1beta2.StateReady)))
		Expect(settings(module)()).NotTo(BeNil())
		Expect(settings(module + "-demo")()).NotTo(BeNil())
		Expect(manifestOf(kyma, module).Status.Resolved).To(HaveExactElements(HaveField("Name", "raw-manifest"), HaveField("Name", "overlay")))
		remove(kyma)
		Expect(settings(module + "-demo")()).To(BeNil())
	})

	It("whose component holds only a chart is installed under the module's name", func() {
		env.FaultFree()
		module := testkit.Unique("charted")
		offerParts(module, component.Resource{Name: "raw-manifest", Type: "helmChart",
			MediaType: "application/vnd.cncf.helm.chart.content.v1.tar+gzip", Data: chartOf(module, "1.0.0").Gzip()})
		kyma := newKyma(env.Runtimes[0], testkit.WithModule(module))
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveModule(module, testkit.HaveState(v1beta2.StateReady)))
		Expect(settings(module + "-settings")()).To(And(HaveKeyWithValue("colour", "grey"), HaveKeyWithValue("release", module)))
		remove(kyma)
	})
})

var _ = Describe("The registries file", func() {
	It("is followed without a restart: a host that it makes trusted is read, and one that it broke keeps what held", func() {
		DeferCleanup(func() { writeRegistries(trust(web)) })
		name := testkit.Unique("late")
		elsewhere := testkit.StartWeb()
		url, digest := elsewhere.Put("bundle.tgz", bundle(name).Gzip())
		manifest := installs(source{"http": map[string]any{"url": url, "sha256": digest}})
		Eventually(testkit.Live(env.Hub, manifest)).Should(tells(v1beta2.StateError, v1beta2.ReasonRegistryUnreachable, elsewhere.Host))
		writeRegistries(trust(web, elsewhere))
		Eventually(testkit.Live(env.Hub, manifest), "60s").Should(ready())
		lines := len(env.Log.Errors())
		writeRegistries([]byte("registries: [{host: 127.0.0.1:1, colour: red}]"))
		Eventually(func() []string { return env.Log.Errors()[lines:] }).Should(HaveExactElements(ContainSubstring("colour")))
		next := testkit.Files{"manifests/map.yaml": mapNamed(name, "2.0.0")}
		url, digest = elsewhere.Put("next.tgz", next.Gzip())
		testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) {
			m.Spec.Install.Source = testkit.Raw(source{"http": map[string]any{"url": url, "sha256": digest}})
		})
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready(HaveField("Status.Synced", HaveLen(1))))
		remove(manifest)
	})
})
