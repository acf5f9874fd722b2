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
)

// activeOperation is an operation that this server carries out, or did.
type activeOperation struct {
	user string
	// elsewhere is that of the plan.
	elsewhere bool
	// here is that of the plan.
	here []string

	mutex   sync.Mutex
	op      Operation
	objects map[string]int // by their text, where they are in op.Objects
	cancel  context.CancelCauseFunc
	touched chan struct{}
	// done is closed when its end is recorded.
	done chan struct{}
	// recorded reports whether the cluster has a record, version which one.
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
	l.reset(p)
	return l
}

// reset begins again, with the steps of a plan.
func (l *activeOperation) reset(p *plan) {
	l.op.State, l.op.Message, l.op.Finished = Running, "", nil
	l.op.Steps, l.op.Objects, l.objects = []Step{}, []Object{}, map[string]int{}
	for _, s := range p.steps {
		l.op.Steps = append(l.op.Steps, Step{Title: s.title, State: StepWaiting})
	}
}

// operation returns a copy of how it stands.
func (l *activeOperation) operation() Operation {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	op := l.op
	op.Steps, op.Objects = slices.Clone(op.Steps), slices.Clone(op.Objects)
	return op
}

// ended reports whether it has ended, and that its end is recorded.
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

// wroteAfter reports whether this server has written the record since a version of it, which is then an old one of the cache.
func (l *activeOperation) wroteAfter(version string) bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	order, err := resourceversion.CompareResourceVersion(version, l.version)
	return err == nil && order < 0
}

// change changes how it stands, and tells.
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

// reporter is what a step tells of itself with.
type reporter struct {
	live *activeOperation
	step int
	// kyma that the objects belong to; empty where the deed is about one place only.
	kyma string
}

// say is one sentence about the step.
func (r *reporter) say(text string) {
	r.live.change(func(op *Operation) { op.Steps[r.step].Message = text })
}

// object tells how one thing stands. Beyond the bound, what is new is not told: the cluster shows it.
func (r *reporter) object(ref modulestatus.Ref, state, message string) {
	served, _ := schema.ParseGroupVersion(ref.APIVersion) // ours always are one
	kyma := r.kyma
	if ref.Kind == "Kyma" {
		kyma = ""
	}
	r.live.change(func(op *Operation) {
		// Not by version: an object is told of before the cluster knows which version of its kind it serves, and after.
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
