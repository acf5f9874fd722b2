package simruntime

import (
	"context"
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
)

// patience is how long an answer that must come may take: beside other work even a handshake takes its time.
const patience = time.Minute

// ask makes one call within a time.
func ask(client dynamic.Interface, within time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	_, err := client.Resource(spaces).Get(ctx, "default", metav1.GetOptions{})
	return err
}

func TestKnobs_ARuntimeIsAwayAndComesBack(t *testing.T) {
	const shortly = 300 * time.Millisecond // a client tries again after a reset, and a black hole says nothing: neither ends by itself
	away := func(err error) bool { return err != nil && !errors.Is(err, context.DeadlineExceeded) }
	for _, test := range []struct {
		name   string
		down   Down
		within time.Duration
		want   func(error) bool
	}{
		{"no one listens", Refuse, patience, away},
		{"every connection is reset", Reset, shortly, func(err error) bool { return err != nil }},
		{"no one answers", BlackHole, shortly, func(err error) bool { return errors.Is(err, context.DeadlineExceeded) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := start(t, Options{}).Runtime(0)
			client := clientOf(t, r.Config())
			must(t, ask(client, patience))
			r.Set(Knobs{Down: test.down})
			if err := ask(client, test.within); !test.want(err) {
				t.Errorf("%T %v", err, err)
			}
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(r.Server(), "https://"))
			if errors.Is(err, syscall.ECONNREFUSED) != (test.down == Refuse) {
				t.Error(err)
			}
			if err == nil {
				_ = conn.Close()
			}
			r.Set(Knobs{})
			until(t, "an answer", func() bool { return ask(clientOf(t, r.Config()), patience) == nil })
			until(t, "the dials are counted", func() bool { return r.Dials() >= 2 })
		})
	}
}

// Runtimes that share a listener are apart all the same.
func TestKnobs_RuntimesShareAListener(t *testing.T) {
	fleet := start(t, Options{Runtimes: 3, Shared: true})
	for i, r := range fleet.All() {
		client := clientOf(t, r.Config())
		must(t, ask(client, patience))
		made := parsed(t, "{apiVersion: v1, kind: Namespace, metadata: {name: "+r.Name()+"}}")
		_, err := client.Resource(spaces).Create(t.Context(), made, metav1.CreateOptions{})
		must(t, err)
		other := clientOf(t, fleet.Runtime((i+1)%fleet.Len()).Config())
		if _, err := other.Resource(spaces).Get(t.Context(), r.Name(), metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("what %s has is elsewhere, too: %v", r.Name(), err)
		}
	}
	r := fleet.Runtime(1)
	r.Set(Knobs{Down: Refuse})
	if err := ask(clientOf(t, r.Config()), 300*time.Millisecond); err == nil {
		t.Error("it refuses, and answers")
	}
	must(t, ask(clientOf(t, fleet.Runtime(2).Config()), patience))
	r.Set(Knobs{})
	until(t, "an answer", func() bool { return ask(clientOf(t, r.Config()), patience) == nil })
}

func TestKnobs_ARuntimeIsSlowOrRefuses(t *testing.T) {
	r := start(t, Options{}).Runtime(0)
	client := clientOf(t, r.Config())
	r.Set(Knobs{Latency: 50 * time.Millisecond})
	begun := time.Now()
	must(t, ask(client, patience))
	if took := time.Since(begun); took < 50*time.Millisecond {
		t.Error(took)
	}
	r.Set(Knobs{Status: 403})
	if err := ask(client, patience); !apierrors.IsForbidden(err) {
		t.Error(err)
	}
	r.Set(Knobs{RejectNth: 2})
	failed := 0
	for range 4 {
		if err := ask(client, patience); apierrors.IsServiceUnavailable(err) {
			failed++
		} else {
			must(t, err)
		}
	}
	if failed != 2 {
		t.Error(failed)
	}
	r.Set(Knobs{})
	r.RenewToken()
	if err := ask(client, patience); !apierrors.IsUnauthorized(err) {
		t.Error(err)
	}
	must(t, ask(clientOf(t, r.Config()), patience))
	if answers := r.Counts().Answers; answers[401] != 1 || answers[403] != 1 || answers[503] != 2 {
		t.Error(answers)
	}
}

func TestStreamsEndAndThePastIsForgotten(t *testing.T) {
	r := start(t, Options{Bookmarks: 20 * time.Millisecond}).Runtime(0)
	maps := clientOf(t, r.Config()).Resource(configMaps).Namespace("default")
	create := func(name string) {
		must(t, r.Create(configMaps, parsed(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: "+name+", namespace: default}}")))
	}
	list, err := maps.List(t.Context(), metav1.ListOptions{})
	must(t, err)
	create("a")
	watching := func() watch.Interface {
		w, err := maps.Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.GetResourceVersion(), AllowWatchBookmarks: true})
		must(t, err)
		t.Cleanup(w.Stop)
		return w
	}
	w := watching()
	if e := next(t, w); e.Type != watch.Added {
		t.Error("who watches on from the past is told what happened since", e)
	}
	mark := next(t, w)
	if obj, _ := mark.Object.(*unstructured.Unstructured); mark.Type != watch.Bookmark || obj.GetResourceVersion() <= list.GetResourceVersion() {
		t.Error(mark)
	}
	r.CutWatches()
	until(t, "the end of the stream", func() bool {
		select {
		case _, ok := <-w.ResultChan():
			return !ok
		default:
			return false
		}
	})
	r.Compact()
	if e := next(t, watching()); e.Type != watch.Error || !apierrors.IsResourceExpired(apierrors.FromObject(e.Object)) {
		t.Error(e)
	}
	must(t, r.Mutate(configMaps, "default", "a", func(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{"x": "y"}) }))
	must(t, r.Delete(configMaps, "default", "a"))
	if r.Get(configMaps, "default", "a") != nil || len(r.Objects(configMaps)) != 0 || r.Counts().Revisions != 3 {
		t.Error(r.Counts())
	}
}

func TestKnobs_AListIsToldInPages(t *testing.T) {
	r := start(t, Options{}).Runtime(0)
	maps := clientOf(t, r.Config()).Resource(configMaps)
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		must(t, r.Create(configMaps, parsed(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: "+name+", namespace: default}}")))
	}
	var names, token string
	for {
		page, err := maps.List(t.Context(), metav1.ListOptions{Limit: 2, Continue: token})
		must(t, err)
		for i := range page.Items {
			names += page.Items[i].GetName()
		}
		if token = page.GetContinue(); token == "" {
			break
		}
	}
	if names != "abcde" {
		t.Error(names)
	}
	one, err := maps.List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=c"})
	must(t, err)
	if len(one.Items) != 1 {
		t.Error(one)
	}
}
