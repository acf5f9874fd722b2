package manifest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/installable"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/generated"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// generatedPart is the part that comes before all others: the Secret with the values that charts have generated. No installation can have
// its name.
const generatedPart = "spec.generated"

// generatedID returns where the cluster keeps the values that the charts of a Manifest generate: where it has kept them so far, else where
// the installation before had them, else with the module, or where the objects of a stand-alone Manifest go. kept reports whether values were
// applied.
func (w *scope) generatedID() (id inventory.ID, kept bool) {
	id = inventory.ID{Kind: "Secret", Namespace: v1beta2.RuntimeNamespace, Name: installable.GeneratedName(w.manifest.Name)}
	if KymaOf(w.manifest) == nil {
		id.Namespace = cmp.Or(w.manifest.Spec.TargetNamespace, "default")
	}
	before, follows := w.generatedBefore()
	for _, entry := range w.recorded {
		if wasApplied(entry) && (entry.GroupKind() == id.GroupKind() && entry.Name == id.Name || follows && entry.ID == before) {
			return entry.ID, true
		}
	}
	if w.inherits {
		return before, false
	}
	return id, false
}

// generatedBefore returns where a direct installation of the same module keeps such values.
func (w *scope) generatedBefore() (id inventory.ID, follows bool) {
	module := w.manifest.Labels[v1beta2.LabelModuleName]
	if KymaOf(w.manifest) == nil || module == "" {
		return inventory.ID{}, false
	}
	name := installable.GeneratedName(installable.DirectPrefix + module)
	return inventory.ID{Kind: "Secret", Namespace: v1beta2.RuntimeNamespace, Name: name}, true
}

// inherit looks for what a direct installation of the module has kept and let go of: the Secret is taken over, like its other objects. It
// returns nil where there is none.
func (w *scope) inherit(ctx context.Context) (*unstructured.Unstructured, error) {
	id, follows := w.generatedBefore()
	if !follows {
		return nil, nil
	}
	live, err := get(ctx, w.runtime.Cluster(), secretAt(id))
	if apierrors.IsNotFound(err) || err == nil && installable.ClaimedDirectly(live) != "" {
		return nil, nil
	}
	w.inherits = err == nil
	return live, w.clusterProblem(id, err)
}

// secretAt returns a Secret without data.
func secretAt(id inventory.ID) *unstructured.Unstructured {
	secret := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret"}}
	secret.SetNamespace(id.Namespace)
	secret.SetName(id.Name)
	return secret
}

// isGenerated reports whether an object is the Secret with the values that the charts have generated.
func (w *scope) isGenerated(id inventory.ID) bool {
	values, _ := w.generatedID()
	return id == values
}

// readGenerated reads the values that the charts have generated, once in a pass. Values that were applied and are gone are not made anew:
// what the module has encrypted or stored with them would be lost. That a Secret without values asks for new ones is a user's word.
func (w *scope) readGenerated(ctx context.Context) (generated.Store, error) {
	if w.generated != nil {
		return *w.generated, nil
	}
	live, err := w.readKept(ctx)
	if err != nil {
		return generated.Store{}, err
	}
	store, err := generated.Read(live)
	if err != nil {
		return store, w.generatedLost("cannot be read: " + err.Error())
	}
	if owner := live.GetAnnotations()[v1beta2.AnnotationOwnedBy]; owner != "" && owner != w.owner() && !store.Empty() {
		return store, w.generatedLost("belongs to " + owner)
	}
	w.generated = &store
	return store, nil
}

// readKept reads the Secret with the values. One without data stands for one that was never there.
func (w *scope) readKept(ctx context.Context) (*unstructured.Unstructured, error) {
	id, kept := w.generatedID()
	secret := secretAt(id)
	live, err := get(ctx, w.runtime.Cluster(), secret)
	switch {
	case err == nil:
		return live, nil
	case !apierrors.IsNotFound(err):
		return nil, w.clusterProblem(id, err)
	case kept && !w.leaves:
		return nil, w.generatedLost("is gone")
	case !kept && !w.leaves:
		if live, err = w.inherit(ctx); live != nil || err != nil {
			return live, err
		}
	}
	w.valueless = true
	return secret, nil
}

func (w *scope) generatedLost(what string) *runtimes.Problem {
	id, _ := w.generatedID()
	return &runtimes.Problem{
		Reason: v1beta2.ReasonGeneratedValuesLost, Retry: retryRefused,
		Message: fmt.Sprintf("%s, which has the passwords and keys that the module's chart has generated, %s: restore it; or, to have all of "+
			"them made anew, create it without data and with the annotation %s: %s", id, what, v1beta2.AnnotationOwnedBy, w.owner()),
	}
}

// errInvented guards against values that are no secret: content that was rendered without those of the installation is to be looked at.
var errInvented = errors.New("the content was rendered without the values of its installation")

// withGenerated puts the values that the parts use in front of them, as a part of its own: they are applied before anything that has one of
// them. A module that has kept values keeps them, also while no chart uses any: an earlier version may come back.
func (w *scope) withGenerated(ctx context.Context, parts []Part) ([]Part, error) {
	id, kept := w.generatedID()
	uses := slices.ContainsFunc(parts, func(part Part) bool { return len(part.Generated) > 0 })
	if !uses && !kept {
		return parts, nil
	}
	if uses && w.generated == nil {
		return nil, errInvented
	}
	store, err := w.readGenerated(ctx)
	if err != nil {
		return nil, err
	}
	for _, part := range parts {
		store = store.With(part.Source.Name, part.Generated)
	}
	secret, err := store.Secret(id.Namespace, id.Name)
	if err != nil {
		return nil, &runtimes.Problem{Reason: content.ReasonContentTooLarge, Message: err.Error()}
	}
	first := Part{Source: v1beta2.ResolvedSource{Name: generatedPart}, Steps: [][]*unstructured.Unstructured{{secret}}}
	return append([]Part{first}, parts...), nil
}
