package integration

import (
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// lacking are the fields that upstream's definitions do not have, by plural; docs/from-upstream.md names those that a Kyma of this manager
// has without being asked.
var lacking = map[string][]string{
	"kymas": {
		"spec.remote", "spec.readiness", "spec.modules.allowCRDChanges", "status.observedGeneration", "status.modulesReady", "status.runtimeID",
		"status.lastSeen", "status.modules.resourceState", "status.modules.resourceMessage", "status.modules.installedVersion",
		"status.modules.ocmComponentName", "status.modules.signature", "spec.modules.onFailedUpgrade", "spec.modules.progressDeadline",
		"spec.modules.avoid", "spec.modules.backTo", "spec.modules.retry", "status.modules.avoid", "status.modules.offered",
	},
	"manifests": {
		"spec.additionalInstalls", "spec.allowCRDChanges", "spec.associatedResources", "spec.crds", "spec.customStateCheck", "spec.ownership",
		"spec.probes", "spec.targetNamespace", "spec.values", "status.imagePullSecret", "status.injected", "status.installedVersion",
		"status.inventoryShards", "status.observedGeneration", "status.resolved", "status.resourceMessage", "status.resourceState",
		"status.revisions", "status.signature", "status.synced.uid", "status.synced.hash", "status.synced.fields",
	},
	"moduletemplates": {"spec.readiness", "spec.allowCRDChanges", "spec.rollbackTo"},
}

// upstreamDefinitions returns the hub's definitions without what upstream's lack.
func upstreamDefinitions() []*unstructured.Unstructured {
	GinkgoHelper()
	var definitions []*unstructured.Unstructured
	for _, plural := range []string{"kymas", "manifests", "moduletemplates", "modulereleasemetas"} {
		for _, definition := range env.Hub.Objects(definitionFile(plural)) {
			versions, _, err := unstructured.NestedSlice(definition.Object, "spec", "versions")
			Expect(err).NotTo(HaveOccurred())
			for _, version := range versions {
				schema, _, err := unstructured.NestedMap(version.(map[string]any), "schema", "openAPIV3Schema")
				Expect(err).NotTo(HaveOccurred())
				for _, path := range lacking[plural] {
					forget(schema, strings.Split(path, "."))
				}
				unstructured.RemoveNestedField(schema, "properties", "status", "default") // of observedGeneration
				Expect(unstructured.SetNestedMap(version.(map[string]any), schema, "schema", "openAPIV3Schema")).To(Succeed())
			}
			Expect(unstructured.SetNestedSlice(definition.Object, versions, "spec", "versions")).To(Succeed())
			definitions = append(definitions, definition)
		}
	}
	return definitions
}

func definitionFile(plural string) string {
	return "config/crd/bases/" + v1beta2.GroupVersion.Group + "_" + plural + ".yaml"
}

// forget takes a field out of a schema.
func forget(schema map[string]any, path []string) {
	if items, ok := schema["items"].(map[string]any); ok {
		schema = items
	}
	properties, _ := schema["properties"].(map[string]any)
	if len(path) > 1 {
		if inner, ok := properties[path[0]].(map[string]any); ok {
			forget(inner, path[1:])
		}
		return
	}
	delete(properties, path[0])
	if required, ok := schema["required"].([]any); ok {
		schema["required"] = slices.DeleteFunc(required, func(name any) bool { return name == path[0] })
	}
}

// touched writes an object as another manager does, without knowing the fields that its definition lacks, and returns what was stored.
func touched(kind string, object client.Object) map[string]any {
	GinkgoHelper()
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(v1beta2.GroupVersion.WithKind(kind))
	Expect(env.Hub.Client.Get(ctx(), client.ObjectKeyFromObject(object), live)).To(Succeed())
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"example.com/looked-at":"true"}}}`))
	Expect(env.Hub.Client.Patch(ctx(), live, patch, client.FieldOwner("another-manager"))).To(Succeed())
	return live.Object
}

var _ = Describe("The way back to upstream", func() {
	BeforeEach(emptyHub)

	It("leaves each object as upstream reads it, and the way there and back again changes nothing in a runtime", func() {
		env.FaultFree()
		far := env.Runtimes[0]
		oper, content := operatorModule(nil)
		maps := offerMaps("1.0.0")
		kyma := readyKyma(far, testkit.WithModule(oper), testkit.WithModule(maps))
		objects := append(partsOf(content), configMap(maps+"-0"), content.DefaultCR.DeepCopy())
		atRest()
		versions, running, before := versionsOf(far, objects...), rollouts(far), contentsOf(far, objects...)
		manifests, err := manifestsOf(kyma)()
		Expect(err).NotTo(HaveOccurred())

		By("stopping this manager and bringing the definitions back")
		takeOver := beforeTheSwitch()
		DeferCleanup(func() { // before the manager starts, where the spec fails
			for plural := range lacking {
				env.Hub.Apply(env.Hub.Objects(definitionFile(plural))...)
			}
		})
		env.Hub.Apply(upstreamDefinitions()...)

		By("writing each object by another manager: it is accepted, and what upstream acts by is there")
		Eventually(func() map[string]any { return status(touched("Kyma", kyma)) }).ShouldNot(HaveKey("runtimeID"), "the definition is in force")
		Expect(status(touched("Kyma", kyma))).To(And(HaveKeyWithValue("state", "Ready"), HaveKey("modules"), HaveKey("conditions"), HaveKey("lastOperation")))
		for i := range manifests {
			stored := touched("Manifest", &manifests[i])
			spec, _, _ := unstructured.NestedMap(stored, "spec")
			Expect(spec).To(And(HaveKey("install"), HaveKey("remote"), Not(HaveKey("associatedResources"))))
			Expect(status(stored)).To(And(HaveKeyWithValue("state", "Ready"), HaveKey("lastOperation"), Not(HaveKey("resolved")), Not(HaveKey("revisions"))))
			synced, _, _ := unstructured.NestedSlice(stored, "status", "synced")
			Expect(synced).To(HaveEach(And(HaveLen(5), HaveKey("group"), HaveKey("version"), HaveKey("kind"), HaveKey("name"), HaveKey("namespace"))))
			Expect(synced).NotTo(BeEmpty())
			object := &unstructured.Unstructured{Object: stored}
			Expect(object.GetFinalizers()).To(ConsistOf(v1beta2.FinalizerManifest, v1beta2.FinalizerLabelRemoval))
			Expect(object.GetLabels()).To(And(HaveKeyWithValue(v1beta2.LabelKymaName, kyma.Name), HaveKey(v1beta2.LabelModuleName)))
			Expect(object.GetAnnotations()).To(HaveKey(v1beta2.AnnotationFQDN))
		}
		Expect(versionsOf(far, objects...)).To(Equal(versions))

		By("coming here again")
		for plural := range lacking {
			env.Hub.Apply(env.Hub.Objects(definitionFile(plural))...)
		}
		takeOver()
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateReady), HaveField("Status.RuntimeID", Not(BeEmpty()))))
		Eventually(manifestsOf(kyma)).Should(HaveEach(And(
			HaveField("Status.State", v1beta2.StateReady), HaveField("Status.Synced", HaveEach(HaveField("Hash", Not(BeEmpty())))),
			HaveField("Status.Revisions", ConsistOf(HaveField("Outcome", v1beta2.RevisionSucceeded))))))
		atRest()
		Expect(contentsOf(far, objects...)).To(Equal(before), "what was pruned is learned anew by an apply of the same content")
		Expect(rollouts(far)).To(Equal(running))
		remove(kyma)
		expectGone(far, objects...)
	})
})

// contentsOf are objects of a cluster but for their versions, statuses and managers of fields.
func contentsOf(cluster *testkit.Cluster, objects ...client.Object) []map[string]any {
	GinkgoHelper()
	var contents []map[string]any
	for _, object := range objects {
		live, err := testkit.Live(cluster, object)()
		Expect(err).NotTo(HaveOccurred())
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(live)
		Expect(err).NotTo(HaveOccurred())
		delete(content, "status")
		unstructured.RemoveNestedField(content, "metadata", "resourceVersion")
		unstructured.RemoveNestedField(content, "metadata", "managedFields")
		contents = append(contents, content)
	}
	return contents
}

func status(object map[string]any) map[string]any {
	found, _, _ := unstructured.NestedMap(object, "status")
	return found
}
