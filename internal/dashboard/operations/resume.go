package operations

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Resume carries an operation out again, as the requesting user: it continues where it stopped, since every step may be repeated.
//
//  1. It must have ended without success, or have no live server, and all its inputs must be available.
//  2. The user must be allowed to see it, with permissions that suffice for a plan; those of the user who started it do not count.
//  3. One server resumes it: it takes over the record in the version that it has read.
func (e *Engine) Resume(ctx context.Context, as Actor, id string) (Operation, error) {
	known, err := e.find(ctx, as, id)
	if err != nil {
		return Operation{}, err
	}
	if known.State == Running || known.State == Succeeded {
		return Operation{}, refuse(WhyBusy, "%q is in state %s: there is nothing to resume", known.Title, known.State)
	}
	if err := e.settled(ctx, id); err != nil {
		return Operation{}, err
	}
	if err := as.needs(ctx, &known.Deed, known.Title); err != nil {
		return Operation{}, err
	}
	if lost := known.lost(); lost != "" {
		return Operation{}, refuse(WhyRefused, "%s", lost)
	}
	p, err := e.plan(ctx, as, &known.Deed, true)
	if err != nil {
		return Operation{}, err
	}
	if err := p.check(&known.Deed); err != nil {
		return Operation{}, err
	}
	l := e.newLive(as, known.Deed, p)
	l.op.ID, l.op.Created, l.op.Title, l.op.Changes = known.ID, known.Created, known.Title, known.Changes
	before, err := e.claim(l)
	if err != nil {
		return Operation{}, err
	}
	if err := e.take(ctx, l, before); err != nil {
		e.drop(l, before)
		return Operation{}, err
	}
	e.launch(l, p)
	return e.redactedFor(ctx, as, entry{Operation: l.operation(), elsewhere: p.elsewhere}), nil
}

// settled waits until the end of an operation that this server carried out is recorded, too.
func (e *Engine) settled(ctx context.Context, id string) error {
	l := e.mine(id)
	if l == nil {
		return nil
	}
	select {
	case <-l.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// take makes this server the holder of the record. An operation that was only in its memory stays there if records may not be read.
func (e *Engine) take(ctx context.Context, l, before *activeOperation) error {
	if e.records == nil {
		return e.record(ctx, l)
	}
	found, err := e.records.get(ctx, l.op.ID)
	switch {
	case apierrors.IsForbidden(err) && before != nil && !before.isRecorded():
		l.unrecorded(errorText(err))
		return nil
	case err != nil:
		return err
	case found == nil:
		return e.record(ctx, l)
	case found.State == Succeeded, found.State == Running && !found.lapsed(e.now(), e.lapse):
		return refuse(WhyBusy, "%q was resumed by %s meanwhile", found.Title, found.User)
	}
	l.mutex.Lock()
	l.version = found.version
	l.mutex.Unlock()
	text, err := e.recordOf(l).encode(e.records.space)
	if err != nil {
		return err
	}
	made, err := e.records.maps.Update(ctx, text, metav1.UpdateOptions{FieldManager: fieldManager})
	if apierrors.IsConflict(err) {
		return refuse(WhyBusy, "%q was already resumed", found.Title)
	}
	if err != nil {
		return fmt.Errorf("record who resumes the operation: %w", err)
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.recorded, l.version = true, made.ResourceVersion
	return nil
}

// Cancel ends an operation that this server carries out. Changes made until then stay.
func (e *Engine) Cancel(ctx context.Context, as Actor, id string) (Operation, error) {
	known, err := e.find(ctx, as, id)
	if err != nil {
		return Operation{}, err
	}
	shown := e.redactedFor(ctx, as, known)
	l := e.mine(id)
	switch {
	case known.State != Running:
		return Operation{}, refuse(WhyBusy, "%q is in state %s: there is nothing to cancel", known.Title, known.State)
	case !shown.Access.Cancel:
		return Operation{}, refuse(WhyForbidden, "%s may not cancel what %s started", as.Name, known.User)
	case l == nil:
		return Operation{}, refuse(WhyBusy, "%q is carried out by another dashboard: cancel it there", known.Title)
	}
	l.mutex.Lock()
	cancel := l.cancel
	l.mutex.Unlock()
	if cancel != nil {
		cancel(errCancelled)
	}
	return shown, nil
}

// Forget removes an operation that has ended from the list.
func (e *Engine) Forget(ctx context.Context, as Actor, id string) error {
	known, err := e.find(ctx, as, id)
	if err != nil {
		return err
	}
	allowed, err := as.all(ctx, known.Deed.rights("patch"))
	switch {
	case known.State == Running:
		return refuse(WhyBusy, "%q is under way: cancel it first", known.Title)
	case err != nil:
		return err
	case known.User != as.Name && !allowed:
		return refuse(WhyForbidden, "%s may not take %q, which %s started, off the list", as.Name, known.Title, known.User)
	}
	if err := e.settled(ctx, id); err != nil {
		return err
	}
	if l := e.mine(id); e.records != nil && (l == nil || l.isRecorded()) {
		found, err := e.records.get(ctx, id)
		if err != nil {
			return err
		}
		if found != nil {
			if err := e.records.delete(ctx, found); err != nil {
				return err
			}
		}
	}
	e.mutex.Lock()
	delete(e.own, id)
	e.mutex.Unlock()
	e.notify()
	return nil
}
