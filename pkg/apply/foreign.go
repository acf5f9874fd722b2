package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// maxNamed is how many objects of others a Note names.
const maxNamed = 5

func isNamespace(id inventory.ID) bool { return id.Group == "" && id.Kind == "Namespace" }

func isDefinition(id inventory.ID) bool {
	return id.GroupKind() == inventory.CRDKind
}

// stays returns the outcome of an object of ours that must not be deleted, or may have another owner; nil when it can be deleted.
func (d *deleting) stays(ctx context.Context, uid types.UID) *Outcome {
	var named *naming
	var err error
	action, note := Kept, ""
	switch {
	case d.seen == nil: // then Kept is set: looksFirst
		if d.Kept(d.id) {
			note = noteKept
		}
	case kept(d.seen):
		note = noteKept
	case isNamespace(d.id) && d.Kinds != nil:
		named, err = d.contentOfOthers(ctx)
		note = named.text("it holds objects that are not ours: ")
	case isDefinition(d.id):
		action = InUse
		named, err = d.resourcesOfOthers(ctx)
		note = named.text("custom resources of it exist that are not ours; it is deleted when they are gone: ")
	}
	switch {
	case err != nil:
		outcome := d.failed(d.id, "delete", err)
		return &outcome
	case note != "":
		return &Outcome{ID: d.id, Action: action, UID: uid, Note: note, Object: d.seen}
	}
	return nil
}

const noteKept = "it carries the annotation " + AnnotationKeep

// naming collects names, and counts no further than necessary.
type naming struct {
	names []string
	more  bool
}

// add adds a name and reports whether to look for more.
func (n *naming) add(id inventory.ID) bool {
	if name := shortened(id.String(), maxMark); len(n.names) < maxNamed {
		n.names = append(n.names, name)
	} else {
		n.more = true
	}
	return !n.more
}

func (n *naming) text(before string) string {
	switch {
	case n == nil || len(n.names) == 0:
		return ""
	case n.more:
		return before + strings.Join(n.names, ", ") + " and more"
	}
	return before + strings.Join(n.names, ", ")
}

// contentOfOthers returns the objects in the Namespace that would be lost with it.
func (d *deleting) contentOfOthers(ctx context.Context) (*naming, error) {
	kinds, err := d.Kinds(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the kinds of objects that it may hold: %w", err)
	}
	kinds = slices.Clone(kinds)
	slices.SortFunc(kinds, func(a, b KindResource) int { return a.id("", "").Compare(b.id("", "")) })
	named := &naming{}
	seen := map[types.UID]bool{} // some objects are served as two kinds
	for _, kind := range kinds {
		if !kind.Namespaced || incidental(kind.GroupResource()) {
			continue
		}
		err := visit(ctx, d.Dynamic.Resource(kind.GroupVersionResource).Namespace(d.id.Name), func(obj *unstructured.Unstructured) bool {
			id := kind.id(obj.GetNamespace(), obj.GetName())
			if seen[obj.GetUID()] || obj.GetDeletionTimestamp() != nil || madeForNamespace(id, obj) || !d.foreigner(obj) ||
				metav1.GetControllerOfNoCopy(obj) != nil {
				return true
			}
			seen[obj.GetUID()] = true
			return named.add(id)
		})
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsMethodNotSupported(err) {
			return nil, d.unlisted(kind.Resource.GroupResource(), err)
		}
		if named.more {
			break
		}
	}
	return named, nil
}

func (k KindResource) id(namespace, name string) inventory.ID {
	return inventory.ID{Group: k.Group, Kind: k.Kind, Namespace: namespace, Name: name}
}

// foreigner reports whether an object would not be deleted together with ours anyway.
func (d *deleting) foreigner(obj *unstructured.Unstructured) bool {
	return d.relation(d.mark(obj)) != OwnerSelf || kept(obj)
}

// incidental are kinds whose objects only describe others: deleting them loses no data.
func incidental(resource schema.GroupResource) bool {
	switch resource.Group {
	case "metrics.k8s.io", "custom.metrics.k8s.io", "external.metrics.k8s.io":
		return true
	}
	switch resource.String() {
	case "events", "events.events.k8s.io", "leases.coordination.k8s.io", "endpoints", "endpointslices.discovery.k8s.io":
		return true
	}
	return strings.Contains(resource.Resource, "/")
}

// madeForNamespace reports whether an object is one that a controller creates in every namespace.
func madeForNamespace(id inventory.ID, obj *unstructured.Unstructured) bool {
	switch id.GroupKind().String() + " " + id.Name {
	case "ServiceAccount default", "ConfigMap kube-root-ca.crt", "ConfigMap istio-ca-root-cert", "ConfigMap openshift-service-ca.crt":
		return true
	}
	return id.GroupKind().String() == "Secret" && obj.GetAnnotations()["kubernetes.io/service-account.name"] == "default"
}

// resourcesOfOthers returns the objects of the CustomResourceDefinition that would be lost with it.
func (d *deleting) resourcesOfOthers(ctx context.Context) (*naming, error) {
	kind, err := DefinedKind(d.seen)
	if err != nil {
		return nil, err
	}
	named := &naming{}
	err = visit(ctx, d.Dynamic.Resource(kind.GroupVersionResource), func(obj *unstructured.Unstructured) bool {
		return !d.foreigner(obj) || named.add(kind.id(obj.GetNamespace(), obj.GetName()))
	})
	if err != nil && !apierrors.IsNotFound(err) { // not found: its names were not accepted, so it has no objects
		return nil, d.unlisted(kind.Resource.GroupResource(), err)
	}
	return named, nil
}

// DefinedKind returns where the objects of a CustomResourceDefinition are served: in the storage version if possible, because the webhook
// that converts between versions may be gone already. A definition that serves no version is an *Error.
func DefinedKind(crd *unstructured.Unstructured) (KindResource, error) {
	text := func(path ...string) string {
		value, _, _ := unstructured.NestedString(crd.Object, path...)
		return value
	}
	found := KindResource{Kind: text("spec", "names", "kind"), Resource: Resource{Namespaced: text("spec", "scope") == "Namespaced"}}
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	version := ""
	for _, item := range versions {
		if v, ok := item.(map[string]any); ok && v["served"] == true && (version == "" || v["storage"] == true) {
			version, _ = v["name"].(string)
		}
	}
	if version == "" {
		why := "it serves no version, so remaining objects of it cannot be listed; serve one, or delete it manually"
		return found, &Error{Class: ClassConflict, Message: why}
	}
	group := schema.GroupVersion{Group: text("spec", "group"), Version: version}
	found.GroupVersionResource = group.WithResource(text("spec", "names", "plural"))
	return found, nil
}

// unlisted returns the error for a kind that could not be listed. One kind whose server does not respond does not make the cluster
// unreachable.
func (d *deleting) unlisted(resource schema.GroupResource, err error) error {
	var status apierrors.APIStatus
	class := Classify(err)
	if class == ClassUnreachable && errors.As(err, &status) {
		class = ClassInternal
	}
	why := fmt.Sprintf("could not determine whether others have %s in it: %s", resource, explain(err, d.id))
	return &Error{ID: d.id, Class: class, Message: why}
}
