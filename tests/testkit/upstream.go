package testkit

import (
	"fmt"
	"hash/fnv"
	"path"
	"strings"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// UpstreamModule is a module that upstream installed.
type UpstreamModule struct {
	Name, Version string
	Content       Content
	Published     Published
}

// Upstream writes what the public lifecycle-manager 1.21 leaves of one Kyma, on the hub and in its runtime, each object with its original
// field manager. Times and texts are as it writes them.
type Upstream struct {
	Hub, Runtime *Cluster
	Kyma         *v1beta2.Kyma
	Modules      []UpstreamModule
}

// Leave writes everything: the runtime first, because the hub's objects state that it is done.
func (u *Upstream) Leave() {
	ginkgo.GinkgoHelper()
	u.leaveRuntime()
	u.leaveHub()
}

// ManifestName returns the name that upstream gives a module's Manifest.
func (u *Upstream) ManifestName(module UpstreamModule) string {
	component := ComponentName(module.Name)
	hash := fnv.New32()
	_, err := hash.Write([]byte(component + module.Name))
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	name := fmt.Sprintf("%s-%s-%d", u.Kyma.Name, path.Base(component), hash.Sum32())
	if len(name) >= 63 {
		name = strings.TrimRight(name[:62], "-")
	}
	return name
}

func (u *Upstream) leaveHub() {
	ginkgo.GinkgoHelper()
	kyma := u.Kyma
	kyma.Finalizers = append(kyma.Finalizers, v1beta2.FinalizerKyma)
	metav1.SetMetaDataLabel(&kyma.ObjectMeta, v1beta2.LabelManagedBy, v1beta2.ManagedByLifecycleManager)
	u.Hub.Create(kyma)
	var entries []any
	for _, module := range u.Modules {
		manifest := u.leaveManifest(module)
		entries = append(entries, u.moduleEntry(module, manifest))
	}
	status := bare(v1beta2.GroupVersion.String(), "Kyma", kyma.Namespace, kyma.Name)
	status.Object["status"] = map[string]any{
		"state": "Ready", "activeChannel": kyma.Spec.Channel, "modules": entries,
		"conditions": []any{
			upstreamCondition("Modules", v1beta2.MessageModulesReady), upstreamCondition("ModuleCatalog", v1beta2.MessageCatalogSynced),
			upstreamCondition("SKRWebhook", "skrwebhook is synchronized"), upstreamCondition("CRDsSync", v1beta2.MessageCRDsSynced),
		},
		"lastOperation": map[string]any{"operation": "kyma is ready", "lastUpdateTime": "2026-01-02T03:04:05Z"},
	}
	applyStatusAs(u.Hub, v1beta2.FieldManagerHub, status)
}

// leaveManifest writes a Manifest in upstream's three steps: spec, finalizers and annotation, status.
func (u *Upstream) leaveManifest(module UpstreamModule) *unstructured.Unstructured {
	ginkgo.GinkgoHelper()
	name := u.ManifestName(module)
	manifest := bare(v1beta2.GroupVersion.String(), "Manifest", u.Kyma.Namespace, name)
	manifest.SetLabels(map[string]string{
		v1beta2.LabelKymaName: u.Kyma.Name, v1beta2.LabelModuleName: module.Name, v1beta2.LabelChannel: u.Kyma.Spec.Channel,
		v1beta2.LabelManagedBy: v1beta2.ManagedByLifecycleManager,
	})
	manifest.SetAnnotations(map[string]string{
		v1beta2.AnnotationFQDN: ComponentName(module.Name), v1beta2.AnnotationOCMComponentName: ComponentName(module.Name),
	})
	yes := true
	manifest.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: v1beta2.GroupVersion.String(), Kind: "Kyma", Name: u.Kyma.Name, UID: u.Kyma.UID, Controller: &yes, BlockOwnerDeletion: &yes,
	}})
	source := module.Published.Source
	spec := map[string]any{
		"customResourcePolicy": "CreateAndDelete", "remote": false, "version": module.Version,
		"install": map[string]any{"name": "raw-manifest", "source": map[string]any{
			"repo": source.Repo, "name": source.Name, "ref": source.Ref, "type": string(source.Type),
		}},
	}
	if module.Content.DefaultCR != nil {
		spec["resource"] = module.Content.DefaultCR.DeepCopy().Object
	}
	if manager := module.Content.Manager; manager != nil {
		spec["manager"] = map[string]any{
			"group": manager.Group, "version": manager.Version, "kind": manager.Kind, "namespace": manager.Namespace, "name": manager.Name,
		}
	}
	manifest.Object["spec"] = spec
	applyAs(u.Hub, v1beta2.FieldManagerHub, manifest)

	held := bare(v1beta2.GroupVersion.String(), "Manifest", u.Kyma.Namespace, name)
	held.SetFinalizers([]string{v1beta2.FinalizerManifest, v1beta2.FinalizerLabelRemoval})
	held.SetAnnotations(map[string]string{"sync-oci-ref": source.Ref})
	applyAs(u.Hub, v1beta2.FieldManagerModule, held)
	u.leaveManifestStatus(module, name)
	return manifest
}

func (u *Upstream) leaveManifestStatus(module UpstreamModule, name string) {
	ginkgo.GinkgoHelper()
	installation := upstreamCondition(v1beta2.ConditionInstallation, v1beta2.MessageInstallationReady)
	resources := upstreamCondition(v1beta2.ConditionResources, v1beta2.MessageResourcesParsed)
	resources["reason"] = "ResourcesAvailable"
	conditions := []any{resources, installation}
	if module.Content.DefaultCR != nil {
		created := upstreamCondition(v1beta2.ConditionModuleCR, v1beta2.MessageModuleCRCreated)
		created["reason"] = "ModuleCRCreated"
		conditions = append(conditions, created)
	}
	var synced []any
	for _, object := range module.Content.Objects {
		kind := object.GroupVersionKind()
		synced = append(synced, map[string]any{
			"group": kind.Group, "version": kind.Version, "kind": kind.Kind, "name": object.GetName(), "namespace": object.GetNamespace(),
		})
	}
	status := bare(v1beta2.GroupVersion.String(), "Manifest", u.Kyma.Namespace, name)
	status.Object["status"] = map[string]any{
		"state": "Ready", "conditions": conditions, "synced": synced,
		"lastOperation": map[string]any{"operation": "resources are ready", "lastUpdateTime": "2026-01-02T03:04:05Z"},
	}
	applyStatusAs(u.Hub, v1beta2.FieldManagerModule, status)
}

func (u *Upstream) moduleEntry(module UpstreamModule, manifest *unstructured.Unstructured) map[string]any {
	track := func(version, kind, namespace, name string) map[string]any {
		return map[string]any{
			"apiVersion": version, "kind": kind, "metadata": map[string]any{"name": name, "namespace": namespace, "generation": int64(1)},
		}
	}
	group := v1beta2.GroupVersion.String()
	entry := map[string]any{
		"name": module.Name, "state": "Ready", "channel": u.Kyma.Spec.Channel, "version": module.Version, "maintenance": false,
		"fqdn": ComponentName(module.Name), "ocmComponentName": ComponentName(module.Name),
		"manifest": track(group, "Manifest", u.Kyma.Namespace, manifest.GetName()),
		"template": track(group, "ModuleTemplate", u.Kyma.Namespace, module.Name+"-"+module.Version),
	}
	if cr := module.Content.DefaultCR; cr != nil {
		entry["resource"] = track(cr.GetAPIVersion(), cr.GetKind(), cr.GetNamespace(), cr.GetName())
	}
	return entry
}

func upstreamCondition(kind, message string) map[string]any {
	return map[string]any{
		"type": kind, "status": "True", "reason": "Ready", "message": message,
		"lastTransitionTime": "2026-01-02T03:04:05Z", "observedGeneration": int64(1),
	}
}

// bare returns an object with nothing except its identity.
func bare(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(apiVersion)
	object.SetKind(kind)
	object.SetNamespace(namespace)
	object.SetName(name)
	return object
}

// applyAs applies objects by server-side apply as a field manager.
func applyAs(cluster *Cluster, manager string, objects ...*unstructured.Unstructured) {
	ginkgo.GinkgoHelper()
	ctx, cancel := background()
	defer cancel()
	for _, object := range objects {
		config := client.ApplyConfigurationFromUnstructured(object.DeepCopy())
		gomega.Expect(cluster.Client.Apply(ctx, config, client.ForceOwnership, client.FieldOwner(manager))).
			To(gomega.Succeed(), describe(object))
	}
}

// applyStatusAs does the same for the status.
func applyStatusAs(cluster *Cluster, manager string, object *unstructured.Unstructured) {
	ginkgo.GinkgoHelper()
	ctx, cancel := background()
	defer cancel()
	body, err := object.MarshalJSON()
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	apply := client.RawPatch(types.ApplyPatchType, body)
	err = cluster.Client.Status().Patch(ctx, object.DeepCopy(), apply, client.ForceOwnership, client.FieldOwner(manager))
	gomega.Expect(err).NotTo(gomega.HaveOccurred(), describe(object))
}
