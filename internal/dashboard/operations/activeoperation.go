package operations

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
)

// activeOperation is an operation that this server carries out, or did.
type activeOperation struct {
	user string
	// elsewhere is copied from the plan.
	elsewhere bool
	// here is copied from the plan.
	here []string

	mutex   sync.Mutex
	op      Operation
	objects map[string]int // by their text, their index in op.Objects
	cancel  context.CancelCauseFunc
	touched chan struct{}
	// done is closed when its end is recorded.
	done chan struct{}
	// recorded reports whether the cluster has a record, and version is its resource version.
	recorded bool
	version  string
	notify   func()
}

// newLive returns an operation that has not begun.
func (e *Engine) newLive(as Actor, deed Request, p *plan) *activeOperation {
	l := &activeOperation{
		user: as.Name, elsewhere: p.elsewhere, here: p.here,
		touched: make(chan struct{}, 1), done: make(chan struct{}), notify: e.notify,
	}
	l.op = Operation{
		ID: strings.ToLower(rand.Text()), Deed: deed, Title: deed.Title(), User: as.Name, Created: e.now().UTC().Truncate(time.Millisecond),
	}
	l.op.Deed.Kubeconfig = deed.Kubeconfig.withoutText() // only the steps of the plan need it
	l.reset(p)
	return l
}

// reset starts again, with the steps of a plan.
func (l *activeOperation) reset(p *plan) {
	l.op.State, l.op.Message, l.op.Finished = Running, "", nil
	l.op.Steps, l.op.Objects, l.op.Changes, l.objects = []Step{}, []Object{}, nil, map[string]int{}
	for _, s := range p.steps {
		l.op.Steps = append(l.op.Steps, Step{Title: s.title, State: StepWaiting})
	}
}

// operation returns a copy of the current state.
func (l *activeOperation) operation() Operation {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	op := l.op
	op.Steps, op.Objects, op.Changes = slices.Clone(op.Steps), slices.Clone(op.Objects), slices.Clone(op.Changes)
	return op
}

// ended reports whether the operation has ended, and its end is recorded.
func (l *activeOperation) ended() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

func (l *activeOperation) state() State {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.op.State
}

// wroteAfter reports whether this server has written the record after the given version, which is then an outdated one from the cache.
func (l *activeOperation) wroteAfter(version string) bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	order, err := resourceversion.CompareResourceVersion(version, l.version)
	return err == nil && order < 0
}

// change updates the operation, and notifies.
func (l *activeOperation) change(do func(*Operation)) {
	l.mutex.Lock()
	do(&l.op)
	l.mutex.Unlock()
	select {
	case l.touched <- struct{}{}:
	default:
	}
	l.notify()
}

// reporter reports the progress of a step.
type reporter struct {
	live *activeOperation
	step int
	// kyma is the Kyma that the objects belong to; empty if the request is about one place only.
	kyma string
}

// say sets the message of the step.
func (r *reporter) say(text string) {
	r.live.change(func(op *Operation) { op.Steps[r.step].Message = text })
}

// wrote records what a step has changed in an object that users may see. One that is as it was is no change.
func (r *reporter) wrote(changes ...Change) {
	r.live.change(func(op *Operation) {
		for _, c := range changes {
			if c.Change != apply.ChangeUnchanged && len(op.Changes) < mostChanges {
				c.Kyma = r.kyma
				op.Changes = append(op.Changes, c.recorded())
			}
		}
	})
}

// object reports the state of one object. Beyond the bound, new objects are not reported: the cluster shows them.
func (r *reporter) object(ref modulestatus.Ref, state, message string) {
	served, _ := schema.ParseGroupVersion(ref.APIVersion) // ours are always valid
	kyma := r.kyma
	if ref.Kind == "Kyma" {
		kyma = ""
	}
	r.live.change(func(op *Operation) {
		// Not by version: an object is reported before it is known which version of its kind the cluster serves, and after.
		key := kyma + " " + served.Group + " " + ref.String()
		at, known := r.live.objects[key]
		if !known {
			at = len(op.Objects)
			if at >= mostObjects {
				return
			}
			op.Objects = append(op.Objects, Object{Ref: ref, Kyma: kyma})
			r.live.objects[key] = at
		}
		if served.Version != "" {
			op.Objects[at].Ref = ref
		}
		op.Objects[at].State, op.Objects[at].Message = state, message
	})
}
