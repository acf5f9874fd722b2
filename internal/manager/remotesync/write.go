package remotesync

import (
	"context"
	"encoding/json"
	"maps"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
)

// write writes a copy to the runtime and remembers the response. Server-side apply keeps what others added; for a copy that must be removed
// too, by a second call that is made only then.
func (p *pass) write(ctx context.Context, client dynamic.ResourceInterface, one *pendingCopy) {
	if one.live != nil && isDefinition(one.id) {
		if err := p.migrateStorage(ctx, client, one); err != nil {
			p.failed("change", one.id, err)
			return
		}
	}
	answer, err := p.put(ctx, client, one)
	if isKindTerminating(err) {
		p.fail(one.passing("cannot be made while the definition of its kind is being deleted"))
		return
	}
	if err != nil {
		p.failed("apply", one.id, err, one.Object)
		return
	}
	if !one.holds(answer) {
		if answer, err = p.removeExtra(ctx, client, one, answer); err != nil {
			p.failed("reset", one.id, err, one.Object)
			return
		}
	}
	p.wrote()
	p.memory.wroteBack(one.id, one.Hash)
	p.memory.keep(one.id, one.Hash, answer)
}

// isKindTerminating reports whether a kind is closed to creates because its definition is being deleted. The API server has no reason code
// for it.
func isKindTerminating(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "while custom resource definition is terminating")
}

// put creates what does not exist, if it is of one of our kinds, and applies everything else, such as what another client has created
// meanwhile. An apply would create it too, even while the definition of the kind is being deleted: the API server, which waits for the last
// object to go, would wait for minutes.
func (p *pass) put(ctx context.Context, client dynamic.ResourceInterface, one *pendingCopy) (object, error) {
	if one.live != nil || one.id.Group != v1beta2.GroupVersion.Group {
		return p.apply(ctx, client, one)
	}
	resource, err := p.Resource(ctx, one.Object.GroupVersionKind())
	if err != nil {
		return nil, err
	}
	options := metav1.CreateOptions{FieldManager: one.Manager, FieldValidation: metav1.FieldValidationStrict}
	answer, err := apply.Create(ctx, client, resource, one.Object, options)
	if apierrors.IsAlreadyExists(err) {
		return p.apply(ctx, client, one)
	}
	if err != nil {
		return nil, err
	}
	p.learned(answer)
	return answer, nil
}

func (p *pass) apply(ctx context.Context, client dynamic.ResourceInterface, one *pendingCopy) (object, error) {
	force := true
	answer, err := client.Patch(ctx, one.id.Name, types.ApplyPatchType, one.data, metav1.PatchOptions{
		FieldManager: one.Manager, Force: &force, FieldValidation: metav1.FieldValidationStrict,
	})
	if err != nil {
		return nil, err
	}
	p.learned(answer)
	return answer, nil
}

// removeExtra removes what the response to an apply holds beyond the copy, and labels and annotations of an earlier one. What the API
// server then fills in again is its own default, and stays.
func (p *pass) removeExtra(ctx context.Context, client dynamic.ResourceInterface, one *pendingCopy, answer object) (object, error) {
	before, wanted := content(answer), content(one.Object)
	for part := range before {
		if _, ok := wanted[part]; !ok {
			delete(before, part)
		}
	}
	patch := difference(before, wanted)
	if gone := one.stale(answer); len(gone) > 0 {
		patch["metadata"] = gone
	}
	if len(patch) == 0 {
		return answer, nil
	}
	return p.merge(ctx, client, one, answer, patch)
}

// merge sends a merge patch for exactly the object that was read.
func (p *pass) merge(
	ctx context.Context, client dynamic.ResourceInterface, one *pendingCopy, live object, patch map[string]any, subresources ...string,
) (object, error) {
	metadata := map[string]any{"uid": string(live.GetUID()), "resourceVersion": live.GetResourceVersion()}
	if more, ok := patch["metadata"].(map[string]any); ok {
		maps.Copy(metadata, more)
	}
	patch["metadata"] = metadata
	data, err := json.Marshal(patch)
	if err != nil {
		return nil, err
	}
	options := metav1.PatchOptions{FieldManager: one.Manager}
	answer, err := client.Patch(ctx, live.GetName(), types.MergePatchType, data, options, subresources...)
	if err != nil {
		return nil, err
	}
	p.learned(answer)
	return answer, nil
}

// passing returns an error for a problem that passes by itself.
func (one *pendingCopy) passing(message string) *apply.Error {
	return &apply.Error{ID: one.id, Class: apply.ClassConflict, Message: one.id.String() + " " + message}
}
