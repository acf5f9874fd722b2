package manifest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

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
// the installation before had them, else with the module, or where the objects of a stand-alone Manifest go. kept reports whether values
// were applied.
func (w *scope) generatedID() (id inventory.ID, kept bool) {
	id = inventory.ID{Kind: "Secret", Namespace: v1beta2.RuntimeNamespace, Name: installable.GeneratedName(w.manifest.Name)}
	if KymaOf(w.manifest) == nil {
		id.Namespace = cmp.Or(w.manifest.Spec.TargetNamespace, "default")
	}
	inherited, planned := inventory.ID{}, false
	for _, entry := range w.recorded {
		switch {
		case wasApplied(entry) && w.isKept(entry):
			return entry.ID, true
		case isOfDirect(entry.ID):
			inherited, planned = entry.ID, true
		}
	}
	switch {
	case planned: // the write may have arrived
		return inherited, false
	case w.inherits:
		return w.generatedBefore(), false
	}
	return id, false
}

// isKept reports whether an entry is the Secret with the values, wherever that is.
func (w *scope) isKept(entry inventory.Entry) bool {
	own := entry.Group == "" && entry.Kind == "Secret" && entry.Name == installable.GeneratedName(w.manifest.Name)
	return own || isOfDirect(entry.ID)
}

// isOfDirect reports whether an object is the Secret in which a direct installation keeps such values.
func isOfDirect(id inventory.ID) bool {
	return id.Group == "" && id.Kind == "Secret" && id.Namespace == v1beta2.RuntimeNamespace &&
		strings.HasPrefix(id.Name, installable.DirectPrefix) && strings.HasSuffix(id.Name, installable.GeneratedName(""))
}

// generatedBefore returns where a direct installation of the module keeps such values; it has no name for what is no module of a Kyma.
func (w *scope) generatedBefore() inventory.ID {
	module := w.manifest.Labels[v1beta2.LabelModuleName]
	if KymaOf(w.manifest) == nil || module == "" {
		return inventory.ID{}
	}
	name := installable.GeneratedName(installable.DirectPrefix + module)
	return inventory.ID{Kind: "Secret", Namespace: v1beta2.RuntimeNamespace, Name: name}
}

// inherit looks for what a direct installation of the module has kept; found is nil where there is nothing. What was let go of is taken
// over, like the other objects. What the direct installation still has is refused before anything is made anew: the refusal of its
// objects comes too late for that. An account that may not read the Secret finds none.
func (w *scope) inherit(ctx context.Context) (found *unstructured.Unstructured, err error) {
	id := w.generatedBefore()
	if id.Name == "" {
		return nil, nil
	}
	live, err := get(ctx, w.runtime.Cluster(), secretAt(id))
	switch {
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err):
		return nil, nil
	case err != nil:
		return nil, w.clusterProblem(id, err)
	}
	if claim := installable.ClaimedDirectly(live); claim != "" {
		return nil, &runtimes.Problem{
			Reason: v1beta2.ReasonOwnershipConflict, Retry: retryRefused,
			Message: fmt.Sprintf("%s, which has the passwords and keys that the module's chart has generated, belongs to %s", id, claim),
		}
	}
	return live, nil
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
	if owner := ownerOf(live); owner != "" && owner != w.owner() && !store.Empty() {
		return store, w.generatedLost("belongs to " + owner)
	}
	w.generated = &store
	return store, nil
}

// asksForNewValues reports whether the Secret is there without values, which is a user's word.
func (w *scope) asksForNewValues() bool { return w.hasSecret && w.generated.Empty() }

// ownerOf returns the Manifest that has an object. One that let go of it has left its mark, and taken away the label.
func ownerOf(live *unstructured.Unstructured) string {
	if live.GetLabels()[v1beta2.LabelManagedBy] == "" {
		return ""
	}
	return live.GetAnnotations()[v1beta2.AnnotationOwnedBy]
}

// readKept reads the Secret with the values. One without data stands for one that was never there.
func (w *scope) readKept(ctx context.Context) (*unstructured.Unstructured, error) {
	id, kept := w.generatedID()
	own := secretAt(id)
	live, err := get(ctx, w.runtime.Cluster(), own)
	w.hasSecret = err == nil
	switch {
	case err != nil && !apierrors.IsNotFound(err):
		return nil, w.clusterProblem(id, err)
	case w.hasSecret:
		own = live
	case kept && !w.leaves:
		return nil, w.generatedLost("is gone")
	}
	if kept || w.leaves || isOfDirect(id) {
		return own, nil
	}
	inherited, err := w.inherit(ctx)
	switch {
	case err != nil || inherited == nil:
		return own, err
	case w.hasSecret && ownerOf(own) != w.owner():
		return nil, w.generatedLost(fmt.Sprintf("stands beside Secret %s, and only one of them is that of the module which is installed: "+
			"delete the other one", inherited.GetName()))
	case w.hasSecret:
		return own, nil
	}
	w.hasSecret, w.inherits = true, true
	return inherited, nil
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
	uses := slices.ContainsFunc(parts, func(part Part) bool { return len(part.Generated) > 0 })
	if !uses && !slices.ContainsFunc(w.recorded, w.isKept) {
		return parts, nil
	}
	if uses && w.generated == nil {
		return nil, errInvented
	}
	store, err := w.readGenerated(ctx)
	if err != nil {
		return nil, err
	}
	if !uses && !w.hasSecret { // it was planned only
		return parts, nil
	}
	for _, part := range parts {
		store = store.With(part.Source.Name, part.Generated)
	}
	id, _ := w.generatedID()
	secret, err := store.Secret(id.Namespace, id.Name)
	if err != nil {
		return nil, &runtimes.Problem{Reason: content.ReasonContentTooLarge, Message: err.Error()}
	}
	first := Part{Source: v1beta2.ResolvedSource{Name: generatedPart}, Steps: [][]*unstructured.Unstructured{{secret}}}
	return append([]Part{first}, parts...), nil
}
