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
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/generated"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// generatedPart is the part that comes before all others: the Secret with the values that charts have generated. No installation can have
// its name.
const generatedPart = "spec.generated"

// generatedID returns where the cluster keeps the values that the charts of a Manifest generate: where it has kept them so far, else with
// the module, or where the objects of a stand-alone Manifest go. kept reports whether values were applied.
func (w *scope) generatedID() (id inventory.ID, kept bool) {
	const suffix = ".generated"
	id = inventory.ID{Kind: "Secret", Namespace: v1beta2.RuntimeNamespace, Name: w.manifest.Name}
	if limit := 253 - len(suffix); len(id.Name) > limit {
		id.Name = strings.TrimRight(id.Name[:limit], "-.")
	}
	id.Name += suffix
	if KymaOf(w.manifest) == nil {
		id.Namespace = cmp.Or(w.manifest.Spec.TargetNamespace, "default")
	}
	for _, entry := range w.recorded {
		if wasApplied(entry) && entry.GroupKind() == id.GroupKind() && entry.Name == id.Name {
			return entry.ID, true
		}
	}
	return id, false
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
	id, kept := w.generatedID()
	secret := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret"}}
	secret.SetNamespace(id.Namespace)
	secret.SetName(id.Name)
	live, err := get(ctx, w.runtime.Cluster(), secret)
	switch {
	case apierrors.IsNotFound(err) && (w.leaves || !kept):
		live, w.valueless = secret, true
	case apierrors.IsNotFound(err):
		return generated.Store{}, w.generatedLost("is gone")
	case err != nil:
		return generated.Store{}, w.clusterProblem(id, err)
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
