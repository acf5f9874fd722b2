package apply

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// DefaultWorkers is the number of concurrent writes when Options.Workers is not set.
const DefaultWorkers = 8

// Resource is where the API server serves a kind.
type Resource struct {
	schema.GroupVersionResource
	Namespaced bool
	// WarmingUp means that the definition of the kind was established moments ago, see Create. It is only a hint: a wrong one costs time.
	WarmingUp bool
	// ByName means that the rights of the caller may be limited to names. Objects are created by an apply then: of a POST the API server does
	// not know the name when it looks at rights.
	ByName bool
}

// Cluster gives an apply access to a cluster. Several workers call its functions at once.
type Cluster struct {
	// Dynamic writes and reads objects.
	Dynamic dynamic.Interface
	// Resource returns the resource of a kind; *UnknownKindError when the cluster does not serve it.
	Resource func(ctx context.Context, gvk schema.GroupVersionKind) (Resource, error)
	// Versions returns the versions in which the cluster serves a kind. It is called before an object whose recorded version is not served
	// counts as gone; nil when UnknownKindError.Served is already complete.
	Versions func(ctx context.Context, kind schema.GroupKind) ([]string, error)
	// Learn receives every object that a write returned, so that a cache need not wait for its watch; may be nil.
	Learn func(*unstructured.Unstructured)
	// Kinds lists what the cluster serves, one version of each kind. Delete calls it ahead of a Namespace, to look for objects of others;
	// when nil, only Options.KeepNamespaces protects Namespaces.
	Kinds func(ctx context.Context) ([]KindResource, error)
}

// Options determine on whose behalf a phase is applied or a wave deleted.
type Options struct {
	// Manager is the field manager of every write.
	Manager string
	// Owner is the value of the annotation OwnerKey on objects that are ours.
	Owner string
	// OwnerKey is the annotation that marks the owner of an object.
	OwnerKey string
	// Ownership determines what happens to objects that we did not create; empty counts as Prevent.
	Ownership Ownership
	// Relation returns how another owner, given by its mark, is related to us; nil counts as OwnerForeign for all of them.
	Relation func(owner string) Relation
	// Claim names the installer that an object belongs to by marks other than OwnerKey, and what lets go of it; "" for none. May be nil. Such
	// an object is a foreign owner's; where the inventory has it and it carries our mark, too, it is ours, and stays when Delete reads it.
	Claim func(*unstructured.Unstructured) string
	// Predecessors are the field managers of installers, besides kubectl and Helm, whose fields become ours when an object is adopted.
	Predecessors []string
	// Workers bounds the number of concurrent writes; DefaultWorkers when 0.
	Workers int
	// Live returns the state of an object in the watch streams; may be nil. Apply uses it to notice, without a call, that a recorded object
	// now carries another owner's mark (a module that shares it with us), which a server-side apply by the same manager would silently
	// overwrite.
	Live func(inventory.ID) inventory.Live

	// Autoscaled reports whether the content holds an autoscaler that targets the object; may be nil. It costs no call. An autoscaler in the
	// cluster that carries our own mark counts only if Autoscaled agrees: one that the content dropped is about to be pruned.
	Autoscaled func(inventory.ID) bool

	// Kept reports, from the watch streams, whether an object carries AnnotationKeep. When nil, Delete reads every object first.
	Kept func(inventory.ID) bool
	// Successor returns another owner that also lists the object, "" for none; Delete marks the object as the successor's instead of deleting
	// it. May be nil.
	Successor func(inventory.ID) string
	// KeepNamespaces are the names of Namespaces that others use too: Delete leaves them alone, no Claim to them counts, and what others have
	// declared of them stays.
	KeepNamespaces []string
}

// UnknownKindError reports that a cluster does not serve a kind.
type UnknownKindError struct {
	schema.GroupVersionKind
	// Served lists the other versions in which the cluster serves the kind, where they are known.
	Served []string
}

// Error names the kind and any versions that would work. A definition may name a version some seconds before the API server serves it:
// then no other version must be used.
func (e *UnknownKindError) Error() string {
	switch {
	case slices.Contains(e.Served, e.Version):
		return fmt.Sprintf("the cluster does not serve kind %s of %s yet: its CustomResourceDefinition has that version and "+
			"is still taking effect", e.Kind, e.GroupVersion())
	case len(e.Served) > 0:
		return fmt.Sprintf("the cluster does not serve kind %s of %s; use version %s",
			e.Kind, e.GroupVersion(), strings.Join(e.Served, " or "))
	}
	return fmt.Sprintf("the cluster does not serve kind %s of %s; install its CustomResourceDefinition first", e.Kind, e.GroupVersion())
}

// KindResource is a kind and where the API server serves it.
type KindResource struct {
	Kind string
	Resource
}
