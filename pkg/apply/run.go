package apply

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// turns bounds how often one object is read again because it changed between two calls. A writer that changes it that often is a competing
// controller; the next pass decides again.
const turns = 5

// run is one call of Apply, Delete, Disown or Diff.
type run struct {
	*Cluster
	Options
	// dry turns every write into a dry run.
	dry bool
	// disowning takes the mark from what would be deleted.
	disowning bool
	// scalers caches the autoscalers of the namespaces that were listed.
	scalers scalers
	// halted is set to the first error that every other object would meet too: a dead cluster costs one dial, not one per object.
	halted atomic.Pointer[Error]
}

// each calls do for 0..n-1, by at most Workers goroutines, and returns when all are done.
func (r *run) each(n int, do func(i int)) {
	workers := r.Workers
	if workers <= 0 {
		workers = DefaultWorkers
	}
	var next atomic.Int64
	var done sync.WaitGroup
	for range min(workers, n) {
		done.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	done.Wait()
}

// skipped returns the outcome of an object that is not tried because no call to the cluster can succeed.
func (r *run) skipped(id inventory.ID) (Outcome, bool) {
	cause := r.halted.Load()
	if cause == nil {
		return Outcome{}, false
	}
	err := &Error{ID: id, Class: cause.Class, RetryAfter: cause.RetryAfter, Message: fmt.Sprintf("%s: not tried after: %s", id, cause.Message)}
	return Outcome{ID: id, Action: Failed, Err: err, Class: cause.Class}, true
}

// client returns where a kind is served, and the client with which an object of it is written.
func (r *run) client(
	ctx context.Context, gvk schema.GroupVersionKind, id inventory.ID,
) (dynamic.ResourceInterface, Resource, error) {
	resource, err := r.Resource(ctx, gvk)
	if err != nil {
		return nil, resource, err
	}
	if !resource.Namespaced {
		return r.Dynamic.Resource(resource.GroupVersionResource), resource, nil
	}
	if id.Namespace == "" {
		return nil, resource,
			&Error{ID: id, Class: ClassRefused, Message: "its kind is namespaced, but it names no namespace; add one to the content"}
	}
	return r.Dynamic.Resource(resource.GroupVersionResource).Namespace(id.Namespace), resource, nil
}

// learned passes on an object that a write returned.
func (r *run) learned(obj *unstructured.Unstructured) {
	if r.Learn != nil && !r.dry {
		r.Learn(obj)
	}
}

// succeeded returns the outcome of an object that a call returned.
func (r *run) succeeded(id inventory.ID, action Action, obj *unstructured.Unstructured) Outcome {
	return Outcome{
		ID: id, Action: action, Object: obj, UID: obj.GetUID(),
		Fields: inventory.FieldsOf(obj, r.Manager),
	}
}

// failed returns the outcome of an object that err prevented from being written or deleted. quotable are the objects whose values err may
// quote, so that the message leaves them out.
func (r *run) failed(id inventory.ID, verb string, err error, quotable ...*unstructured.Unstructured) Outcome {
	told := Explain(verb, id, err, quotable...)
	if hopeless(err) {
		r.halted.CompareAndSwap(nil, told)
	}
	action := Failed
	switch told.Class {
	case ClassRefused, ClassAdmissionDenied, ClassQuotaExceeded, ClassFieldImmutable, ClassOwnershipConflict:
		action = Refused
	default:
	}
	return Outcome{ID: id, Action: action, Err: told, Class: told.Class}
}

// dryRun returns the dry-run option of every write.
func (r *run) dryRun() []string {
	if r.dry {
		return []string{metav1.DryRunAll}
	}
	return nil
}

// contended returns the error for an object that had changed at every attempt.
func contended() *Error {
	return &Error{Class: ClassConflict, Message: "it changed during each of several attempts; another client writes it, too"}
}
