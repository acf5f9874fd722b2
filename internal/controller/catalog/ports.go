package catalog

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kyma-project/lifecycle-manager/internal/mirror"
)

// Target says which runtime is meant.
type Target struct {
	// Namespace and Name find the access Secret: they are the Kyma's.
	Namespace, Name string
	// Owner is the Kyma that is woken when the runtime answers that did not at first.
	Owner types.NamespacedName
}

// Runtime is a connection. Two values that are equal are one connection.
type Runtime interface {
	mirror.Runtime
	// Track asks for stamps and events of kinds, every change of an object included, in place of what the owner asked for before.
	Track(owner types.NamespacedName, kinds []schema.GroupVersionKind)
	Untrack(owner types.NamespacedName)
}

// Fleet connects to runtimes.
type Fleet interface {
	// Get returns the connection. A *Problem says why there is none.
	Get(ctx context.Context, target Target) (Runtime, error)
	// Changed is told that an access Secret changed or went.
	Changed(ctx context.Context, namespace, name string)
	// Source enqueues the Kymas whose catalog changed in their runtime.
	Source() source.Source
}

// Problem is a cause that a status can name. Retry zero means: nothing but an event helps.
type Problem struct {
	Reason, Message string
	Retry           time.Duration
}

// Error makes a Problem an error.
func (p *Problem) Error() string { return p.Reason + ": " + p.Message }
