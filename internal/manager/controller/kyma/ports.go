package kyma

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/remotesync"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// Components reads component versions from the registry. One that cannot be read is returned as a Component with a reason, one that is
// still being read as pending; a positive retry is the time after which to try again. Calls never take long, and may be concurrent.
type Components interface {
	Describe(ctx context.Context, key module.ComponentKey) (component module.Component, retry time.Duration)
	// MarkSuspect records that the content of a component version cannot be installed, and returns the time after which to check again.
	MarkSuspect(key module.ComponentKey) time.Duration
}

// Plans tells what the first pass of a Manifest will apply.
type Plans interface {
	// Plan returns the value of annotation plan for a Manifest that is about to be created; empty where that is not known soon.
	Plan(ctx context.Context, manifest *v1beta2.Manifest) string
}

// Rights finds out what contents of modules may do.
type Rights interface {
	// Change returns what a content of a Kyma's module may do and another one may not. It never takes long, and makes no call to the hub or,
	// once the runtime's capabilities are known, to the runtime: while a content is being fetched or rendered, or fails to be, the Kyma is
	// enqueued when more is known. A positive retry is the time after which to ask again.
	Change(ctx context.Context, kyma types.NamespacedName, asked module.NeededChange) (change module.Change, retry time.Duration)
	// Source enqueues the Kymas that wait.
	Source() source.Source
}

// Metrics publishes the state of Kymas and their modules.
type Metrics interface {
	ObserveKyma(kyma *v1beta2.Kyma)
	// ObserveMandatory publishes the states of a Kyma's mandatory modules, by name.
	ObserveMandatory(namespace, name string, states map[string]v1beta2.State)
	ForgetKyma(namespace, name string)
}

// Requeues counts what is tried again without an event, by upstream's reasons.
type Requeues interface {
	Requeued(reason string, unexpected bool)
}

// HubValues are the Secrets and ConfigMaps of the hub that entries take values from.
type HubValues interface {
	// Text returns the values that a reference names, or the reason why there are none. It makes no call.
	Text(ctx context.Context, namespace string, reference v1beta2.ValuesReference) (text []byte, problem string)
	// Source makes a controller handle every change with wake.
	Source(wake handler.EventHandler) source.Source
}

// Runtime is the cluster of a remote Kyma, connected.
type Runtime interface {
	remotesync.Runtime
	// ID returns the cluster's identity, empty where it cannot be read.
	ID() string
	// Track requests events of kinds; it costs calls only for kinds that no owner tracked before.
	Track(owner types.NamespacedName, interests []runtimes.Interest)
	Untrack(owner types.NamespacedName)
	// Known reports whether all kinds that the owner tracks were listed, which enqueues the owner. A Problem names one that cannot be listed.
	Known(owner types.NamespacedName) (bool, *runtimes.Problem)
	// Object returns an object of a kind that is tracked whole.
	Object(id inventory.ID) (*unstructured.Unstructured, bool)
	// Live returns the known state of an object that is ours.
	Live(id inventory.ID) inventory.Live
	// Established reports whether a definition is established.
	Established(id inventory.ID) bool
	Claimed
	RequiredFacts
}

// Claimed is a cluster that belongs to one hub.
type Claimed interface {
	// Claim returns the hub that the runtime belongs to, empty for none; known is false until that was read.
	Claim() (holder string, known bool)
	// SetClaim records the namespace that carries the claim as it was just read or written; nil means that it does not exist.
	SetClaim(namespace *unstructured.Unstructured)
}

// RequiredFacts is what modules of a Kyma require of a cluster.
type RequiredFacts interface {
	// Require requests events of what modules of a Kyma require of the cluster, until Untrack or another call. It costs a list and a
	// stream for each definition that was not awaited before.
	Require(owner types.NamespacedName, needs module.ClusterNeeds)
	// Required returns what is known of it. It makes no call; the owner is enqueued when more is known.
	Required(owner types.NamespacedName, needs module.ClusterNeeds) module.ClusterFacts
	// Unrequire ends what Require began.
	Unrequire(owner types.NamespacedName)
}

// Clusters connects to runtimes.
type Clusters interface {
	// Get returns the connection to the runtime of a Kyma, which is enqueued when a runtime that did not respond at first responds. A *Problem
	// names the reason for having none.
	Get(ctx context.Context, kyma types.NamespacedName) (Runtime, error)
	// Local returns the connection to the hub itself, for what a Kyma's modules require of it, in the same way.
	Local(ctx context.Context, kyma types.NamespacedName) (Runtime, error)
	// Source enqueues the Kymas whose runtimes changed.
	Source() source.Source
}

// Catalog keeps the templates and releases in runtimes.
type Catalog interface {
	// State returns the state of the catalog of a Kyma's runtime; known is false before the first check.
	State(kyma types.NamespacedName) (known, synced bool, reason, message string)
	// Wake requests a check of the catalog of a Kyma's runtime now: what it waited for may exist.
	Wake(kyma types.NamespacedName)
	// Source enqueues the Kymas whose State changed.
	Source() source.Source
}

// PullSecret is the hub's Secret that runtimes pull images with.
type PullSecret interface {
	// Name returns the name of the Secret, on the hub and in runtimes.
	Name() string
	// Get returns the Secret; nil when it does not exist.
	Get(ctx context.Context) (*corev1.Secret, error)
	// Source enqueues every remote Kyma when the Secret changed.
	Source() source.Source
}
