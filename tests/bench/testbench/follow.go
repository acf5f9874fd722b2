package testbench

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// Follower follows every Kyma by one watch, and notes when each came to be as a user waits for it.
type Follower struct {
	informer cache.SharedIndexInformer
	end      context.CancelFunc
	ended    chan struct{}

	mutex sync.Mutex
	waits map[*Wait]struct{}
}

// Wait is for some Kymas to become what a condition says.
type Wait struct {
	follower  *Follower
	condition func(*v1beta2.Kyma) bool
	done      chan struct{}

	mutex   sync.Mutex
	missing map[string]bool
	at      map[string]time.Time
}

// Ready reports whether the generation that is requested runs.
func Ready(kyma *v1beta2.Kyma) bool {
	return kyma.Status.ObservedGeneration == kyma.Generation && conditions.IsTrue(kyma.Status.Conditions, v1beta2.ConditionReady)
}

// ReadyAt says that one module runs in a version, and all of them are Ready.
func ReadyAt(module, version string) func(*v1beta2.Kyma) bool {
	return func(kyma *v1beta2.Kyma) bool {
		return Ready(kyma) && slices.ContainsFunc(kyma.Status.Modules, func(m v1beta2.ModuleStatus) bool {
			return m.Name == module && m.Version == version && m.State == v1beta2.StateReady
		})
	}
}

func follow(ctx context.Context, c client.WithWatch) (*Follower, error) {
	lists := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			list := &v1beta2.KymaList{}
			return list, c.List(ctx, list, &client.ListOptions{Raw: &o})
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return c.Watch(ctx, &v1beta2.KymaList{}, &client.ListOptions{Raw: &o})
		},
	}
	f := &Follower{
		informer: cache.NewSharedIndexInformer(lists, &v1beta2.Kyma{}, 0, cache.Indexers{}),
		ended:    make(chan struct{}), waits: map[*Wait]struct{}{},
	}
	handler := cache.ResourceEventHandlerFuncs{AddFunc: f.look, UpdateFunc: func(_, o any) { f.look(o) }}
	_, err := f.informer.AddEventHandler(handler)
	if err := errors.Join(err, f.informer.SetTransform(strip)); err != nil {
		return nil, err
	}
	// It outlives what the context bounds, which is the start.
	running, end := context.WithCancel(context.WithoutCancel(ctx))
	f.end = end
	go func() {
		defer close(f.ended)
		f.informer.RunWithContext(running)
	}()
	if !cache.WaitForCacheSync(ctx.Done(), f.informer.HasSynced) {
		f.stop()
		return nil, errors.New("the Kymas of the hub could not be listed")
	}
	return f, nil
}

// strip drops what no one here reads.
func strip(object any) (any, error) {
	if accessor, err := meta.Accessor(object); err == nil {
		accessor.SetManagedFields(nil)
	}
	return object, nil
}

func (f *Follower) stop() {
	f.end()
	<-f.ended
}

// Get returns a Kyma as it was seen last, nil when there is none. It must not be changed.
func (f *Follower) Get(name string) *v1beta2.Kyma {
	object, ok, err := f.informer.GetStore().GetByKey(v1beta2.DefaultNamespace + "/" + name)
	if err != nil || !ok {
		return nil
	}
	kyma, _ := object.(*v1beta2.Kyma)
	return kyma
}

// When begins to wait for Kymas to be as the condition says. Those that are already count as of now.
func (f *Follower) When(names []string, condition func(*v1beta2.Kyma) bool) *Wait {
	w := &Wait{
		follower: f, condition: condition, done: make(chan struct{}),
		missing: make(map[string]bool, len(names)), at: make(map[string]time.Time, len(names)),
	}
	for _, name := range names {
		w.missing[name] = true
	}
	f.mutex.Lock()
	f.waits[w] = struct{}{}
	f.mutex.Unlock()
	for _, name := range names {
		if kyma := f.Get(name); kyma != nil {
			w.look(kyma, time.Now())
		}
	}
	return w
}

// look hands a Kyma to the one who waits.
func (f *Follower) look(object any) {
	kyma, ok := object.(*v1beta2.Kyma)
	if !ok {
		return
	}
	now := time.Now()
	f.mutex.Lock()
	waits := slices.Collect(maps.Keys(f.waits))
	f.mutex.Unlock()
	for _, w := range waits {
		w.look(kyma, now)
	}
}

func (w *Wait) look(kyma *v1beta2.Kyma, now time.Time) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if !w.missing[kyma.Name] || !w.condition(kyma) {
		return
	}
	delete(w.missing, kyma.Name)
	w.at[kyma.Name] = now
	if len(w.missing) == 0 {
		close(w.done)
	}
}

// Done returns when each Kyma came to be so, once all did. The context bounds the waiting; the error names some that are missing.
func (w *Wait) Done(ctx context.Context) (map[string]time.Time, error) {
	defer w.Forget()
	if w.Missing() == 0 {
		return w.At(), nil
	}
	select {
	case <-w.done:
		return w.At(), nil
	case <-ctx.Done():
		return w.At(), fmt.Errorf("%d Kymas are still waited for: %w\n%s", w.Missing(), ctx.Err(), w.some())
	}
}

// Forget ends the waiting.
func (w *Wait) Forget() {
	w.follower.mutex.Lock()
	defer w.follower.mutex.Unlock()
	delete(w.follower.waits, w)
}

// Missing returns how many are waited for.
func (w *Wait) Missing() int {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return len(w.missing)
}

// At returns when each Kyma came to be so, of those that did.
func (w *Wait) At() map[string]time.Time {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return maps.Clone(w.at)
}

// some returns how a few of the missing Kymas stand.
func (w *Wait) some() string {
	w.mutex.Lock()
	names := slices.Sorted(maps.Keys(w.missing))
	w.mutex.Unlock()
	var out strings.Builder
	for _, name := range names[:min(3, len(names))] {
		kyma := w.follower.Get(name)
		if kyma == nil {
			fmt.Fprintf(&out, "%s: not seen\n", name)
			continue
		}
		fmt.Fprintf(&out, "%s: %s, generation %d of %d\n", name, kyma.Status.State, kyma.Status.ObservedGeneration, kyma.Generation)
		for _, c := range kyma.Status.Conditions {
			fmt.Fprintf(&out, "  %s=%s %s: %s\n", c.Type, c.Status, c.Reason, c.Message)
		}
	}
	return out.String()
}
