package manifest

import (
	"context"
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/health"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// Target is the cluster that a Manifest is installed into.
type Target struct {
	// Namespace and Name find the access Secret: its namespace and the value of its label kyma-name.
	Namespace, Name string
	// Local means the hub itself.
	Local bool
	// Account is the ServiceAccount of the cluster that reads and writes what the Manifest installs; none: the access to the cluster itself.
	Account types.NamespacedName
	// Owner is the Manifest that requests it: it is enqueued when a cluster that did not respond at first responds.
	Owner types.NamespacedName
}

// Runtime is a connected cluster.
type Runtime interface {
	Observations
	// Cluster returns the cluster as the account of the Target reads and writes it, and Own as the access to the cluster does, for what is no
	// part of an installation.
	Cluster() *apply.Cluster
	Own() *apply.Cluster
	// Once calls do unless it succeeded before for that key on this connection; ResetOnce makes the next Once call it again.
	Once(ctx context.Context, key string, do func() error) error
	ResetOnce(key string)
	// Capabilities returns what the cluster serves, requested once for each connection, and only when needed.
	Capabilities(ctx context.Context) (runtimes.Capabilities, error)
	// Report records a failed call, so that a dead cluster is left alone for a while.
	Report(err error)
}

// Observations is the state of a cluster that is known without a call.
type Observations interface {
	// Track requests events of kinds; it costs calls only for kinds that no owner tracked before.
	Track(owner types.NamespacedName, interests []runtimes.Interest)
	Untrack(owner types.NamespacedName)
	// Hidden returns why a kind that the owner tracks cannot be observed, nil when all of them can be or will be soon.
	Hidden(owner types.NamespacedName) *runtimes.Problem
	Live(id inventory.ID) inventory.Live
	// Health returns the health of an object whose kind has one here; Unknown while nothing was observed of it.
	Health(id inventory.ID) (result health.Result, kept bool)
	ModuleCRs(kind schema.GroupKind) (crs []runtimes.ModuleCRStatus, synced bool)
	// Kept reports whether an object carries the annotation that protects it from deletion.
	Kept(id inventory.ID) bool
	// Object returns a whole object of a kind that is kept.
	Object(id inventory.ID) (*unstructured.Unstructured, bool)
	// Namespaced returns the scope of a kind, if it is known.
	Namespaced(gvk schema.GroupVersionKind) (namespaced, known bool)
}

// Clusters connects to clusters.
type Clusters interface {
	// Get returns the connection. A *Problem names the reason for having none.
	Get(ctx context.Context, target Target) (Runtime, error)
	// Changed reports that an access Secret was changed or deleted.
	Changed(ctx context.Context, namespace, name string)
	// Source enqueues the Manifests whose objects changed.
	Source() source.Source
}

// Part is one installation of a Manifest, rendered.
type Part struct {
	// Source names the installation and the content that it was resolved to.
	Source v1beta2.ResolvedSource
	// Steps are applied one after the other. Their objects are shared: copy one before changing it.
	Steps [][]*unstructured.Unstructured
	// Hooks are objects that are written at events. They are shared, too.
	Hooks []*unstructured.Unstructured
	// Generated are the values of generators that are in the objects, by their calls: they must be kept before an object is applied.
	Generated map[string]json.RawMessage
	// GeneratedAnew says that objects have new values, and that none of the source was kept before.
	GeneratedAnew bool
	// Namespace for objects that name none, before the Manifest's; CreateNamespace requests its creation.
	Namespace       string
	CreateNamespace bool
}

// Content turns the sources of a Manifest into objects, verified, and caches them. Errors are a *Problem where users can do something about
// them.
type Content interface {
	// Sources returns everything that a Manifest installs from, in order and without a call.
	Sources(manifest *v1beta2.Manifest) ([]v1beta2.ResolvedSource, error)
	// Parts renders all installations, in order, for their cluster.
	Parts(ctx context.Context, manifest *v1beta2.Manifest, capabilities func(context.Context) (runtimes.Capabilities, error)) ([]Part, error)
	// Current returns the digest that a source names now; with one request at most.
	Current(ctx context.Context, manifest *v1beta2.Manifest, name string) (string, error)
	// URL returns where users can read what was fetched for a source; empty when it is not served.
	URL(manifest *v1beta2.Manifest, name string) string
	// Policy names the signature policy's requirement for the Manifest, without a call; empty when no signature is required.
	Policy(manifest *v1beta2.Manifest) string
	// Judge returns the policy's verdict on everything that the Manifest installs. It refuses nothing.
	Judge(ctx context.Context, manifest *v1beta2.Manifest, capabilities func(context.Context) (runtimes.Capabilities, error)) Signed
}

// Signed is the signature policy's verdict on a Manifest.
type Signed struct {
	// Status of condition Signed: Unknown when there is no verdict yet; Retry is when to try again then.
	Status          metav1.ConditionStatus
	Reason, Message string
	// Signature names the signers; the caller sets its VerifiedAt.
	Signature v1beta2.SignatureStatus
	Retry     time.Duration
}

// Requeues counts why Manifests are reconciled without an event.
type Requeues interface {
	Requeued(reason string, unexpected bool)
}

// Verdicts counts the signature policy's verdicts on Manifests.
type Verdicts interface {
	// Record records a status; nil forgets the Manifest.
	Record(manifest types.NamespacedName, status *v1beta2.SignatureStatus)
}

// Repairs counts what was put right in runtimes that another client had put wrong.
type Repairs interface {
	// DefinitionRestored counts a definition that was deleted, with every object of its kind, and made again.
	DefinitionRestored()
	// FieldsContested counts fields that were put back although they had been put back a moment before.
	FieldsContested()
}
