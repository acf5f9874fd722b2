package testkit

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// Watch follows every Kyma and Manifest of the hub, event by event, so that a status that was wrong only for a moment is seen too.
type Watch struct {
	client client.WithWatch
	out    io.Writer
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu         sync.Mutex
	last       map[types.UID]subject
	violations []string
	errors     []sighting
	claims     claims
}

// sighting records that an object turned to state Error.
type sighting struct {
	uid  types.UID
	at   time.Time
	text string
	// missing means that its only reported cause is an object that was still on its way; crossed, that the error was over at once. Such an
	// error is not the manager's.
	missing, crossed bool
}

// crossing is how long an object may be missing that was created together with one that needs it: the manager receives them in separate
// streams, and on a busy machine one of them lags.
const crossing = 2 * time.Second

// next records the further statuses of an object in error, until it is no longer in error.
func (s *sighting) next(now subject, at time.Time) {
	switch {
	case now.state == v1beta2.StateError:
		s.missing = s.missing && now.misses()
	case s.missing && at.Sub(s.at) < crossing:
		s.crossed = true
	}
}

// misses reports whether the object itself or its modules report a missing access Secret or template.
func (s subject) misses() bool {
	ready := conditions.Find(s.conditions, v1beta2.ConditionReady)
	if ready == nil {
		return false
	}
	told := ready.Reason
	if told == v1beta2.ReasonModuleError {
		told = ready.Message
	}
	return strings.Contains(told, v1beta2.ReasonAccessSecretNotFound) || strings.Contains(told, v1beta2.ReasonTemplateNotFound)
}

// follow starts watching until stop; once it returns, no later event is missed.
func follow(ctx context.Context, hub client.WithWatch, out io.Writer) (*Watch, error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	w := &Watch{client: hub, out: out, cancel: cancel, last: map[types.UID]subject{}}
	for _, kind := range []client.ObjectList{&v1beta2.KymaList{}, &v1beta2.ManifestList{}} {
		stream, err := w.open(ctx, kind, "")
		if err != nil {
			w.stop()
			return nil, fmt.Errorf("cannot watch %T: %w", kind, err)
		}
		w.done.Go(func() { w.run(ctx, kind, stream) })
	}
	return w, nil
}

// Violations returns the invariants that were violated so far, as sentences.
func (w *Watch) Violations() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.violate(w.claims.settle()...)
	return append([]string(nil), w.violations...)
}

// Errors describes every time that an object turned to state Error so far, except for errors that were over at once because objects
// crossed.
func (w *Watch) Errors() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return texts(w.errors)
}

// errorsOfOthers begins now: the returned function describes the later errors of objects that did not exist yet.
func (w *Watch) errorsOfOthers() func() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	there, begin := maps.Clone(w.last), len(w.errors)
	return func() []string {
		w.mu.Lock()
		defer w.mu.Unlock()
		return texts(slices.DeleteFunc(slices.Clone(w.errors[begin:]), func(s sighting) bool {
			_, before := there[s.uid]
			return before
		}))
	}
}

func texts(sightings []sighting) (texts []string) {
	for _, s := range sightings {
		if !s.crossed {
			texts = append(texts, s.text)
		}
	}
	return texts
}

// CatchUp waits until everything was seen that existed in the hub when CatchUp was called.
func (w *Watch) CatchUp() error {
	ctx, cancel := background()
	defer cancel()
	var kymas v1beta2.KymaList
	var manifests v1beta2.ManifestList
	if err := w.client.List(ctx, &kymas); err != nil {
		return err
	}
	if err := w.client.List(ctx, &manifests); err != nil {
		return err
	}
	var wanted []client.Object
	for i := range kymas.Items {
		wanted = append(wanted, &kymas.Items[i])
	}
	for i := range manifests.Items {
		wanted = append(wanted, &manifests.Items[i])
	}
	return wait.PollUntilContextCancel(ctx, 5*time.Millisecond, true, func(context.Context) (bool, error) {
		for _, object := range wanted {
			if !w.saw(object) {
				return false, nil
			}
		}
		return true, nil
	})
}

func (w *Watch) saw(object client.Object) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last[object.GetUID()].revision >= revisionOf(object)
}

func (w *Watch) open(ctx context.Context, kind client.ObjectList, version string) (watch.Interface, error) {
	// Without a version the stream begins with what exists.
	return w.client.Watch(ctx, kind, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: version}})
}

// run reads a stream and opens the next one at the place where it ended.
func (w *Watch) run(ctx context.Context, kind client.ObjectList, stream watch.Interface) {
	version := ""
	for {
		for event := range stream.ResultChan() {
			object, ok := event.Object.(client.Object)
			if !ok || event.Type == watch.Error { // the version is too old: begin with what exists
				version = ""
				w.skip()
				break
			}
			version = object.GetResourceVersion()
			w.record(object)
		}
		stream.Stop()
		var err error
		for stream, err = w.open(ctx, kind, version); err != nil; stream, err = w.open(ctx, kind, version) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	}
}

func (w *Watch) record(object client.Object) {
	now, err := subjectOf(object)
	if err != nil {
		return // neither a Kyma nor a Manifest
	}
	now.revision = revisionOf(object)
	name := fmt.Sprintf("%s %s %s", time.Now().Format("15:04:05.000"), kindOf(object), client.ObjectKeyFromObject(object))
	w.mu.Lock()
	defer w.mu.Unlock()
	before, known := w.last[object.GetUID()]
	if known && now.revision <= before.revision {
		return // a stream that started again
	}
	kept := now
	kept.kyma, kept.manifest = nil, historyOf(now.manifest) // thousands of them are followed
	w.last[object.GetUID()] = kept
	if now.kyma == nil {
		w.claims.heard(client.ObjectKeyFromObject(object).String(), now, !known)
		w.violate(w.claims.settle()...)
	}
	for _, violation := range violations(before, now) {
		w.violate(name + ": " + violation)
	}
	if known && now.says(before) {
		w.judge(name, before, now)
	}
	switch uid := object.GetUID(); {
	case now.state == v1beta2.StateError && before.state != v1beta2.StateError:
		w.errors = append(w.errors, sighting{uid: uid, at: time.Now(), text: fmt.Sprintf("%s: %s", name, now), missing: now.misses()})
	case before.state == v1beta2.StateError:
		for i := range slices.Backward(w.errors) {
			if w.errors[i].uid == uid {
				w.errors[i].next(now, time.Now())
				break
			}
		}
	}
}

// judge compares a status that was just written with the current state. A status from before proves nothing: the state that it describes
// may have changed since.
func (w *Watch) judge(name string, before, now subject) {
	if now.observed <= 0 {
		return // upstream's, or of an object that was not looked at
	}
	for _, overclaim := range overclaims(now) {
		w.violate(name + ": " + overclaim)
	}
	w.claims.made(name, before, now)
}

// violate records violations and prints them among the events of the spec at fault.
func (w *Watch) violate(all ...string) {
	for _, violation := range all {
		w.violations = append(w.violations, violation)
		_, _ = fmt.Fprintf(w.out, "VIOLATION %s\n", violation)
	}
}

// skip records that events were missed: a condition may have changed to and fro since.
func (w *Watch) skip() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.claims.blind = true
	for uid, seen := range w.last {
		seen.conditions = nil
		w.last[uid] = seen
	}
}

func (w *Watch) stop() {
	w.cancel()
	w.done.Wait()
}

func revisionOf(object client.Object) uint64 {
	revision, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
	if err != nil {
		panic(fmt.Sprintf("an API server numbers %T with %q", object, object.GetResourceVersion()))
	}
	return revision
}

func kindOf(object client.Object) string {
	if _, ok := object.(*v1beta2.Kyma); ok {
		return "Kyma"
	}
	return "Manifest"
}
