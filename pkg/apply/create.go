package apply

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// Create makes an object that must not exist yet, and never changes one that does. It is a POST. While a kind is warming up, an API
// server holds a POST back for two seconds, so an apply that fits only a missing object is tried first; so it is for a caller whose rights
// may be limited to names. Where the object exists, or an apply is refused that a POST may not be, the POST decides, as for any other kind;
// but where the caller has no right to a POST, the apply does.
func Create(
	ctx context.Context, client dynamic.ResourceInterface, resource Resource, object *unstructured.Unstructured, opts metav1.CreateOptions,
) (*unstructured.Unstructured, error) {
	var refusal error
	if resource.WarmingUp || resource.ByName {
		made, err := applyMissing(ctx, client, object, opts)
		switch Classify(err) {
		case ClassConflict, ClassRefused, ClassForbidden: // an apply is strict, and needs the right to patch
			refusal = err
		default:
			return made, err
		}
	}
	made, err := client.Create(ctx, object, opts)
	if !resource.ByName || !apierrors.IsForbidden(err) {
		return made, err
	}
	if Classify(refusal) == ClassConflict { // a right that is limited to names lets no POST tell that the object exists
		refusal = apierrors.NewAlreadyExists(resource.GroupResource(), object.GetName())
	}
	return nil, refusal
}

// WarmUp is for how long a kind is warming up: two seconds for which an API server holds a POST back, and as long again, because the
// definition is seen some time before or after it is established.
const WarmUp = 4 * time.Second

// noVersion is a resourceVersion that no object has: etcd counts revisions in an int64, one for each write of the whole cluster.
var noVersion = strconv.Itoa(math.MaxInt64)

// applyMissing makes a server-side apply that fits only a missing object. An API server compares the resourceVersion of an apply with that
// of the object, in the transaction that writes it, and where there is no object it compares nothing.
func applyMissing(
	ctx context.Context, client dynamic.ResourceInterface, object *unstructured.Unstructured, opts metav1.CreateOptions,
) (*unstructured.Unstructured, error) {
	missing := declared(object)
	missing.SetResourceVersion(noVersion)
	data, err := json.Marshal(missing)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return client.Patch(ctx, object.GetName(), types.ApplyPatchType, data, metav1.PatchOptions{
		FieldManager: opts.FieldManager, FieldValidation: opts.FieldValidation, DryRun: opts.DryRun,
	})
}
