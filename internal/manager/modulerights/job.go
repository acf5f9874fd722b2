package modulerights

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kyma-project/lifecycle-manager/internal/manager/priority"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/permissions"
)

// pauses are the times between two tries.
type pauses struct {
	// pending is the pause while a content is being fetched; shortest and longest limit the back-off after a failure.
	pending, shortest, longest time.Duration
	// recall is how long a failure lasts before all who wait are asked whether they still do.
	recall time.Duration
}

var standardPauses = pauses{pending: 500 * time.Millisecond, shortest: 2 * time.Second, longest: 45 * time.Second, recall: time.Hour}

// job finds out about one step. It lasts until all of that is known, or until no Kyma asks any more.
type job struct {
	asked   pair
	waiting map[types.NamespacedName]struct{}
	// told is what those who ask are told meanwhile.
	told module.Change
}

// run makes a job. A failure is tried again for all who wait; they are woken when they can be told something else.
func (r *Rights) run(key changeKey, its *job) {
	pause, lasted := r.pauses.shortest, time.Duration(0)
	for {
		change, err := r.findOut(its)
		switch {
		case r.ctx.Err() != nil:
			return
		case err == nil:
			r.succeed(key, its, change)
			return
		case errors.Is(err, ErrPending):
			r.sleep(r.pauses.pending)
			continue
		}
		recalls := lasted >= r.pauses.recall
		if r.fail(its, change, err, recalls); recalls {
			lasted = 0
		}
		r.sleep(pause)
		lasted += pause
		pause = min(2*pause, r.pauses.longest)
		if r.abandoned(key, its) {
			return
		}
	}
}

// findOut returns what is known of a step. An error other than ErrPending comes with what can be told nevertheless.
func (r *Rights) findOut(its *job) (module.Change, error) {
	r.mu.Lock()
	asked := its.asked
	r.mu.Unlock()
	after, err := r.report(&asked.to)
	if err != nil {
		return module.Change{Problem: content.ReasonOf(err)}, err
	}
	if asked.from.manifest == nil {
		return changeOf(&permissions.Report{}, after), nil
	}
	before, err := r.report(&asked.from)
	if err != nil {
		change := changeOf(&permissions.Report{}, after)
		change.FromProblem = content.ReasonOf(err)
		return change, err
	}
	return changeOf(before, after), nil
}

// report returns what a content may do. Of several who ask at once one renders it.
func (r *Rights) report(asked *ask) (*permissions.Report, error) {
	if known, ok := r.reports.Get(asked.key); ok {
		report, _ := known.(*permissions.Report)
		return report, nil
	}
	found, err, _ := r.rendering.Do(fmt.Sprintf("%q", asked.key), func() (any, error) {
		report, err := r.render(asked)
		if err == nil {
			r.reports.Add(asked.key, report)
		}
		return report, err
	})
	report, _ := found.(*permissions.Report)
	return report, err
}

// render renders a content and analyses it.
func (r *Rights) render(asked *ask) (report *permissions.Report, err error) {
	if asked.invalid != nil {
		return nil, asked.invalid
	}
	select {
	case r.room <- struct{}{}:
	case <-r.ctx.Done():
		return nil, r.ctx.Err()
	}
	defer func() { <-r.room }()
	defer func() {
		if problem := recover(); problem != nil { // the content is untrusted
			err = &content.Error{Reason: content.ReasonContentInvalid, Err: fmt.Errorf("it cannot be analysed: %v", problem)}
		}
	}()
	rendered, err := r.Contents.Content(r.ctx, asked.manifest, asked.known)
	if err != nil {
		return nil, err
	}
	r.Rendered()
	found := permissions.AnalyseContent(rendered)
	return &found, nil
}

func (r *Rights) succeed(key changeKey, its *job, change module.Change) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changes.Add(key, change)
	delete(r.jobs, key)
	r.wakeLocked(its)
}

// fail records what can be told although a content cannot be rendered, and wakes those who wait when that is something else than before, or
// when they are recalled.
func (r *Rights) fail(its *job, change module.Change, err error, recalled bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	same := reflect.DeepEqual(its.told, change)
	if !same {
		key := its.asked.to.key
		r.Log.Info("It cannot be found out what a version asks for", "component", key.component, "version", key.version, "cause", err.Error())
	}
	if its.told = change; !same || recalled {
		r.wakeLocked(its)
	}
}

// abandoned ends a job that no Kyma waits for, and reports whether it did.
func (r *Rights) abandoned(key changeKey, its *job) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(its.waiting) > 0 {
		return false
	}
	delete(r.jobs, key)
	return true
}

// wakeLocked enqueues those who wait, as urgently as they were looked at last.
func (r *Rights) wakeLocked(its *job) {
	requests := make([]reconcile.Request, 0, len(its.waiting))
	for kyma := range its.waiting {
		requests = append(requests, reconcile.Request{NamespacedName: kyma})
	}
	clear(its.waiting)
	if r.queue != nil {
		priority.Add(r.queue, priority.AsBefore, requests...)
	}
}

func (r *Rights) sleep(pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.ctx.Done():
	}
}
