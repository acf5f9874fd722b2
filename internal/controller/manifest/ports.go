package manifest

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/health"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// Target says which cluster a Manifest goes to.
type Target struct {
	// Namespace and Name find the access Secret: its namespace and the value of its label kyma-name.
	Namespace, Name string
	// Local means the hub itself.
	Local bool
	// Owner is the Manifest that asks: it is woken when a cluster answers that did not at first.
	Owner types.NamespacedName
}

// Mode says how closely objects of a kind are watched.
type Mode int

const (
	// Metadata is enough to see drift and deletion.
	Metadata Mode = iota
	// Workload needs the status too.
	Workload
	// ModuleCR needs the state that a module reports, of every object of the kind.
	ModuleCR
)

// Interest is a kind that a Manifest wants to hear of.
type Interest struct {
	GVK  schema.GroupVersionKind
	Mode Mode
	// Keep asks for whole objects, which costs memory.
	Keep bool
}

// ModuleCRState is a custom resource of a module, as far as its life matters to the module.
type ModuleCRState struct {
	Namespace, Name, State, Message string
	// Object is the whole of it where it is kept.
	Object *unstructured.Unstructured
}

// Runtime is a cluster that is connected.
type Runtime interface {
	Observations
	Cluster() *apply.Cluster
	// Once calls do unless it succeeded before for that key on this connection; Again has the next Once do it once more.
	Once(ctx context.Context, key string, do func() error) error
	Again(key string)
	// Capabilities are asked of the cluster once for each connection, and only if somebody wants to know.
	Capabilities(ctx context.Context) (Capabilities, error)
	// Report tells of a failed call, so that a dead cluster is left alone for a while.
	Report(err error)
}

// Observations are what is known of a cluster without a call.
type Observations interface {
	// Track asks for events of kinds; it costs calls only for kinds that nobody tracked before.
	Track(owner types.NamespacedName, interests []Interest)
	Untrack(owner types.NamespacedName)
	// Hidden tells why a kind that the owner tracks cannot be observed, nil when all of them can be or will be soon.
	Hidden(owner types.NamespacedName) *Problem
	Live(id inventory.ID) inventory.Live
	// Health is that of an object whose kind has one here; Unknown while nothing was heard of it.
	Health(id inventory.ID) (result health.Result, kept bool)
	ModuleCRs(kind schema.GroupKind) (crs []ModuleCRState, synced bool)
	// Kept tells that an object carries the annotation that keeps it from being deleted.
	Kept(id inventory.ID) bool
	// Object is a whole object of a kind that is kept.
	Object(id inventory.ID) (*unstructured.Unstructured, bool)
	// Namespaced tells the scope of a kind, if it is known.
	Namespaced(gvk schema.GroupVersionKind) (namespaced, known bool)
}

// Fleet connects to clusters.
type Fleet interface {
	// Get returns the connection. A *Problem says why there is none.
	Get(ctx context.Context, target Target) (Runtime, error)
	// Changed is told that an access Secret changed or went.
	Changed(ctx context.Context, namespace, name string)
	// Source enqueues the Manifests whose objects changed.
	Source() source.Source
}

// Part is one installation of a Manifest, rendered.
type Part struct {
	// Source says what it is and which content it was resolved to.
	Source v1beta2.ResolvedSource
	// Steps are applied one after the other. Their objects are shared: whoever changes one copies it first.
	Steps [][]*unstructured.Unstructured
	// Namespace for objects that name none, before the Manifest's; CreateNamespace asks for it to be made.
	Namespace       string
	CreateNamespace bool
}

// Content turns the sources of a Manifest into objects, verified, and keeps them at hand. Errors are a *Problem where people can do
// something about it.
type Content interface {
	// Sources names everything that a Manifest installs from, in order and without a call.
	Sources(manifest *v1beta2.Manifest) ([]v1beta2.ResolvedSource, error)
	// Parts renders all installations, in order, for the cluster that they go to.
	Parts(ctx context.Context, manifest *v1beta2.Manifest, capabilities func(context.Context) (Capabilities, error)) ([]Part, error)
	// Current is the digest that a source names now; one request at most.
	Current(ctx context.Context, manifest *v1beta2.Manifest, name string) (string, error)
	// URL is where people can read what was fetched for a source; empty when nobody serves it.
	URL(manifest *v1beta2.Manifest, name string) string
	// Policy names what the Manifest is held to by the policy for signatures, without a call; empty when nothing has to be signed.
	Policy(manifest *v1beta2.Manifest) string
	// Judge tells what that policy says of everything that the Manifest installs. It refuses nothing.
	Judge(ctx context.Context, manifest *v1beta2.Manifest, capabilities func(context.Context) (Capabilities, error)) Signed
}

// Signed is what the policy for signatures says of a Manifest.
type Signed struct {
	// Status of condition Signed: Unknown when it cannot be told yet, which Retry says when to ask again.
	Status          metav1.ConditionStatus
	Reason, Message string
	// Signature is who signed; its VerifiedAt is left to the caller.
	Signature v1beta2.SignatureStatus
	Retry     time.Duration
}

// Requeues counts why Manifests come back without an event.
type Requeues interface {
	Requeued(reason string, unexpected bool)
}

// Verdicts counts what the policy for signatures says of Manifests.
type Verdicts interface {
	// Judged notes a status; nil forgets the Manifest.
	Judged(manifest types.NamespacedName, status *v1beta2.SignatureStatus)
}

// Capabilities are what templates may ask about a cluster.
type Capabilities struct {
	KubeVersion string
	APIVersions []string
}

// Problem is a cause that the status can name. Retry zero means: nothing but an event helps.
type Problem struct {
	Reason, Message string
	Retry           time.Duration
	// Passing means that nothing has failed: what is missing is on its way.
	Passing bool
}

// Error makes a Problem an error.
func (p *Problem) Error() string { return p.Reason + ": " + p.Message }
