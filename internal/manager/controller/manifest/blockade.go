package manifest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

const (
	// pageSize bounds one response to a LIST of what may block a deletion; enough blocking objects of a kind end its list.
	pageSize = 250
	enough   = 50
	// maxPages bounds the lists of a kind: no cluster may keep a worker busy forever.
	maxPages = 200
)

// blockade finds everything that would lose its definition or its operator with the module, before any of the module is deleted. All of it
// is read live. What cannot be listed blocks; an error is what concerns the whole cluster.
//
// The kinds with blocking objects are watched from now on, so that the deletion of the last one ends the waiting.
func (r *Reconciler) blockade(ctx context.Context, w *scope) (module.Blockade, error) {
	looks, going, err := r.readBlockingObjects(ctx, w)
	if err != nil {
		return module.Blockade{}, err
	}
	blockade := module.Blocks(looks, going)
	for i := range blockade.Kinds {
		w.blocking = append(w.blocking, blockade.Kinds[i].Kind)
	}
	return blockade, nil
}

// readBlockingObjects reads the kinds that can block; an object that another Manifest lists too must be kept for that one.
func (r *Reconciler) readBlockingObjects(ctx context.Context, w *scope) (looks []module.Look, going []types.UID, err error) {
	successor := r.findSuccessor(ctx, w)
	defined, looks, err := r.definitions(ctx, w, successor)
	if err != nil {
		return nil, nil, err
	}
	crHeir, err := r.moduleCRSuccessor(ctx, w)
	if err != nil {
		return nil, nil, err
	}
	for _, kind := range w.blockingKinds(defined) {
		if crHeir != "" && kind.GroupKind() == w.moduleCR().GroupVersionKind().GroupKind() {
			continue // the other Manifest keeps what there is of it
		}
		look := module.Look{Kind: kind}
		at := slices.IndexFunc(defined, func(d apply.KindResource) bool { return d.Kind == kind.Kind && d.Group == kind.Group })
		if look.Defined = at >= 0; look.Defined {
			err = w.list(ctx, defined[at].Resource, &look)
		} else {
			err = w.findAndList(ctx, &look)
		}
		if look.Problem, err = w.unlisted(look.Kind, err); err != nil {
			return nil, nil, err
		}
		for i := range look.Objects {
			look.Objects[i].Kept = look.Objects[i].Kept || successor(look.Objects[i].ID) != ""
		}
		looks = append(looks, look)
	}
	for _, entry := range w.recorded {
		live := w.runtime.Live(entry.ID)
		foreign := live.Presence == inventory.Present && live.Owner != w.owner()
		if stays := successor(entry.ID) != "" || w.runtime.Kept(entry.ID) || foreign; !stays {
			going = append(going, entry.UID)
		}
	}
	return looks, going, nil
}

// blockingKinds returns the kinds to check. Where a removal is confined to what inventory and owner mark claim, the spec does not count.
func (w *scope) blockingKinds(defined []apply.KindResource) []schema.GroupVersionKind {
	var associated []metav1.GroupVersionKind
	var own schema.GroupVersionKind
	if !w.confined {
		associated = w.manifest.Spec.AssociatedResources
	}
	if w.seesModuleCRs() {
		own = w.manifest.Spec.Resource.GroupVersionKind()
	}
	kinds := make([]schema.GroupVersionKind, 0, len(defined))
	for _, d := range defined {
		kinds = append(kinds, d.GroupVersion().WithKind(d.Kind))
	}
	return module.BlockingKinds(associated, kinds, own)
}

// findAndList reads the objects of a kind wherever it is served. A kind that is not served has none.
func (w *scope) findAndList(ctx context.Context, look *module.Look) error {
	resource, known, err := w.locate(ctx, look.Kind)
	if err != nil || !known {
		return err
	}
	look.Kind = resource.GroupVersion().WithKind(look.Kind.Kind)
	return w.list(ctx, resource, look)
}

// locate finds where a kind is served that no definition of ours defines. It counts as not served only when no other definition defines it.
func (w *scope) locate(ctx context.Context, kind schema.GroupVersionKind) (apply.Resource, bool, error) {
	cluster := w.runtime.Cluster()
	resource, known, err := served(ctx, cluster, kind)
	if known || err != nil {
		return resource, known, err
	}
	if other := anyVersion(ctx, cluster, kind.GroupKind()); other != nil {
		return *other, true, nil
	}
	return resource, false, w.unserved(ctx, kind)
}

// anyVersion finds a kind in a version that the discovery of the others does not show; nil when there is none. A failing discovery of some
// group is no reason to wait: a module of other groups could never be deleted.
func anyVersion(ctx context.Context, cluster *apply.Cluster, kind schema.GroupKind) *apply.Resource {
	if cluster.Kinds == nil {
		return nil
	}
	all, err := cluster.Kinds(ctx)
	at := slices.IndexFunc(all, func(k apply.KindResource) bool { return k.Kind == kind.Kind && k.Group == kind.Group })
	if err != nil || at < 0 {
		return nil
	}
	return &all[at].Resource
}

// absent returns an error where a kind whose list is not found may be served again in a moment.
func (w *scope) absent(ctx context.Context, kind schema.GroupVersionKind) error {
	if err := w.undefined(ctx, kind.GroupKind()); err != nil {
		return err
	}
	return w.unserved(ctx, kind)
}

// unserved returns an error while another owner's definition of an unserved kind exists: it may have been changed a moment ago. Its name is
// that of the resource, which is guessed.
func (w *scope) unserved(ctx context.Context, kind schema.GroupVersionKind) error {
	guessed, _ := meta.UnsafeGuessKindToResource(kind)
	name := guessed.GroupResource().String()
	definition, err := w.runtime.Cluster().Dynamic.Resource(inventory.CRDResource).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err): // then what discovery says must do
		return nil
	case err != nil:
		return err
	case !defines(definition, kind.GroupKind()) || definition.GetDeletionTimestamp() != nil || rejected(definition):
		return nil
	}
	return &runtimes.Problem{
		Reason: v1beta2.ReasonWaitingForDeletion, Passing: true, Retry: time.Second,
		Message: fmt.Sprintf("%s: definition %s exists and the runtime does not serve the kind yet", v1beta2.OperationWaitingModuleCRs, name),
	}
}

// rejected reports whether a definition was never served, because the API server did not accept its names: it can have no objects.
func rejected(definition *unstructured.Unstructured) bool {
	list, _, _ := unstructured.NestedSlice(definition.Object, "status", "conditions")
	status := map[any]any{}
	for _, item := range list {
		if condition, ok := item.(map[string]any); ok {
			status[condition["type"]] = condition["status"]
		}
	}
	return status["NamesAccepted"] == "False" && status["Established"] != "True"
}

// list reads the objects of a kind, as far as needed to know that some block.
func (w *scope) list(ctx context.Context, resource apply.Resource, look *module.Look) error {
	ours := w.content()
	opts := metav1.ListOptions{Limit: pageSize}
	for page, blocking := 0, 0; ; page++ {
		list, err := w.runtime.Cluster().Dynamic.Resource(resource.GroupVersionResource).List(ctx, opts)
		if apierrors.IsNotFound(err) {
			return w.absent(ctx, look.Kind)
		}
		if err != nil {
			return err
		}
		for i := range list.Items {
			object := ours(&list.Items[i])
			if look.Objects = append(look.Objects, object); len(object.Owners) == 0 && !object.Default && !object.Content {
				blocking++
			}
		}
		if opts.Continue = list.GetContinue(); opts.Continue == "" {
			return nil
		}
		if blocking >= enough || page+1 == maxPages {
			look.More = -1
			if left := list.GetRemainingItemCount(); left != nil {
				look.More = *left
			}
			return nil
		}
	}
}

// content returns a function that describes an object: whose it is, and whether it belongs to the module.
func (w *scope) content() func(*unstructured.Unstructured) module.Object {
	recorded := make(map[inventory.ID]bool, len(w.recorded))
	for _, entry := range w.recorded {
		recorded[entry.ID] = true
	}
	var own *unstructured.Unstructured
	if w.hasModuleCR() && w.seesModuleCRs() {
		own = w.moduleCR()
	}
	return func(live *unstructured.Unstructured) module.Object {
		id := inventory.IDOf(live)
		object := module.Object{ID: id, UID: live.GetUID()}
		for _, owner := range live.GetOwnerReferences() {
			object.Owners = append(object.Owners, owner.UID)
		}
		object.Content = recorded[id] && live.GetAnnotations()[v1beta2.AnnotationOwnedBy] == w.owner()
		object.Kept = live.GetAnnotations()[apply.AnnotationKeep] == "true"
		object.Default = own != nil && own.GroupVersionKind().GroupKind() == id.GroupKind() && id.Name == own.GetName() &&
			(id.Namespace == own.GetNamespace() || id.Namespace == "")
		return object
	}
}

// unlisted sorts failed lists: a failure of one kind's server is reported beside the rest, one of the whole cluster ends the pass.
func (w *scope) unlisted(kind schema.GroupVersionKind, err error) (problem string, fatal error) {
	if err == nil {
		return "", nil
	}
	var answer apierrors.APIStatus
	class := apply.Classify(err)
	switch {
	case resultOf(err) != nil, problemOf(err) != nil:
		return "", err
	case class == apply.ClassForbidden && deniesActing(err.Error()):
	case class == apply.ClassForbidden, class == apply.ClassRefused, class == apply.ClassInternal, class == apply.ClassAdmissionDenied,
		class == apply.ClassUnreachable && errors.As(err, &answer):
		return conditions.Note(err.Error()), nil
	}
	return "", w.clusterProblem(inventory.ID{Group: kind.Group, Kind: kind.Kind}, err)
}
