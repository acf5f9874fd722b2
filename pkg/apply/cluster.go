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

// DefaultWorkers is how many objects are written at a time where Options.Workers says nothing.
const DefaultWorkers = 8

// Resource is where the API server serves a kind.
type Resource struct {
	schema.GroupVersionResource
	Namespaced bool
}

// Cluster is what an apply needs of a cluster. Its functions are called by several workers at once.
type Cluster struct {
	// Dynamic writes and reads objects.
	Dynamic dynamic.Interface
	// Resource finds the resource of a kind; *UnknownKindError when the cluster does not serve it.
	Resource func(ctx context.Context, gvk schema.GroupVersionKind) (Resource, error)
	// Versions asks the cluster in which versions it serves a kind, before an object that is not served in its recorded version counts as
	// gone; nil when UnknownKindError.Served says all that can be known.
	Versions func(ctx context.Context, kind schema.GroupKind) ([]string, error)
	// Learn is told every object that a write returned, so that a cache need not wait for its watch; may be nil.
	Learn func(*unstructured.Unstructured)
	// Kinds lists what the cluster serves, one version of each kind. Delete asks for it ahead of a Namespace, to look for objects of others;
	// when nil, only Options.KeepNamespaces protects Namespaces.
	Kinds func(ctx context.Context) ([]KindResource, error)
}

// Options say on whose behalf a phase is applied or a wave deleted.
type Options struct {
	// Manager is the field manager of every write.
	Manager string
	// Owner is the value of the annotation OwnerKey on objects that are ours.
	Owner string
	// OwnerKey is the annotation that marks the owner of an object.
	OwnerKey string
	// Ownership says what happens to objects that we did not make; empty counts as Prevent.
	Ownership Ownership
	// Relation returns what another value of the owner mark is to us; nil counts as Foreign for all of them.
	Relation func(owner string) Relation
	// Workers bounds the writes at a time; DefaultWorkers when 0.
	Workers int
	// Live returns what the watch streams know; may be nil. Apply uses it to notice, without a call, that a recorded object now carries
	// another owner's mark (a module that shares it with us), which a server-side apply by the same manager would overwrite unseen.
	Live func(inventory.ID) inventory.Live

	// Autoscaled reports whether the content holds an autoscaler that targets the object; may be nil. What it says costs no call, and an
	// autoscaler in the cluster that carries our own mark counts only if it agrees: one that the content dropped is about to be pruned.
	Autoscaled func(inventory.ID) bool

	// Kept says, from what the watch streams know, whether an object carries AnnotationKeep. When nil, Delete reads every object first.
	Kept func(inventory.ID) bool
	// Successor names another owner that lists the object too ("" for none); Delete marks it as the successor's instead of deleting it. May be
	// nil.
	Successor func(inventory.ID) string
	// KeepNamespaces are the names of Namespaces that Delete leaves alone, because others live in them too.
	KeepNamespaces []string
}

// UnknownKindError says that a cluster does not serve a kind.
type UnknownKindError struct {
	schema.GroupVersionKind
	// Served lists other versions in which the cluster does serve the kind, where that is known.
	Served []string
}

// Error names the kind and, where there are any, the versions that would work. A definition may name a version some seconds before the
// API server serves it: then no other one must be used.
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
