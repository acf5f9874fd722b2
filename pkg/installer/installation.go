package installer

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// What fields of an Installation stand for when they are empty.
const (
	// DefaultFieldManager is Installation.FieldManager.
	DefaultFieldManager = "manifest-library"
	// DefaultOwnerKey is Installation.OwnerKey.
	DefaultOwnerKey = "operator.kyma-project.io/owned-by"
)

// Installation is what must be in a cluster. Set the fields by name; the calls change none of them.
type Installation struct {
	// Name and Namespace identify the installation. The record lives in Namespace, which is also where objects go that name none and
	// whose Source names none. Both are required.
	Name, Namespace string
	// Config reaches the cluster. It is required unless Cluster is set.
	Config *rest.Config
	// Cluster is a connection that is shared by several calls, so that what the cluster serves is requested once: see Connect. Nil means
	// one that ends with the call.
	Cluster *Cluster
	// CreateNamespace makes Namespace, and those of the Sources, when they are missing. They have no owner, and are never deleted.
	CreateNamespace bool

	// CRDs are CustomResourceDefinitions that are applied, upgraded and pruned like all content, and established before it.
	CRDs []*unstructured.Unstructured
	// Sources are applied in their order; each waits until everything before it is ready.
	Sources []Source
	// CustomResources are created once, when everything before them is ready. They are not changed afterwards, not recreated when
	// they are deleted, and the first to be deleted, and waited for, at Uninstall. While they exist, Ready counts them in.
	CustomResources []*unstructured.Unstructured
	// Pinned are contents that count as resolved, as an earlier Report told them: a Source whose name and reference are among them is not
	// resolved again, so that a tag that has moved on changes nothing.
	Pinned []Resolved

	// Labels are set on every object, such as one by which a watch selects them.
	Labels map[string]string
	// Transforms change every object of CRDs, Sources and CustomResources in turn, before it is compared with the cluster. They get a
	// copy that is in its namespace already, and may change everything but the labels and the mark that are added afterwards.
	Transforms []func(*unstructured.Unstructured) error

	// Ownership says what happens to objects that exist already; empty means apply.Prevent: leave them alone and report them.
	Ownership apply.Ownership
	// Relation returns what the owner that another mark names is to this installation, so that several may share objects: see apply.Options.
	// With nil every other owner is foreign.
	Relation func(owner string) apply.Relation
	// Successor names another owner that lists an object too, "" for none: the object is marked as that one's instead of being deleted.
	Successor func(inventory.ID) string
	// Claim names the installer that an object belongs to by marks of another kind, "" for none; with nil there is no such installer. What it
	// claims is taken over only with apply.Adopt, and stays when this installation goes.
	Claim func(*unstructured.Unstructured) string
	// Predecessors are the field managers of installers, besides kubectl and Helm, that this one may follow: what they declared and this
	// installation does not is removed from an object that is taken over.
	Predecessors []string
	// OwnerKey is the annotation that marks objects as this installation's, with the value "<namespace>/<name>"; empty means
	// DefaultOwnerKey. It must not change while something is installed.
	OwnerKey string
	// GeneratedSecret is the name of the Secret in Namespace with what charts generate and look up; empty means "<Name>.generated". It counts
	// for the first installation that needs it: then the record names it. One that a predecessor has left is taken over as Ownership allows.
	GeneratedSecret string
	// FieldManager of every write; empty means DefaultFieldManager.
	FieldManager string
	// AllowCRDChanges names the rules of pkg/crdsafety that a change of a CustomResourceDefinition may break.
	AllowCRDChanges []string

	// Probes must be true of objects, beside what pkg/health says, before they count as ready.
	Probes []Probe
	// Check is asked last, when everything is ready: a last word of the caller. It says in message what it waits for. With Wait it is
	// asked again, at growing intervals of up to 15 seconds.
	Check func(ctx context.Context, cluster Cluster) (ready bool, message string, err error)
	// PruneWhenReady keeps what is no longer declared until everything that is declared is ready, so that an upgrade that does not come up
	// leaves what ran before. Without it, prune comes after a successful apply.
	PruneWhenReady bool

	// RecordLabels are set on all Secrets of the record, RecordAnnotations on the one that names the others, with the first write of a call;
	// what else they carry stays. Uninstall writes them before it deletes anything.
	RecordLabels, RecordAnnotations map[string]string
	// RecordWhenReady are further annotations, which the record gets when everything that is declared is applied and ready.
	RecordWhenReady map[string]string

	// Progress is called with what is done with objects and what they wait for, as it happens and in one goroutine; it may be nil.
	Progress func(ObjectReport)
	// Wait is how long Install waits until everything is ready, and Uninstall until everything is gone; 0 means not at all.
	Wait time.Duration
}

// Source is one content of an Installation. The functions Bundle, YAML and Objects make those that need no library. For a chart, set
// Renderer to that of pkg/render/helm, for a kustomization to that of pkg/render/kustomize.
type Source struct {
	// Name is what messages call it, and the Report. It is required, and different from those of the other Sources.
	Name string
	// Content is where it comes from; required.
	Content content.Source
	// Renderer turns it into objects; nil means render.Raw: one file of YAML or JSON documents.
	Renderer render.Renderer
	// Values for a Renderer that takes some.
	Values map[string]any
	// Namespace is where objects go that name none; empty means that of the Installation. It is also Helm's release namespace.
	Namespace string
	// NoLookups lets the templates of a chart find nothing in the cluster, such as where a signature is to cover all that is installed.
	NoLookups bool
	// ReleaseName is Helm's; empty means the name of the Installation.
	ReleaseName string
}

// Probe is one more condition on the objects of one kind.
type Probe struct {
	// Name is what messages call it.
	Name string
	// Group and Kind of the objects of this installation that it is about. All of them must fulfil it.
	Group, Kind string
	// Expression is CEL about the variable self, the object: see health.CompileProbe.
	Expression string
	// Message says in users' words what is not yet fulfilled; may be empty.
	Message string
}
