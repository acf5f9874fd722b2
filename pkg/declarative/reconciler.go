package declarative

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kyma-project/lifecycle-manager/pkg/installer"
)

const (
	// LabelSkip on a custom resource, with the value "true", makes the reconciler ignore it, even when it is deleted.
	LabelSkip = "operator.kyma-project.io/skip-reconciliation"
	// LabelManagedBy is on every installed object; its value is Reconciler.Name. The watches select by it.
	LabelManagedBy = "declarative.kyma-project.io/managed-by"
	// DefaultFinalizer is used when Reconciler.Finalizer is empty.
	DefaultFinalizer = "declarative.kyma-project.io/finalizer"
)

// The delays before a failed pass is retried.
const (
	firstRetry   = 250 * time.Millisecond
	longestRetry = 5 * time.Minute
)

// ErrTargetGone is the error of Reconciler.Target when the cluster of an object no longer exists: the finalizer of an object that is being
// deleted is removed then, although nothing was uninstalled.
var ErrTargetGone = errors.New("the target cluster does not exist any more")

// Object is a custom resource that embeds Status in its status:
//
//	func (b *Beacon) GetStatus() *declarative.Status { return &b.Status.Status }
type Object interface {
	client.Object
	// GetStatus returns the Status within the object, which the reconciler changes in place.
	GetStatus() *Status
}

// Reconciler keeps installed what the objects of one kind require. Set the fields by name, then call SetupWithManager. Only Prototype and
// Installation are required. Functions are called in every pass, with a copy of the object, and for several objects at once if Builder
// allows that.
type Reconciler[T Object] struct {
	// Prototype is an empty object of the kind, which the manager's scheme must know.
	Prototype T
	// Installation returns what to install for an object: Sources, and whatever else pkg/installer offers, such as Transforms, Check, Probes,
	// Ownership and AllowCRDChanges. The Reconciler sets Name, Namespace, Config, Cluster, OwnerKey, FieldManager, Pinned and Wait, and the
	// name of the object is the ReleaseName of a Source that has none.
	Installation func(ctx context.Context, object T) (installer.Installation, error)

	// Name of the controller, the value of LabelManagedBy, and part of the names of records; empty means the kind in lower case. It must
	// not change.
	Name string
	// Namespace is the namespace of the records of pkg/installer, and of objects that name none and whose Source names none. Empty means the
	// namespace of the custom resource. It must not change, and cluster-scoped kinds require it.
	Namespace string
	// Finalizer is the finalizer on the custom resource; empty means DefaultFinalizer.
	Finalizer string
	// FieldManager of the installed objects; empty means Name. It must not change.
	FieldManager string
	// Target returns the cluster of an object; nil means that of the manager. The connection is kept as long as the configuration stays the
	// same. When an object moves to another cluster, its installed objects stay in the old one.
	Target func(ctx context.Context, object T) (*rest.Config, error)

	// AfterApply is called when everything is installed and ready, before that is reported. Its changes to the status of the object are
	// written, too. An error keeps the object from being Ready; see Warning.
	AfterApply func(ctx context.Context, object T, report installer.Report) error
	// BeforeDelete is called before anything is uninstalled, and prevents that by returning an error; see Warning.
	BeforeDelete func(ctx context.Context, object T) error
	// Builder changes the controller before it is created: more watches, more workers.
	Builder func(*ctrl.Builder)

	client  client.Client
	reader  client.Reader
	config  *rest.Config
	targets targets
}

// SetupWithManager adds the controller to a manager. From then on, the Reconciler belongs to it.
func (r *Reconciler[T]) SetupWithManager(mgr ctrl.Manager) error {
	if any(r.Prototype) == nil || r.Installation == nil {
		return errors.New("a declarative.Reconciler needs Prototype, an empty object of its kind, and Installation")
	}
	gvk, err := apiutil.GVKForObject(r.Prototype, mgr.GetScheme())
	if err != nil {
		return fmt.Errorf("the scheme of the manager does not know %T: add it: %w", r.Prototype, err)
	}
	namespaced, err := apiutil.IsGVKNamespaced(gvk, mgr.GetRESTMapper())
	if err == nil && !namespaced && r.Namespace == "" {
		return fmt.Errorf("%s has no namespaces: set Reconciler.Namespace, where its records are to live", gvk.Kind)
	}
	r.Name = cmp.Or(r.Name, strings.ToLower(gvk.Kind))
	r.Finalizer = cmp.Or(r.Finalizer, DefaultFinalizer)
	r.client, r.reader, r.config = mgr.GetClient(), mgr.GetAPIReader(), mgr.GetConfig()
	r.targets.label = r.Name
	b := ctrl.NewControllerManagedBy(mgr).Named(r.Name).
		For(r.Prototype, builder.WithPredicates(predicate.Funcs{UpdateFunc: r.matters})).
		WatchesRawSource(source.Func(r.targets.start)).
		WithOptions(controller.Options{
			RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, longestRetry),
		})
	if r.Builder != nil {
		r.Builder(b)
	}
	return b.Complete(r)
}

// matters reports whether a change of a custom resource requires a pass. A change of its status, which is mostly written here, does not. A
// deletion changes the generation.
func (r *Reconciler[T]) matters(change event.UpdateEvent) bool {
	before, after := change.ObjectOld, change.ObjectNew
	return before.GetGeneration() != after.GetGeneration() ||
		!equality.Semantic.DeepEqual(before.GetLabels(), after.GetLabels()) ||
		!equality.Semantic.DeepEqual(before.GetAnnotations(), after.GetAnnotations()) ||
		controllerutil.ContainsFinalizer(before, r.Finalizer) && !controllerutil.ContainsFinalizer(after, r.Finalizer)
}

// complete adds to the Installation its identity and the settings that all installations share.
func (r *Reconciler[T]) complete(inst installer.Installation, object T, cluster *installer.Cluster) installer.Installation {
	inst.Name, inst.Namespace = r.identify(object)
	inst.Config, inst.Cluster, inst.OwnerKey, inst.Wait = nil, cluster, "", 0
	inst.FieldManager = cmp.Or(r.FieldManager, r.Name)
	inst.Pinned = object.GetStatus().pinned()
	inst.Sources = slices.Clone(inst.Sources)
	for i := range inst.Sources {
		inst.Sources[i].ReleaseName = cmp.Or(inst.Sources[i].ReleaseName, object.GetName())
	}
	inst.Labels = maps.Clone(inst.Labels)
	if inst.Labels == nil {
		inst.Labels = map[string]string{}
	}
	inst.Labels[LabelManagedBy] = r.Name
	return inst
}

// maxName is the maximum length of an installation's name; see pkg/installer.
const maxName = 200

// identify returns the name of an object's installation. It depends on nothing that can change: otherwise the installation would be lost.
func (r *Reconciler[T]) identify(object T) (name, namespace string) {
	name, namespace = r.Name+"."+object.GetName(), object.GetNamespace()
	if r.Namespace != "" {
		if namespace != "" {
			name = r.Name + "." + namespace + "." + object.GetName()
		}
		namespace = r.Namespace
	}
	if len(name) > maxName {
		sum := sha256.Sum256([]byte(name))
		name = r.Name + "." + hex.EncodeToString(sum[:])
	}
	return name, namespace
}
