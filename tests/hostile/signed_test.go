package hostile

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"oras.land/oras-go/v2/content"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kyaml "sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// Digests of signed images, and of an unsigned one.
const (
	operatorDigest = "sha256:1111111111111111111111111111111111111111111111111111111111111111"
	sidecarDigest  = "sha256:2222222222222222222222222222222222222222222222222222222222222222"
	evilDigest     = "sha256:eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"
)

// evil is part of the name of every object that an attack tries to create.
const evil = "evil"

// signaturesFile is the manager's signature policy.
var signaturesFile string

// writeSignatures requires a signature by the key for components whose names have that prefix, and none for the others.
func writeSignatures(key *rsa.PrivateKey, revoked ...string) {
	GinkgoHelper()
	before := env.Log.Times("signatures", "File is in force")
	rules := []any{}
	if key != nil {
		raw, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
		Expect(err).NotTo(HaveOccurred())
		rule := map[string]any{
			"components": testkit.ComponentName("sealed-.*"), "require": "enforce",
			"publicKeys": []string{string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: raw}))},
		}
		rules = append(rules, rule, map[string]any{"components": ".*/tried-.*", "require": "off"}, map[string]any{"components": ".*module-.*", "require": "off"})
	}
	data, err := json.Marshal(map[string]any{"signatures": rules, "revoked": append([]string{}, revoked...)})
	Expect(err).NotTo(HaveOccurred())
	draft := filepath.Join(filepath.Dir(signaturesFile), "draft")
	Expect(os.WriteFile(draft, data, 0o600)).To(Succeed())
	Expect(os.Rename(draft, signaturesFile)).To(Succeed())
	Eventually(func() int { return env.Log.Times("signatures", "File is in force") }).Should(BeNumerically(">", before))
}

// sealed is a module whose component version is signed, with all parts of a Manifest.
type sealed struct {
	module   string
	manifest *v1beta2.Manifest
	template *v1beta2.ModuleTemplate
	// customResource is the text of the signed default custom resource.
	customResource string
}

const sealedContent = `
apiVersion: v1
kind: ConfigMap
metadata: {name: %[1]s, namespace: default}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: %[1]s, namespace: default}
spec:
  suspend: true
  schedule: "0 0 1 1 *"
  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [
    {name: a, image: "example.com/operator:1.0.0"}, {name: b, image: "example.com/pinned:1.0.0@%[2]s"}]}}}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[3]ss.sealed.example.com}
spec:
  group: sealed.example.com
  scope: Namespaced
  names: {plural: %[3]ss, singular: %[3]s, kind: %[4]s, listKind: %[4]sList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`

// seal publishes a component version, signs it, and then changes its descriptor as a user with write access to the registry could. The
// Manifest is that of a Kyma, except for its own name.
func seal(key *rsa.PrivateKey, tamper func(doc map[string]any)) *sealed {
	GinkgoHelper()
	module := testkit.Unique("sealed")
	kind := testkit.KindOf(module)
	text := fmt.Sprintf(sealedContent, module, sidecarDigest, strings.ToLower(kind), kind)
	cr := fmt.Sprintf("apiVersion: sealed.example.com/v1\nkind: %s\nmetadata: {name: %s, namespace: default}\nspec: {size: 1}\n", kind, module)
	template := testkit.ModuleTemplate(module, "1.0.0", func(spec *v1beta2.ModuleTemplateSpec) {
		spec.AllowCRDChanges = []v1beta2.CRDRule{"ScopeChanged"}
	})
	described, err := kyaml.Marshal(template)
	Expect(err).NotTo(HaveOccurred())
	published := env.Publish(testkit.ComponentName(module), "1.0.0",
		testkit.RawManifest([]byte(text)),
		component.Resource{Name: "default-cr", MediaType: component.MediaTypeYAML, Data: []byte(cr)},
		component.Resource{Name: "moduletemplate", MediaType: component.MediaTypeYAML, Data: described},
		component.Resource{Name: "operator", Type: "ociImage", Version: "1.0.0", Image: "example.com/operator:1.0.0", ImageDigest: operatorDigest},
		component.Resource{Name: "sidecar", Type: "ociImage", Version: "1.0.0", Image: "example.com/sidecar:1.0.0", ImageDigest: sidecarDigest},
	)
	registry := component.Registry{Host: env.Registry.Host, PlainHTTP: true}
	_, err = component.Sign(context.Background(), registry, testkit.ComponentName(module), "1.0.0", &component.Signer{Key: key})
	Expect(err).NotTo(HaveOccurred())
	if tamper != nil {
		rewriteDescriptor(module, tamper)
	}
	resource := &unstructured.Unstructured{}
	Expect(kyaml.Unmarshal([]byte(cr), &resource.Object)).To(Succeed())
	template.Spec.Data = resource
	return &sealed{module: module, template: template, customResource: cr, manifest: testkit.Manifest(module, published.Source, func(m *v1beta2.Manifest) {
		testkit.Remote(m.Name)(m)
		m.Annotations = map[string]string{v1beta2.AnnotationOCMComponentName: testkit.ComponentName(module)}
		m.Spec.Install.Name = "raw-manifest"
		m.Spec.Resource = resource.DeepCopy()
		m.Spec.LocalizedImages = []string{"mirror.example.com/operator:1.0.0@" + operatorDigest}
	})}
}

// localise gives the Manifest the same images as a Kyma's: those for which the component has a reference, according to its present
// descriptor.
func (s *sealed) localise() {
	GinkgoHelper()
	reader := &descriptor.Reader{Registry: env.Registry.Host, Registries: descriptor.Registries{PlainHTTP: true}}
	found, err := reader.Get(context.Background(), testkit.ComponentName(s.module), "1.0.0")
	s.manifest.Spec.LocalizedImages = nil
	if err != nil {
		return // the Manifest gets no images then
	}
	if coverage, err := found.Coverage(); err == nil {
		s.manifest.Spec.LocalizedImages = coverage.Localized()
	}
}

// imagesOf returns the images that the module's CronJob runs.
func imagesOf(module string) (images []string) {
	GinkgoHelper()
	job := &batchv1.CronJob{}
	key := client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: module}
	Expect(env.Runtimes[0].Client.Get(context.Background(), key, job)).To(Succeed())
	for _, container := range job.Spec.JobTemplate.Spec.Template.Spec.Containers {
		images = append(images, container.Image)
	}
	return images
}

// install creates the Manifest for the healthy runtime.
func (s *sealed) install() {
	GinkgoHelper()
	env.AccessSecret(s.manifest.Name, env.Runtimes[0])
	env.Hub.Create(s.manifest)
	DeferCleanup(letGoOf, s.manifest)
}

// struckSeal is an attack that was carried out, with the expected message.
type struckSeal struct {
	*sealed
	field, says string
}

// passed returns what is wrong with the result of an attack; "" when it was refused for the right reason and nothing of it reached the
// runtime.
func (s *struckSeal) passed() string {
	live, err := testkit.Live(env.Hub, s.manifest)()
	if err != nil {
		return err.Error()
	}
	ready := conditions.Find(live.Status.Conditions, v1beta2.ConditionReady)
	installed, err := mapOf(s.module)()
	switch {
	case err != nil:
		return err.Error()
	case ready == nil || ready.Status != metav1.ConditionFalse || !strings.Contains(ready.Message, s.says) || live.Status.State != v1beta2.StateError:
		return fmt.Sprintf("%s (%s): want %q, state %s, condition %+v", s.field, s.module, s.says, live.Status.State, ready)
	case len(live.Status.Synced) > 0 || installed != nil:
		return fmt.Sprintf("%s (%s): a part of what was refused is installed: %v", s.field, s.module, live.Status.Synced)
	}
	return ""
}

// expectRefused checks that all attacks are refused.
func expectRefused(all []*struckSeal) {
	GinkgoHelper()
	Expect(all).NotTo(BeEmpty())
	Eventually(func() (open []string) {
		for _, s := range all {
			if passed := s.passed(); passed != "" {
				open = append(open, passed)
			}
		}
		return open
	}).Should(BeEmpty())
	expectNothingEvil()
}

// expectNothingEvil checks that no attack has created its object.
func expectNothingEvil() {
	GinkgoHelper()
	for _, cluster := range append([]*testkit.Cluster{env.Hub}, env.Runtimes...) {
		for _, list := range []client.ObjectList{&corev1.NamespaceList{}, &corev1.ConfigMapList{}, clusterRoleBindings(), cronJobs()} {
			Expect(cluster.Client.List(context.Background(), list)).To(Succeed())
			text, err := json.Marshal(list)
			Expect(err).NotTo(HaveOccurred())
			Expect(string(text)).NotTo(Or(ContainSubstring(`"name":"`+evil), ContainSubstring(evilDigest)))
		}
	}
}

func listOf(group, version, kind string) *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(group + "/" + version)
	list.SetKind(kind + "List")
	return list
}

func clusterRoleBindings() client.ObjectList {
	return listOf("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding")
}
func cronJobs() client.ObjectList { return listOf("batch", "v1", "CronJob") }

func digestOf(text string) string {
	return content.NewDescriptorFromBytes("", []byte(text)).Digest.String()
}

func configMapOf(name, text string) *corev1.ConfigMap {
	immutable := true
	return &corev1.ConfigMap{
		Immutable: &immutable, ObjectMeta: metav1.ObjectMeta{Namespace: v1beta2.DefaultNamespace, Name: name}, Data: map[string]string{"a.yaml": text},
	}
}

// evilMap is content that no signature covers.
func evilMap(module string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s-%s, namespace: default}\n", evil, module)
}

func revokeKey(key *rsa.PrivateKey) {
	GinkgoHelper()
	writeSignatures(key, descriptor.KeyID(&key.PublicKey))
}

// gauge returns the value of a manager metric with some label.
func gauge(name, label string) float64 {
	GinkgoHelper()
	families, err := managerMetrics.Gather()
	Expect(err).NotTo(HaveOccurred())
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, metric := range family.GetMetric() {
			for _, pair := range metric.GetLabel() {
				if pair.GetValue() == label {
					return metric.GetGauge().GetValue()
				}
			}
		}
	}
	return 0
}

func newKey() *rsa.PrivateKey {
	GinkgoHelper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	Expect(err).NotTo(HaveOccurred())
	return key
}

var _ = Describe("Under enforce nothing that a trusted signature does not cover", Ordered, ContinueOnFailure, func() {
	var key *rsa.PrivateKey

	BeforeAll(func() {
		key = newKey()
		writeSignatures(key)
		DeferCleanup(func() { writeSignatures(nil) })
	})

	It("is installed by a change of any field of a Manifest", func() {
		var all []*struckSeal
		for field, r := range manifestRows {
			for _, change := range r.attacks {
				s := seal(key, nil)
				change(s)
				s.install()
				all = append(all, &struckSeal{s, field, r.says})
			}
		}
		expectRefused(all)
	})

	It("is installed by a change of any field of a descriptor", func() {
		var all []*struckSeal
		for field, r := range descriptorRows {
			for _, change := range r.attacks {
				s := seal(key, change)
				s.localise()
				s.install()
				all = append(all, &struckSeal{s, field, r.says})
			}
		}
		expectRefused(all)
		for _, r := range descriptorRows {
			for _, change := range r.vain {
				s := seal(key, change)
				s.localise()
				s.install()
				Eventually(testkit.Live(env.Hub, s.manifest)).Should(testkit.HaveState(v1beta2.StateReady))
				Expect(imagesOf(s.module)).To(ConsistOf(HaveSuffix("/operator:1.0.0@"+operatorDigest), HaveSuffix("@"+sidecarDigest)))
			}
		}
	})

	It("is installed by a change of any field of a ModuleTemplate", func() {
		kyma := testkit.Kyma(testkit.Unique("templates"), testkit.OnChannel("regular"))
		testkit.Unsynced()(kyma)
		refused := map[string]string{}
		for _, r := range templateRows {
			for _, change := range r.attacks {
				s := seal(key, nil)
				change(s)
				env.Hub.Create(s.template)
				env.Point(s.module, "1.0.0", "regular")
				kyma.Spec.Modules = append(kyma.Spec.Modules, v1beta2.Module{Name: s.module})
				refused[s.module] = r.says
			}
		}
		env.AccessSecret(kyma.Name, env.Runtimes[0])
		env.Hub.Create(kyma)
		DeferCleanup(deleteKyma, kyma)
		for module, says := range refused {
			Eventually(testkit.Live(env.Hub, kyma)).Should(HaveField("Status.Modules", ContainElement(And(
				HaveField("Name", module), HaveField("State", v1beta2.StateError), HaveField("Message", ContainSubstring(says))))))
			Expect(mapOf(module)()).To(BeEmpty())
		}
		expectNothingEvil()
	})

	It("prevents the installation of signed content, and its signer is shown", func() {
		s := seal(key, nil)
		s.install()
		Eventually(testkit.Live(env.Hub, s.manifest)).Should(testkit.HaveState(v1beta2.StateReady))
		live, err := testkit.Live(env.Hub, s.manifest)()
		Expect(err).NotTo(HaveOccurred())
		Expect(live.Status.Signature.Signers).To(ConsistOf(HaveField("Key", descriptor.KeyID(&key.PublicKey))))
		Expect(live.Status.Conditions).To(ContainElement(And(
			HaveField("Type", v1beta2.ConditionSigned), HaveField("Status", metav1.ConditionTrue), HaveField("Reason", v1beta2.ReasonVerified))))

		By("and stays installed when the key is revoked, which is told")
		revokeKey(key)
		Eventually(testkit.Live(env.Hub, s.manifest)).Should(HaveField("Status.Conditions", ContainElement(And(
			HaveField("Type", v1beta2.ConditionSigned), HaveField("Status", metav1.ConditionFalse), HaveField("Reason", v1beta2.ReasonSignatureRevoked)))))
		Consistently(testkit.Live(env.Hub, s.manifest)).Should(testkit.HaveState(v1beta2.StateReady))
		Expect(gauge("lifecycle_mgr_manifest_signatures", v1beta2.ReasonSignatureRevoked)).To(BeNumerically(">=", 1))
		Expect(mapOf(s.module)).NotTo(BeNil())
	})
})
