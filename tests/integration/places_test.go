package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// inConfigMap puts the files of one folder into an immutable ConfigMap, and returns the entry of a source that names it.
func inConfigMap(name, folder string, files testkit.Files) map[string]any {
	GinkgoHelper()
	immutable := true
	env.Hub.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: v1beta2.DefaultNamespace, Name: name}, Data: files, Immutable: &immutable})
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
		inject(localcluster.Down())
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
