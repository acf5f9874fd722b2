package kyma

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/mirror"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// Components tells what a component version in the registry holds. What cannot be read comes back as a Component with
// a reason, what is still being read as one that is pending, and a positive retry says when it is worth asking again. An answer never
// takes long. It is asked by several at once.
type Components interface {
	Describe(ctx context.Context, key module.ComponentKey) (component module.Component, retry time.Duration)
	// Doubt says that what a component version holds cannot be installed, and gets the time after which it is worth looking again.
	Doubt(key module.ComponentKey) time.Duration
}

// Metrics publishes the state of Kymas and their modules.
type Metrics interface {
	ObserveKyma(kyma *v1beta2.Kyma)
	// ObserveMandatory publishes the states of a Kyma's mandatory modules, by name.
	ObserveMandatory(namespace, name string, states map[string]v1beta2.State)
	ForgetKyma(namespace, name string)
}

// Requeues counts what is tried again without an event, by upstream's words.
type Requeues interface {
	Requeued(reason string, unexpected bool)
}

// Interest is a kind in a runtime that a Kyma wants to hear of.
type Interest struct {
	GVK schema.GroupVersionKind
	// Whole asks for whole objects, else for the metadata of those that are ours.
	Whole bool
	// Only, when it has a name, is the one object that matters.
	Only types.NamespacedName
}

// Runtime is the cluster of a remote Kyma, connected.
type Runtime interface {
	mirror.Runtime
	// ID is the cluster's identity, empty where it cannot be read.
	ID() string
	// Track asks for events of kinds; it costs calls only for kinds that nobody tracked before.
	Track(owner types.NamespacedName, interests []Interest)
	Untrack(owner types.NamespacedName)
	// Known says whether all kinds that the owner tracks were listed; the owner is woken when they are. A Problem names one that cannot be.
	Known(owner types.NamespacedName) (bool, *Problem)
	// Object is an object of a kind that is tracked whole.
	Object(id inventory.ID) (*unstructured.Unstructured, bool)
	// Live is what is known of an object that is ours.
	Live(id inventory.ID) inventory.Live
	// Established says whether a definition is.
	Established(id inventory.ID) bool
}

// Fleet connects to runtimes.
type Fleet interface {
	// Get returns the connection to the runtime of a Kyma, which is woken when it answers that did not at first. A *Problem says why
	// there is none.
	Get(ctx context.Context, kyma types.NamespacedName) (Runtime, error)
	// Source enqueues the Kymas whose runtimes changed.
	Source() source.Source
}

// Catalog keeps the templates and releases in runtimes.
type Catalog interface {
	// State tells how the catalog of a Kyma's runtime stands; known is false before it was looked at.
	State(kyma types.NamespacedName) (known, synced bool, reason, message string)
	// Wake has the catalog of a Kyma's runtime looked at now: what it waited for may be there.
	Wake(kyma types.NamespacedName)
	// Source enqueues the Kymas whose State changed.
	Source() source.Source
}

// PullSecret is the hub's Secret that runtimes pull images with.
type PullSecret interface {
	// Name is that of the Secret, here and in runtimes.
	Name() string
	// Get returns it; nil when it does not exist.
	Get(ctx context.Context) (*corev1.Secret, error)
	// Source enqueues every remote Kyma when it changed.
	Source() source.Source
}

// Problem is a cause that the status can name. Retry zero means: nothing but an event helps.
type Problem struct {
	Reason, Message string
	Retry           time.Duration
}

// Error makes a Problem an error.
func (p *Problem) Error() string { return p.Reason + ": " + p.Message }
