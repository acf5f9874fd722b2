package operations

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// fieldManager is the field manager of the records.
const fieldManager = "kyma-dashboard"

// record records that an operation begins. If that is not possible, the operation is kept in memory, and its message says so.
func (e *Engine) record(ctx context.Context, l *activeOperation) error {
	if e.records == nil {
		l.unrecorded("the dashboard was started without a cluster to record it in")
		return nil
	}
	text, err := e.recordOf(l).encode(e.records.space)
	if err != nil {
		return refuse(WhyInvalid, "%s", err)
	}
	made, err := e.records.create(ctx, text)
	switch {
	case err == nil:
		l.mutex.Lock()
		l.recorded, l.version = true, made.ResourceVersion
		l.mutex.Unlock()
		return nil
	case apierrors.IsForbidden(err), apierrors.IsNotFound(err):
		l.unrecorded(errorText(err))
		return nil
	}
	return fmt.Errorf("record the operation: %w", err)
}

// unrecorded explains in the message what it means that there is no record.
func (l *activeOperation) unrecorded(why string) {
	l.change(func(op *Operation) {
		op.Message = "it is not recorded in the cluster, and ends with this dashboard: " + why
	})
}

// recordOf returns the current record of an operation.
func (e *Engine) recordOf(l *activeOperation) *record {
	op := l.operation()
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return &record{Operation: op, Holder: e.holder, Renewed: e.now().UTC(), Elsewhere: l.elsewhere, Here: l.here, version: l.version}
}

// write brings the record up to date, bound to the version that this server wrote last: errTaken reports that another server holds it.
func (e *Engine) write(ctx context.Context, l *activeOperation) error {
	r := e.recordOf(l)
	if e.records == nil || !l.isRecorded() {
		return nil
	}
	text, err := r.encode(e.records.space)
	if err != nil {
		return err
	}
	made, err := e.records.maps.Update(ctx, text, metav1.UpdateOptions{FieldManager: fieldManager})
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return e.reread(ctx, l)
	}
	if err != nil {
		return err
	}
	l.mutex.Lock()
	l.version = made.ResourceVersion
	l.mutex.Unlock()
	return nil
}

// reread checks who wrote the record. One that is still ours, as after a label was set or a response was lost, must be
// written again; one that is gone was deleted by a user, and is not recreated.
func (e *Engine) reread(ctx context.Context, l *activeOperation) error {
	found, err := e.records.get(ctx, l.op.ID)
	if err != nil {
		return err
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	switch {
	case found == nil:
		l.recorded = false
		return nil
	case found.Holder != e.holder:
		return errTaken
	}
	l.version = found.version
	select {
	case l.touched <- struct{}{}:
	default:
	}
	return errAgain
}

// errAgain reports that a record was changed by a client that does not hold it, and must be written again.
var errAgain = errors.New("the record was changed concurrently")

func (l *activeOperation) isRecorded() bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.recorded
}

// forget removes operations that ended long ago, from the cluster and from memory.
func (e *Engine) forget(ctx context.Context) {
	if e.records != nil {
		if err := e.records.forget(ctx, e.now(), e.lapse); err != nil && !apierrors.IsConflict(err) && !errors.Is(err, context.Canceled) {
			e.options.Log.V(1).Info("old operations are not cleaned up", "error", err.Error())
		}
	}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	ended := 0
	for _, l := range newest(e.own) {
		if l.state() == Running {
			continue
		}
		if ended++; ended > kept {
			delete(e.own, l.op.ID)
		}
	}
}
