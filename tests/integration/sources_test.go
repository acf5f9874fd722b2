package integration

import (
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// source is one source of a Manifest, as users write it.
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

// ociRegistry returns the registry as a chart's url names it.
func ociRegistry() string { return "oci://" + env.Registry.Host + "/charts" }

// chartOf returns a chart that tells in one ConfigMap what it was rendered with.
func chartOf(name, version string) testkit.Files {
	return testkit.Chart(name, version, testkit.Files{
		"values.yaml":         "colour: grey\ncount: 1\n",
		"values.schema.json":  `{"type": "object", "properties": {"count": {"type": "integer", "maximum": 9}}}`,
		"templates/_name.tpl": `{{ define "name" }}{{ .Chart.Name }}-settings{{ end }}`,
		"templates/NOTES.txt": "No one reads this.",
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

// mapNamed returns a ConfigMap as YAML.
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

// expectNoCalls sees that the manager comes to rest: six seconds pass in which it calls nothing. What other specs left may call in between,
// such as for a kind that a runtime does not serve, which is requested with growing pauses.
func expectNoCalls() {
	GinkgoHelper()
	hub, far := hubCalls.Snapshot(), runtimeCalls.Snapshot()
	Eventually(quiet()).WithTimeout(time.Minute).Should(BeNumerically(">", 6*time.Second), func() string {
		return fmt.Sprintf("calls meanwhile:\n%s\n%s", countable(hubCalls.Since(hub)), countable(runtimeCalls.Since(far)))
	})
}

// definitionFor returns a CRD of a kind that only this spec has.
func definitionFor(name string) []byte {
	return testkit.Content{Objects: testkit.Operator(name, "1.0.0").Objects[:1]}.YAML()
}

// customFor returns a custom resource of that kind.
func customFor(name, of string) string {
	return fmt.Sprintf("apiVersion: testkit.kyma-project.io/v1\nkind: %s\nmetadata: {name: %s}\nspec: {size: 2}\n", testkit.KindOf(of), name)
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
