package testkit

import (
	"bytes"
	"context"
	"maps"
	"strings"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
)

// upstreamDisclaimer is the text on every object of a module, as upstream writes it.
const upstreamDisclaimer = v1beta2.DisclaimerText

// runtimeCRDs are the definitions that upstream keeps in a runtime.
var runtimeCRDs = []string{"kymas", "moduletemplates", "modulereleasemetas"}

// AddRuntime starts one more runtime, for the running spec.
func (e *Env) AddRuntime(name string) *Cluster {
	ginkgo.GinkgoHelper()
	cluster := startRuntime(name)
	ginkgo.DeferCleanup(func() {
		e.abandon(cluster)
		gomega.Expect(cluster.Stop()).To(gomega.Succeed())
	})
	return cluster
}

// AddHub starts another hub, without a manager, which ends with the spec.
func (e *Env) AddHub(name string) *Cluster {
	ginkgo.GinkgoHelper()
	ctx, cancel := context.WithTimeout(context.Background(), startPatience)
	defer cancel()
	assets, err := localcluster.Assets(ctx)
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	hub, err := startHub(ctx, localcluster.Options{Name: name, Assets: assets, Workloads: true})
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	ginkgo.DeferCleanup(func() { gomega.Expect(hub.Stop()).To(gomega.Succeed()) })
	return hub
}

// SecondRuntime returns the suite's second runtime, with workloads. The first spec that needs it starts it, because most processes run no
// such spec.
func (e *Env) SecondRuntime() *Cluster {
	ginkgo.GinkgoHelper()
	if len(e.Runtimes) == 1 {
		e.Runtimes = append(e.Runtimes, startRuntime("runtime-2"))
	}
	return e.Runtimes[1]
}

func startRuntime(name string) *Cluster {
	ginkgo.GinkgoHelper()
	ctx, cancel := context.WithTimeout(context.Background(), startPatience)
	defer cancel()
	assets, err := localcluster.Assets(ctx)
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	cluster, err := startCluster(ctx, localcluster.Options{Name: name, Assets: assets, Workloads: true})
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	return cluster
}

// abandon deletes the Kymas of a runtime that is about to end, so that later specs do not see them fail.
func (e *Env) abandon(cluster *Cluster) {
	ginkgo.GinkgoHelper()
	ctx, cancel := background()
	defer cancel()
	secrets := &corev1.SecretList{}
	gomega.Expect(e.Hub.Client.List(ctx, secrets, client.HasLabels{v1beta2.LabelKymaName})).To(gomega.Succeed())
	address := []byte(strings.Trim(strings.TrimPrefix(cluster.Config.Host, "https:"), "/"))
	for i := range secrets.Items {
		secret := &secrets.Items[i]
		if !bytes.Contains(secret.Data[v1beta2.AccessSecretKey], address) {
			continue
		}
		kyma := &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: secret.Namespace, Name: secret.Labels[v1beta2.LabelKymaName]}}
		for _, object := range []client.Object{kyma, secret} {
			gomega.Expect(client.IgnoreNotFound(e.Hub.Client.Delete(ctx, object))).To(gomega.Succeed())
		}
		gomega.Eventually(Gone(e.Hub, kyma)).WithTimeout(time.Minute).Should(gomega.BeTrue())
	}
}

func (u *Upstream) leaveRuntime() {
	ginkgo.GinkgoHelper()
	namespace := bare("v1", "Namespace", "", v1beta2.RuntimeNamespace)
	namespace.SetLabels(map[string]string{
		"istio-injection": "enabled", "namespaces.warden.kyma-project.io/validate": "enabled", v1beta2.LabelManagedBy: v1beta2.ManagedByKyma,
	})
	applyAs(u.Runtime, v1beta2.FieldManagerSync, namespace)
	for _, plural := range runtimeCRDs {
		u.leaveDefinition(plural)
	}
	u.leaveCopies()
	for _, module := range u.Modules {
		u.leaveModule(module)
	}
	for _, object := range UpstreamWebhook() {
		applyAs(u.Runtime, v1beta2.FieldManagerHub, object)
	}
}

// leaveDefinition copies a definition of the hub, and waits until its kind can be used.
func (u *Upstream) leaveDefinition(plural string) {
	ginkgo.GinkgoHelper()
	for _, definition := range u.Runtime.Objects("config/crd/bases/" + v1beta2.GroupVersion.Group + "_" + plural + ".yaml") {
		definition.SetLabels(map[string]string{v1beta2.LabelManagedBy: v1beta2.ManagedByKyma})
		applyAs(u.Runtime, v1beta2.FieldManagerHub, definition)
		live := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: definition.GetName()}}
		gomega.Eventually(func() (bool, error) {
			found, err := Live(u.Runtime, live)()
			return err == nil && apihelpers.IsCRDConditionTrue(found, apiextensionsv1.Established), err
		}).Should(gomega.BeTrue())
		name, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "kind")
		kind := &metav1.PartialObjectMetadataList{}
		kind.SetGroupVersionKind(v1beta2.GroupVersion.WithKind(name + "List"))
		gomega.Eventually(func() error { // discovery lists it a moment later
			ctx, cancel := background()
			defer cancel()
			return u.Runtime.Client.List(ctx, kind, client.Limit(1))
		}).Should(gomega.Succeed())
	}
}

// leaveCopies writes the runtime's Kyma and the catalog.
func (u *Upstream) leaveCopies() {
	ginkgo.GinkgoHelper()
	copied := u.RuntimeKyma()
	copied.Spec = *u.Kyma.Spec.DeepCopy()
	ctx, cancel := background()
	defer cancel()
	gomega.Expect(u.Runtime.Client.Create(ctx, copied, client.FieldOwner(v1beta2.FieldManagerHub))).To(gomega.Succeed())
	marks := bare(v1beta2.GroupVersion.String(), "Kyma", copied.Namespace, copied.Name)
	labels := map[string]string{v1beta2.LabelWatchedBy: v1beta2.ManagedByKyma, v1beta2.LabelManagedBy: v1beta2.ManagedByKyma}
	for _, key := range []string{"runtime-id", "global-account-id", "subaccount-id"} {
		if value, set := u.Kyma.Labels["kyma-project.io/"+key]; set {
			labels["kyma-project.io/"+key] = value
		}
	}
	marks.SetLabels(labels)
	marks.SetAnnotations(map[string]string{v1beta2.AnnotationOwnedBy: u.Kyma.Namespace + "/" + u.Kyma.Name})
	applyAs(u.Runtime, v1beta2.FieldManagerSync, marks)
	for _, module := range u.Modules {
		u.leaveCopy(module, &v1beta2.ModuleTemplate{ObjectMeta: inHub(module.Name + "-" + module.Version)}, "ModuleTemplate")
		u.leaveCopy(module, &v1beta2.ModuleReleaseMeta{ObjectMeta: inHub(module.Name)}, "ModuleReleaseMeta")
	}
}

// RuntimeKyma returns the Kyma in the runtime, without a spec.
func (u *Upstream) RuntimeKyma() *v1beta2.Kyma {
	return &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: v1beta2.RuntimeNamespace, Name: v1beta2.RuntimeKymaName}}
}

// leaveCopy copies an object of the hub into the catalog of the runtime.
func (u *Upstream) leaveCopy(module UpstreamModule, object client.Object, kind string) {
	ginkgo.GinkgoHelper()
	if template, ok := object.(*v1beta2.ModuleTemplate); ok { // upstream requires a descriptor
		Edit(u.Hub, template, func(t *v1beta2.ModuleTemplate) { t.Spec.Descriptor.Raw = []byte("{}") })
	}
	live, err := Live(u.Hub, object)()
	gomega.Expect(err).NotTo(gomega.HaveOccurred(), module.Name)
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(live)
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	copied := bare(v1beta2.GroupVersion.String(), kind, v1beta2.RuntimeNamespace, object.GetName())
	copied.SetAnnotations(live.GetAnnotations())
	labels := map[string]string{v1beta2.LabelManagedBy: v1beta2.ManagedByKyma}
	maps.Copy(labels, live.GetLabels())
	copied.SetLabels(labels)
	if unstructured.RemoveNestedField(content, "spec", "descriptor"); kind == "ModuleTemplate" {
		gomega.Expect(unstructured.SetNestedMap(content, map[string]any{}, "spec", "descriptor")).To(gomega.Succeed())
	}
	copied.Object["spec"] = content["spec"]
	applyAs(u.Runtime, v1beta2.FieldManagerCatalog, copied)
}

// leaveModule writes a module's objects and its default custom resource.
func (u *Upstream) leaveModule(module UpstreamModule) {
	ginkgo.GinkgoHelper()
	manifest := u.ManifestName(module)
	for _, object := range module.Content.Objects {
		applyAs(u.Runtime, v1beta2.FieldManagerModule, dressed(object, manifest, u.Kyma.Namespace+"/"+manifest))
	}
	cr := module.Content.DefaultCR
	if cr == nil {
		return
	}
	made := cr.DeepCopy()
	made.SetFinalizers([]string{v1beta2.FinalizerModuleCR})
	gomega.Eventually(func() error { // its definition is being established
		ctx, cancel := background()
		defer cancel()
		config := client.ApplyConfigurationFromUnstructured(made.DeepCopy())
		return u.Runtime.Client.Apply(ctx, config, client.ForceOwnership, client.FieldOwner(v1beta2.FieldManagerModuleCR))
	}).Should(gomega.Succeed())
}

// dressed returns a module's object with the metadata that upstream adds.
func dressed(object *unstructured.Unstructured, component, owner string) *unstructured.Unstructured {
	made := object.DeepCopy()
	labels, annotations := made.GetLabels(), made.GetAnnotations()
	if labels == nil {
		labels = map[string]string{}
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	labels[v1beta2.LabelManagedBy] = v1beta2.ManagedByKyma
	labels[v1beta2.LabelComponent], labels[v1beta2.LabelPartOf] = component, v1beta2.PartOfKyma
	annotations[v1beta2.AnnotationOwnedBy], annotations[v1beta2.AnnotationDisclaimer] = owner, upstreamDisclaimer
	made.SetLabels(labels)
	made.SetAnnotations(annotations)
	return made
}

// upstreamWebhook is upstream's watcher in a runtime, except for its NetworkPolicies.
const upstreamWebhook = `apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: skr-webhook-priority}
value: 1000000000
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: skr-webhook-sa, namespace: kyma-system}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: kyma-reader}
rules: [{apiGroups: [operator.kyma-project.io], resources: [kymas], verbs: [get, list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: read-kymas}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: kyma-reader}
subjects: [{kind: ServiceAccount, name: skr-webhook-sa, namespace: kyma-system}]
---
apiVersion: v1
kind: Secret
metadata: {name: skr-webhook-tls, namespace: kyma-system}
stringData: {ca.crt: a, tls.crt: b, tls.key: c}
---
apiVersion: v1
kind: Service
metadata: {name: skr-webhook, namespace: kyma-system}
spec: {selector: {app: skr-webhook}, ports: [{port: 443, targetPort: 8443}]}
---
apiVersion: v1
kind: Service
metadata: {name: skr-webhook-metrics, namespace: kyma-system}
spec: {selector: {app: skr-webhook}, ports: [{port: 2112}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: skr-webhook, namespace: kyma-system}
spec:
  replicas: 1
  selector: {matchLabels: {app: skr-webhook}}
  template:
    metadata:
      labels: {app: skr-webhook, operator.kyma-project.io/pod-restart-trigger: "123"}
    spec: {priorityClassName: skr-webhook-priority, containers: [{name: server, image: "example.invalid/runtime-watcher:1.2.3"}]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: skr-webhook}
webhooks:
- name: kcp-system.klm-kyma-watcher.operator.kyma-project.io
  admissionReviewVersions: [v1]
  clientConfig: {service: {name: skr-webhook, namespace: kyma-system, path: /validate/lifecycle-manager}}
  failurePolicy: Ignore
  sideEffects: NoneOnDryRun
  timeoutSeconds: 15
  objectSelector: {matchLabels: {operator.kyma-project.io/watched-by: kyma}}
  rules: [{apiGroups: [operator.kyma-project.io], apiVersions: ["*"], operations: [CREATE, UPDATE, DELETE], resources: [kymas]}]
`

// UpstreamWebhook returns the objects of upstream's watcher in a runtime, with their names there; a migration removes them.
func UpstreamWebhook() []*unstructured.Unstructured {
	ginkgo.GinkgoHelper()
	objects, err := decode([]byte(upstreamWebhook))
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	for _, policy := range []string{"seed-to-watcher", "watcher-to-apiserver", "metrics-to-watcher", "watcher-to-dns"} {
		object := bare("networking.k8s.io/v1", "NetworkPolicy", v1beta2.RuntimeNamespace, "kyma-project.io--"+policy)
		object.Object["spec"] = map[string]any{"podSelector": map[string]any{"matchLabels": map[string]any{"app": "skr-webhook"}}}
		objects = append(objects, object)
	}
	for _, object := range objects {
		object.SetLabels(map[string]string{v1beta2.LabelManagedBy: v1beta2.ManagedByKyma})
	}
	return objects
}
