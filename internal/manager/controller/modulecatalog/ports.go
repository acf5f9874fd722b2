package modulecatalog

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kyma-project/lifecycle-manager/internal/manager/remotesync"
)

// Target identifies a runtime.
type Target struct {
	// Namespace and Name find the access Secret: they are the Kyma's.
	Namespace, Name string
	// Owner is the Kyma that is enqueued when a runtime that did not respond at first responds.
	Owner types.NamespacedName
}

// Runtime is a connection. Two equal values are one connection.
type Runtime interface {
	remotesync.Runtime
	// Track requests versions and events of kinds, every change of an object included, in place of what the owner requested before.
	Track(owner types.NamespacedName, kinds []schema.GroupVersionKind)
	Untrack(owner types.NamespacedName)
}

// Clusters connects to runtimes.
type Clusters interface {
	// Get returns the connection. A *Problem names the reason for having none.
	Get(ctx context.Context, target Target) (Runtime, error)
	// Changed reports that an access Secret was changed or deleted.
	Changed(ctx context.Context, namespace, name string)
	// Source enqueues the Kymas whose catalog changed in their runtime.
	Source() source.Source
}
