package hubcontent

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// ExportOptions say what of a hub is exported.
type ExportOptions struct {
	// Namespaces of the content; none means all.
	Namespaces []string
	// ManagerNamespace is where the manager runs. Its UID is the identity of the hub.
	ManagerNamespace string
	// WithoutSecrets leaves out every Secret but the inventories of Manifests, which hold none.
	WithoutSecrets bool
}

// Content is what a hub holds, in the order that restores without harm.
type Content struct {
	Objects []*unstructured.Unstructured
	// Hub is the identity of the hub; empty where it could not be read.
	Hub string
	// Warnings say what is left out, or needs a person, each in one line.
	Warnings []string

	known map[ID]bool
}

func (c *Content) warnf(format string, args ...any) {
	c.Warnings = append(c.Warnings, fmt.Sprintf(format, args...))
}

// export is one run of Export.
type export struct {
	ExportOptions
	from    client.Reader
	content Content
	refs    *references
	kymas   map[client.ObjectKey]*unstructured.Unstructured // as they are in the cluster
}

// Export reads what a hub holds. It writes nothing. What may not be read is an error: a part must not be taken for all.
func Export(ctx context.Context, from client.Reader, options ExportOptions) (*Content, error) {
	e := &export{ExportOptions: options, from: from, refs: newReferences(), kymas: map[client.ObjectKey]*unstructured.Unstructured{}}
	for _, step := range []func(context.Context) error{
		e.identify, e.kymasAndManifests, e.offers, e.manager, e.referenced, e.namespaces,
	} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	sortObjects(e.content.Objects)
	return &e.content, nil
}

// identify reads the identity of the hub, for which a take-over asks.
func (e *export) identify(ctx context.Context) error {
	namespace := &corev1.Namespace{}
	err := e.from.Get(ctx, client.ObjectKey{Name: e.ManagerNamespace}, namespace)
	switch {
	case apierrors.IsForbidden(err), apierrors.IsNotFound(err):
		e.content.warnf("the identity of this hub is not in the export, since namespace %s could not be read: kyma hub import "+
			"--take-over=HUB names it", e.ManagerNamespace)
	case err != nil:
		return fmt.Errorf("read Namespace %s: %w", e.ManagerNamespace, err)
	default:
		e.content.Hub = string(namespace.UID)
	}
	return nil
}

// kymasAndManifests reads Manifests before Kymas: a Manifest that is older than the spec of its Kyma is brought up to date, one of a module
// that the Kyma does not have yet would be deleted.
func (e *export) kymasAndManifests(ctx context.Context) error {
	manifests, err := e.list(ctx, kindManifest)
	if err != nil {
		return err
	}
	kymas, err := e.list(ctx, kindKyma)
	if err != nil {
		return err
	}
	for _, kyma := range kymas {
		if kyma.GetDeletionTimestamp() != nil {
			e.content.warnf("%s is being deleted and is left out, with its Manifests: wait until it is gone, or what it has stays in its runtime",
				idOf(kyma))
			continue
		}
		if err := e.addKyma(kyma); err != nil {
			return err
		}
	}
	for _, manifest := range manifests {
		if err := e.addManifest(ctx, manifest); err != nil {
			return err
		}
	}
	return nil
}

func (e *export) list(ctx context.Context, kind string) ([]*unstructured.Unstructured, error) {
	found, err := listAll(ctx, e.from, v1beta2.GroupVersion.WithKind(kind), e.Namespaces)
	if apierrors.IsNotFound(err) && (kind == kindRollout || kind == kindKymaRelease) {
		return nil, nil // a hub of an earlier version
	}
	return found, err
}

func (e *export) addKyma(o *unstructured.Unstructured) error {
	kyma := &v1beta2.Kyma{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, kyma); err != nil {
		return fmt.Errorf("%s cannot be read: %w", idOf(o), err)
	}
	e.refs.ofKyma(kyma)
	e.kymas[client.ObjectKeyFromObject(o)] = o.DeepCopy()
	clean(o)
	setAnnotation(o, v1beta2.AnnotationExportedFrom, origin{e.content.Hub, string(kyma.UID)}.String())
	if !isRemote(o) {
		dropStatus(o)
		e.content.warnf("%s installs into the hub itself: another hub installs its modules anew", idOf(o))
	} else if !synced(o) {
		e.content.warnf("%s shares its runtime by the label %s: no claim keeps two hubs from writing there, so suspend it here before the "+
			"import", idOf(o), v1beta2.LabelSync)
	}
	e.content.Objects = append(e.content.Objects, o)
	return nil
}

func isRemote(kyma *unstructured.Unstructured) bool {
	remote, set, _ := unstructured.NestedBool(kyma.Object, "spec", "remote")
	return remote || !set
}

func synced(kyma *unstructured.Unstructured) bool {
	return kyma.GetLabels()[v1beta2.LabelSync] != "false"
}

// addManifest adds a Manifest with its status, which is the record of what it installed, and of what it went back from. One of a Kyma that
// is being deleted belongs to a module that the Kyma does not have any more: there the Kyma deletes it again.
func (e *export) addManifest(ctx context.Context, o *unstructured.Unstructured) error {
	manifest := &v1beta2.Manifest{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, manifest); err != nil {
		return fmt.Errorf("%s cannot be read: %w", idOf(o), err)
	}
	remote, owner := manifest.Spec.Remote, origin{}
	for _, reference := range manifest.OwnerReferences {
		if reference.Kind != kindKyma {
			continue
		}
		kyma := e.kymas[client.ObjectKey{Namespace: manifest.Namespace, Name: reference.Name}]
		if kyma == nil || kyma.GetUID() != reference.UID {
			return nil // it goes with its Kyma
		}
		remote, owner = isRemote(kyma), origin{e.content.Hub, string(reference.UID)}
	}
	if owner.uid == "" && manifest.DeletionTimestamp != nil {
		e.content.warnf("%s is being deleted and is left out: wait until it is gone, or what it has stays where it is", idOf(o))
		return nil
	}
	if !remote && owner.uid != "" {
		return nil // its Kyma makes it anew
	}
	e.refs.ofManifest(manifest)
	clean(o)
	if owner.uid != "" {
		setAnnotation(o, v1beta2.AnnotationExportedFrom, owner.String())
	}
	if !remote {
		dropStatus(o)
		e.content.warnf("%s installs into the hub itself: another hub installs it anew", idOf(o))
	} else {
		if owner.uid == "" {
			e.content.warnf("%s has no Kyma that claims its runtime: no claim keeps two hubs from writing there, so suspend it here before the "+
				"import, unless a Kyma has that runtime, too", idOf(o))
		}
		if err := e.inventory(ctx, manifest); err != nil {
			return err
		}
	}
	e.content.Objects = append(e.content.Objects, o)
	return nil
}

// inventory adds the Secrets that the status of a Manifest names: without one of them its manager would stop.
func (e *export) inventory(ctx context.Context, manifest *v1beta2.Manifest) error {
	for _, name := range manifest.Status.InventoryShards {
		key := client.ObjectKey{Namespace: manifest.Namespace, Name: name}
		shard, err := getOne(ctx, e.from, corev1.SchemeGroupVersion.WithKind(kindSecret), key)
		if err != nil {
			return err
		}
		if shard == nil {
			return fmt.Errorf("%s, which holds a part of the inventory of Manifest %s/%s, is gone: its upgrade is under way, export again",
				ID{kindSecret, key.Namespace, name}, manifest.Namespace, manifest.Name)
		}
		clean(shard)
		e.content.Objects = append(e.content.Objects, shard)
	}
	return nil
}

// offers adds templates, rollouts, and releases of modules and of Kymas; the status of the latter is counted anew. A rollout that is being
// deleted still holds versions back, and must do so elsewhere.
func (e *export) offers(ctx context.Context) error {
	for _, kind := range []string{kindTemplate, kindRollout, kindRelease, kindKymaRelease} {
		found, err := e.list(ctx, kind)
		if err != nil {
			return err
		}
		for _, o := range found {
			uid, going := string(o.GetUID()), o.GetDeletionTimestamp() != nil
			if going && kind != kindRollout {
				e.content.warnf("%s is being deleted and is left out", idOf(o))
				continue
			}
			if going {
				e.content.warnf("%s is being deleted: delete it again after the import", idOf(o))
			}
			clean(o)
			if kind == kindKymaRelease {
				dropStatus(o)
			}
			if kind == kindRollout {
				setAnnotation(o, v1beta2.AnnotationExportedFrom, origin{e.content.Hub, uid}.String())
			}
			e.content.Objects = append(e.content.Objects, o)
		}
	}
	return nil
}
