package integration

import (
	"archive/tar"
	"bytes"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// publish pushes one layer and returns the source that names it.
func publish(layer component.Resource) v1beta2.ImageSpec {
	GinkgoHelper()
	return env.Publish(testkit.ComponentName(testkit.Unique("layer")), "1.0.0", layer).Source
}

// standAlone makes a Manifest without a Kyma that goes to a runtime.
func standAlone(source v1beta2.ImageSpec, changes ...func(*v1beta2.Manifest)) *v1beta2.Manifest {
	GinkgoHelper()
	name := testkit.Unique("manifest")
	env.AccessSecret(name, env.Runtimes[0])
	manifest := testkit.Manifest(name, source, append([]func(*v1beta2.Manifest){testkit.Remote(name)}, changes...)...)
	env.Hub.Create(manifest)
	return manifest
}

func haveReason(state v1beta2.State, reason string) func(*v1beta2.Manifest) bool {
	return func(m *v1beta2.Manifest) bool {
		for _, condition := range m.Status.Conditions {
			if condition.Type == v1beta2.ConditionReady && condition.Reason == reason {
				return m.Status.State == state && m.Status.ObservedGeneration == m.Generation
			}
		}
		return false
	}
}

var _ = Describe("A Manifest", func() {
	for _, packed := range []bool{false, true} {
		It(map[bool]string{false: "installs a plain layer", true: "installs a tar layer"}[packed], func() {
			env.FaultFree()
			name := testkit.Unique("maps")
			layer := testkit.RawManifest(testkit.ConfigMaps(name, "1.0.0", 2).YAML())
			if packed {
				layer = testkit.RawManifestDir(testkit.ConfigMaps(name, "1.0.0", 2).YAML())
			}
			manifest := standAlone(publish(layer))
			Eventually(testkit.Live(env.Hub, manifest)).Should(And(
				testkit.HaveState(v1beta2.StateReady),
				testkit.HaveCondition(v1beta2.ConditionResources, metav1.ConditionTrue, ""),
				testkit.HaveCondition(v1beta2.ConditionInstallation, metav1.ConditionTrue, ""),
				HaveField("Status.Synced", HaveLen(2)), HaveField("Status.Resolved", HaveLen(1))))
			Expect(versionIn(env.Runtimes[0], name+"-1")()).To(Equal("1.0.0"))
			env.Hub.Delete(manifest)
			Eventually(testkit.Gone(env.Hub, manifest)).Should(BeTrue())
			Expect(versionIn(env.Runtimes[0], name+"-1")()).To(BeEmpty())
		})
	}

	It("says what is wrong with its source, and heals when it is corrected", func() {
		name := testkit.Unique("maps")
		good := publish(testkit.RawManifest(testkit.ConfigMaps(name, "1.0.0", 1).YAML()))
		bad := good
		bad.Ref = "sha256:" + strings.Repeat("0", 64)
		manifest := standAlone(bad)
		Eventually(testkit.Live(env.Hub, manifest)).Should(Satisfy(haveReason(v1beta2.StateError, v1beta2.ReasonContentNotFound)))
		testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) { m.Spec.Install.Source = testkit.Raw(good) })
		Eventually(testkit.Live(env.Hub, manifest)).Should(testkit.HaveState(v1beta2.StateReady))
	})

	DescribeTable("refuses bad content by name, and applies nothing of it",
		func(layer func() component.Resource, reason string) {
			manifest := standAlone(publish(layer()))
			Eventually(testkit.Live(env.Hub, manifest)).Should(Satisfy(haveReason(v1beta2.StateError, reason)))
			Expect(testkit.Live(env.Hub, manifest)()).To(HaveField("Status.Synced", BeEmpty()))
		},
		Entry("malformed YAML", func() component.Resource { return testkit.RawManifest([]byte("kind: [unclosed")) }, v1beta2.ReasonContentInvalid),
		Entry("a document that is no object", func() component.Resource { return testkit.RawManifest([]byte("just: text")) }, v1beta2.ReasonContentInvalid),
		Entry("an archive that leads out", func() component.Resource { return testkit.RawManifestTar(archive("../evil.yaml", tar.TypeReg)) }, v1beta2.ReasonArchiveRefused),
		Entry("an archive with a link", func() component.Resource { return testkit.RawManifestTar(archive("link.yaml", tar.TypeSymlink)) }, v1beta2.ReasonArchiveRefused),
		Entry("a layer over the size cap", func() component.Resource {
			return testkit.RawManifest(bytes.Repeat([]byte("# nothing but comment\n"), (65<<20)/22))
		}, v1beta2.ReasonContentTooLarge),
	)

	DescribeTable("refuses what it cannot install, by name", func(change func(*v1beta2.Manifest), reason string) {
		manifest := standAlone(v1beta2.ImageSpec{Repo: env.Registry.Host + "/component-descriptors", Name: "x.example.com/y", Ref: "sha256:" + strings.Repeat("1", 64)}, change)
		Eventually(testkit.Live(env.Hub, manifest)).Should(Satisfy(haveReason(v1beta2.StateError, reason)))
	},
		Entry("an unknown type", func(m *v1beta2.Manifest) {
			m.Spec.Install.Source = testkit.Raw(source{"image": env.Registry.Host + "/x:1", "type": "jsonnet"})
		}, v1beta2.ReasonSourceUnsupported),
		Entry("a field that no one reads", func(m *v1beta2.Manifest) {
			m.Spec.Install.Source = testkit.Raw(source{"image": env.Registry.Host + "/x:1", "chartName": "y"})
		}, v1beta2.ReasonSourceInvalid),
		Entry("two places", func(m *v1beta2.Manifest) {
			m.Spec.Install.Source = testkit.Raw(source{"image": env.Registry.Host + "/x:1", "git": map[string]any{"url": "https://example.com/x"}})
		}, v1beta2.ReasonSourceInvalid),
		Entry("no place", func(m *v1beta2.Manifest) { m.Spec.Install.Source = testkit.Raw(source{"type": "bundle"}) }, v1beta2.ReasonSourceInvalid),
		Entry("two installations of one name", func(m *v1beta2.Manifest) {
			m.Spec.AdditionalInstalls = []v1beta2.InstallInfo{{Name: m.Spec.Install.Name, Source: m.Spec.Install.Source}}
		}, v1beta2.ReasonSourceInvalid),
		Entry("values that no one takes", func(m *v1beta2.Manifest) {
			m.Spec.Install.Source = testkit.Raw(publish(testkit.RawManifest(testkit.ConfigMaps("unused", "1.0.0", 1).YAML())))
			withValues(`{"a":1}`)(m)
		}, v1beta2.ReasonValuesInvalid),
		Entry("a broken probe", withProbes(v1beta2.Probe{Name: "broken", Kind: "Pod", Expression: "self."}), v1beta2.ReasonProbeInvalid),
		Entry("a host that only speaks plain HTTP", func(m *v1beta2.Manifest) {
			m.Spec.Install.Source = testkit.Raw(source{"http": map[string]any{"url": "http://example.com/x.yaml", "sha256": strings.Repeat("1", 64)}})
		}, v1beta2.ReasonSourceInvalid),
		Entry("a login in a URL", func(m *v1beta2.Manifest) {
			m.Spec.Install.Source = testkit.Raw(source{"url": "https://me:secret@example.com/charts", "chartName": "y"})
		}, v1beta2.ReasonSourceInvalid),
		Entry("a tag instead of a digest", func(m *v1beta2.Manifest) {
			m.Spec.Install.Source = testkit.Raw(v1beta2.ImageSpec{Repo: "registry.invalid/x", Name: "y", Ref: "latest"})
		}, v1beta2.ReasonSourceInvalid),
		Entry("an unknown registry", func(m *v1beta2.Manifest) {
			m.Spec.Install.Source = testkit.Raw(v1beta2.ImageSpec{Repo: "registry.invalid/x", Name: "y", Ref: "sha256:" + strings.Repeat("1", 64)})
		}, v1beta2.ReasonRegistryUnreachable),
	)

	It("applies nineteen objects when the runtime refuses one of twenty, and names that one", func() {
		name := testkit.Unique("maps")
		content := testkit.ConfigMaps(name, "1.0.0", 20)
		content.Objects[7].SetName("Not_A_Name")
		manifest := standAlone(publish(testkit.RawManifest(content.YAML())))
		Eventually(testkit.Live(env.Hub, manifest)).Should(And(
			Satisfy(haveReason(v1beta2.StateError, v1beta2.ReasonObjectRefused)),
			HaveField("Status.LastOperation.Operation", ContainSubstring("Not_A_Name"))))
		Expect(versionIn(env.Runtimes[0], name+"-19")()).To(Equal("1.0.0"))
	})

	It("names a kind that the runtime does not know, and applies the rest", func() {
		name := testkit.Unique("maps")
		content := append(testkit.ConfigMaps(name, "1.0.0", 1).YAML(),
			[]byte("---\napiVersion: nowhere.example.com/v1\nkind: Riddle\nmetadata: {name: one, namespace: default}\n")...)
		manifest := standAlone(publish(testkit.RawManifest(content)))
		Eventually(testkit.Live(env.Hub, manifest)).Should(And(
			Satisfy(haveReason(v1beta2.StateError, v1beta2.ReasonKindUnknown)),
			HaveField("Status.LastOperation.Operation", ContainSubstring("Riddle"))))
		Eventually(versionIn(env.Runtimes[0], name+"-0")).Should(Equal("1.0.0"))
	})

	It("brings back what is deleted and repairs what is edited, within seconds, and leaves the rest to people", func() {
		env.FaultFree()
		name := testkit.Unique("deploy")
		manifest := standAlone(publish(testkit.RawManifest(testkit.Deployment(name, "1.0.0").YAML())))
		Eventually(testkit.Live(env.Hub, manifest)).Should(testkit.HaveState(v1beta2.StateReady))
		runtime := env.Runtimes[0]
		key := client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: name}

		By("a deleted ServiceAccount")
		account := &corev1.ServiceAccount{}
		Expect(runtime.Client.Get(ctx(), key, account)).To(Succeed())
		was := account.UID
		runtime.Delete(account)
		Eventually(func(g Gomega) {
			g.Expect(runtime.Client.Get(ctx(), key, account)).To(Succeed())
			g.Expect(account.UID).NotTo(Equal(was))
		}).Should(Succeed())

		By("an edited Deployment: the declared field comes back, the restart annotation stays")
		deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
		Expect(runtime.Client.Get(ctx(), key, deployment)).To(Succeed())
		image := deployment.Spec.Template.Spec.Containers[0].Image
		testkit.Edit(runtime, deployment, func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.Containers[0].Image = "img.invalid/other:1"
			d.Spec.Template.Annotations = map[string]string{"kubectl.kubernetes.io/restartedAt": "now"}
		})
		Eventually(testkit.Live(runtime, deployment)).Should(HaveField("Spec.Template.Spec.Containers", HaveExactElements(HaveField("Image", image))))
		Expect(testkit.Live(runtime, deployment)()).To(HaveField("Spec.Template.Annotations", HaveKey("kubectl.kubernetes.io/restartedAt")))
		Eventually(testkit.Live(env.Hub, manifest)).Should(testkit.HaveState(v1beta2.StateReady))
	})

	It("does not look at the module's CR: a Warning there stays there", func() {
		name := testkit.Unique("oper")
		content := testkit.Operator(name, "1.0.0")
		manifest := standAlone(publish(testkit.RawManifest(content.YAML())), testkit.WithResource(content.DefaultCR))
		Eventually(testkit.Live(env.Hub, manifest)).Should(And(testkit.HaveState(v1beta2.StateReady),
			testkit.HaveCondition(v1beta2.ConditionModuleCR, metav1.ConditionTrue, v1beta2.ReasonCreated)))
		cr := content.DefaultCR.DeepCopy()
		cr.Object["status"] = map[string]any{"state": "Warning"}
		Expect(env.Runtimes[0].Client.Status().Patch(ctx(), cr, client.Merge)).To(Succeed())
		Eventually(testkit.Live(env.Hub, manifest)).Should(And(
			HaveField("Status.ResourceState", v1beta2.StateWarning), testkit.HaveState(v1beta2.StateReady)))
	})

	It("creates the default CR again when it went with its definition, and not when a user deleted it", func() {
		content, runtime := testkit.Operator(testkit.Unique("oper"), "1.0.0"), env.Runtimes[0]
		manifest := standAlone(publish(testkit.RawManifest(content.YAML())), testkit.WithResource(content.DefaultCR))
		Eventually(testkit.Live(env.Hub, manifest)).Should(testkit.HaveState(v1beta2.StateReady))
		first := uidIn(runtime, content.DefaultCR)

		parts := partsOf(content)
		runtime.Delete(parts[slices.IndexFunc(parts, func(o client.Object) bool {
			return o.GetObjectKind().GroupVersionKind().Kind == "CustomResourceDefinition"
		})])
		Eventually(func() types.UID { return uidIn(runtime, content.DefaultCR) }).Should(And(Not(BeEmpty()), Not(Equal(first))))
		Eventually(testkit.Live(env.Hub, manifest)).Should(And(testkit.HaveState(v1beta2.StateReady),
			testkit.HaveCondition(v1beta2.ConditionModuleCR, metav1.ConditionTrue, v1beta2.ReasonCreated)))

		runtime.Delete(content.DefaultCR)
		Consistently(func() types.UID { return uidIn(runtime, content.DefaultCR) }).Should(BeEmpty())
	})

	It("is left alone with the label skip-reconciliation, also when it is deleted", func() {
		name := testkit.Unique("maps")
		manifest := standAlone(publish(testkit.RawManifest(testkit.ConfigMaps(name, "1.0.0", 1).YAML())))
		Eventually(testkit.Live(env.Hub, manifest)).Should(testkit.HaveState(v1beta2.StateReady))
		testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) {
			metav1.SetMetaDataLabel(&m.ObjectMeta, v1beta2.LabelSkipReconciliation, "true")
		})
		Eventually(func(g Gomega) { // the label comes by another way than the deletion, and may come later
			env.Runtimes[0].Delete(configMap(name + "-0"))
			g.Consistently(versionIn(env.Runtimes[0], name+"-0"), "1s").Should(BeEmpty())
		}).Should(Succeed())
		Consistently(versionIn(env.Runtimes[0], name+"-0")).Should(BeEmpty())
		env.Hub.Delete(manifest)
		Consistently(testkit.Gone(env.Hub, manifest)).Should(BeFalse())
		testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) { delete(m.Labels, v1beta2.LabelSkipReconciliation) })
		Eventually(testkit.Gone(env.Hub, manifest)).Should(BeTrue())
	})

	It("keeps an inventory of 1,500 objects, and takes all of them down", func() {
		name := testkit.Unique("many")
		manifest := standAlone(publish(testkit.RawManifest(testkit.ConfigMaps(name, "1.0.0", 1500).YAML())))
		Eventually(testkit.Live(env.Hub, manifest), "120s").Should(And(testkit.HaveState(v1beta2.StateReady),
			HaveField("Status.Synced", HaveLen(1000)), HaveField("Status.InventoryShards", Not(BeEmpty()))))
		Expect(versionIn(env.Runtimes[0], name+"-1499")()).To(Equal("1.0.0"))
		env.Hub.Delete(manifest)
		Eventually(testkit.Gone(env.Hub, manifest), "120s").Should(BeTrue())
		Expect(versionIn(env.Runtimes[0], name+"-1499")()).To(BeEmpty())
	})
})

// archive returns a tar file with one bad entry beside a good one.
func archive(name string, kind byte) []byte {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	body := []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: evil, namespace: default}\n")
	for _, header := range []*tar.Header{{Name: "good.yaml", Typeflag: tar.TypeReg, Size: int64(len(body))}, {Name: name, Typeflag: kind, Linkname: "/etc/passwd"}} {
		header.Mode = 0o644
		if header.Typeflag == tar.TypeReg {
			header.Size = int64(len(body))
		}
		Expect(w.WriteHeader(header)).To(Succeed())
		if header.Typeflag == tar.TypeReg {
			_, err := w.Write(body)
			Expect(err).NotTo(HaveOccurred())
		}
	}
	Expect(w.Close()).To(Succeed())
	return out.Bytes()
}

// uidIn returns the UID that an object has in a cluster, empty while it is not there.
func uidIn(cluster *testkit.Cluster, object client.Object) types.UID {
	live, _ := object.DeepCopyObject().(client.Object)
	if err := cluster.Client.Get(ctx(), client.ObjectKeyFromObject(object), live); err != nil {
		return ""
	}
	return live.GetUID()
}
