package bare

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

const (
	// installation and repository are what the manager writes of a module, but for the registry's address.
	installation = "raw-manifest"
	repository   = "registry.invalid:443/component-descriptors"
	// hashLength is how many hex digits the manager keeps of a hash in an inventory.
	hashLength = 16
)

// content is a module with what does not differ between Kymas. Nothing of it changes any more.
type content struct {
	Module
	objects []*unstructured.Unstructured
	// hashes are those of the objects, digest that of all, source what a Manifest says of where they come from.
	hashes []string
	digest string
	source []byte
}

func contents(modules []Module) ([]*content, error) {
	var all []*content
	for _, m := range modules {
		c, err := newContent(m)
		if err != nil {
			return nil, fmt.Errorf("module %s: %w", m.Name, err)
		}
		all = append(all, c)
	}
	return all, nil
}

func newContent(m Module) (*content, error) {
	objects, err := parse(m.Content)
	if err != nil {
		return nil, err
	}
	c := &content{Module: m, objects: objects, digest: "sha256:" + sum(m.Content)}
	for _, object := range objects {
		data, err := json.Marshal(object)
		if err != nil {
			return nil, err
		}
		c.hashes = append(c.hashes, sum(data)[:hashLength])
	}
	c.source, err = json.Marshal(v1beta2.ImageSpec{Repo: repository, Name: m.Component, Ref: c.digest, Type: v1beta2.RefTypeOCI})
	return c, err
}

func sum(data []byte) string {
	hash := sha256.Sum256(data)
	return hex.EncodeToString(hash[:])
}

// newManifest returns what asks for a module. Its labels, annotations, owner and finalizers are those by which every other tool of a hub
// finds it, and by which it is not lost before its objects are gone.
func newManifest(kyma *v1beta2.Kyma, m *content) *v1beta2.Manifest {
	return &v1beta2.Manifest{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: kyma.Namespace,
			Name:      module.ManifestName(kyma.Name, m.Component, m.Name),
			Labels: map[string]string{
				v1beta2.LabelKymaName: kyma.Name, v1beta2.LabelModuleName: m.Name, v1beta2.LabelChannel: kyma.Spec.Channel,
				v1beta2.LabelManagedBy: v1beta2.ManagedByLifecycleManager,
			},
			Annotations: map[string]string{
				v1beta2.AnnotationOCMComponentName: m.Component, v1beta2.AnnotationFQDN: m.Component,
			},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(kyma, v1beta2.GroupVersion.WithKind("Kyma"))},
			Finalizers:      []string{v1beta2.FinalizerManifest, v1beta2.FinalizerLabelRemoval},
		},
		Spec: manifestSpec(m),
	}
}

func manifestSpec(m *content) v1beta2.ManifestSpec {
	return v1beta2.ManifestSpec{
		Remote: true, CustomResourcePolicy: v1beta2.CustomResourcePolicyCreateAndDelete, Version: m.Version,
		Install: v1beta2.InstallInfo{Name: installation, Source: runtime.RawExtension{Raw: m.source}},
	}
}

// manifestStatus returns the verdict on a module whose objects were applied, in the order of its content. An object that the inventory
// leaves out would never be deleted; without hashes a restart would write all objects again. What is more than a status holds
// (inventory.InlineLimit) the manager keeps in Secrets, which this leaves out.
func manifestStatus(manifest *v1beta2.Manifest, m *content, applied []*unstructured.Unstructured, now metav1.Time) v1beta2.ManifestStatus {
	told := func(kind, reason, message string) metav1.Condition {
		return condition(kind, metav1.ConditionTrue, reason, message, manifest.Generation, now)
	}
	revisions := manifest.Status.DeepCopy().Revisions
	revision := v1beta2.Revision{
		Number: int64(len(revisions) + 1), Version: m.Version, Digest: m.digest, Template: m.digest[len(m.digest)-hashLength:],
		At: now, Before: manifest.Status.State, Outcome: v1beta2.RevisionSucceeded,
	}
	return v1beta2.ManifestStatus{
		ObservedGeneration: manifest.Generation, State: v1beta2.StateReady,
		Conditions: []metav1.Condition{
			told(v1beta2.ConditionInstallation, v1beta2.ReasonReady, v1beta2.MessageInstallationReady),
			told(v1beta2.ConditionReady, v1beta2.ReasonReady, v1beta2.OperationResourcesReady),
			told(v1beta2.ConditionResources, v1beta2.ReasonParsed, v1beta2.MessageResourcesParsed),
		},
		Synced:           synced(m, applied),
		InstalledVersion: m.Version,
		Revisions:        append(revisions, revision),
		Resolved: []v1beta2.ResolvedSource{{
			Name: installation, Reference: repository + "/" + m.Component + "@" + m.digest, Digest: m.digest,
		}},
		LastOperation: v1beta2.LastOperation{Operation: v1beta2.OperationResourcesReady, LastUpdateTime: now},
	}
}

// synced returns the inventory.
func synced(m *content, applied []*unstructured.Unstructured) []v1beta2.Resource {
	resources := make([]v1beta2.Resource, 0, len(applied))
	for i, object := range applied[:min(len(applied), inventory.InlineLimit)] {
		kind := object.GroupVersionKind()
		resources = append(resources, v1beta2.Resource{
			Group: kind.Group, Version: kind.Version, Kind: kind.Kind, Name: object.GetName(), Namespace: object.GetNamespace(),
			UID: object.GetUID(), Hash: m.hashes[i], Fields: "a:" + m.hashes[i],
		})
	}
	return resources
}

func condition(kind string, status metav1.ConditionStatus, reason, message string, generation int64, now metav1.Time) metav1.Condition {
	return metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: message, ObservedGeneration: generation, LastTransitionTime: now,
	}
}
