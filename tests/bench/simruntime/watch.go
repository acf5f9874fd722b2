package simruntime

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// watcher is one stream. It keeps no events: it is woken, and reads on in the history of its table.
type watcher struct {
	*request
	selection

	table   *table
	version string // of the kind
	partial bool
	seen    uint64 // resourceVersion up to which everything was told
	late    bool   // it begins in a past that is compacted
	woken   chan struct{}
	cut     chan struct{}
	over    bool // its definition has changed or gone
	flush   func() error
}

func (w *watcher) wake() {
	select {
	case w.woken <- struct{}{}:
	default:
	}
}

// shortest is how long a stream lives at least when it does not say; API servers give it up to twice that.
const shortest = 30 * time.Minute

// watch streams the changes of a resource.
func (q *request) watch() error {
	query := q.URL.Query()
	name := q.name
	s, err := newSelection(q.namespace, query.Get("labelSelector"), query.Get("fieldSelector"))
	if err != nil {
		return err
	}
	if name != "" {
		s.name = name
	}
	w := &watcher{request: q, selection: s, partial: q.partial(), woken: make(chan struct{}, 1)}
	life := shortest + time.Duration(rand.Float64()*float64(shortest))
	if seconds, err := strconv.Atoi(query.Get("timeoutSeconds")); err == nil && seconds > 0 {
		life = time.Duration(seconds) * time.Second
	}
	first, err := w.begin(query.Get("resourceVersion"), query.Get("sendInitialEvents") == "true")
	if err != nil {
		return err
	}
	defer w.end()
	bookmarks := query.Get("allowWatchBookmarks") == "true"
	w.flush = http.NewResponseController(w.out).Flush
	w.out.WriteHeader(http.StatusOK)
	w.Request.Header = nil // the rest of a stream's life needs no more of it
	return w.run(first, life, bookmarks)
}

// beginLocked finds where the stream starts, and registers it. A stream from nowhere is told first what is there.
func (w *watcher) begin(from string, initial bool) ([]event, error) {
	defer w.runtime.lock()()
	t, version, err := w.request.tableLocked()
	if err != nil {
		return nil, err
	}
	var first []event
	w.seen = w.runtime.version
	if from == "" || from == "0" || initial {
		for _, o := range t.sorted() {
			if w.matches(o) {
				first = append(first, event{change: added, object: o, before: labelsOf(nil)})
			}
		}
	} else if w.seen, err = strconv.ParseUint(from, 10, 64); err != nil {
		return nil, apierrors.NewBadRequest("resourceVersion: " + err.Error())
	}
	w.table, w.version, w.cut, w.late = t, version, w.runtime.cutting, w.seen < t.compacted
	t.watchers[w] = struct{}{}
	w.runtime.counter.watches.Add(1)
	return first, nil
}

func (w *watcher) end() {
	w.runtime.counter.watches.Add(-1)
	defer w.runtime.lock()()
	delete(w.table.watchers, w)
}

// run tells events until the stream's time has ended. Every error of writing is the end as well, and no one is left to be told.
func (w *watcher) run(first []event, life time.Duration, bookmarks bool) error {
	over := time.NewTimer(life)
	defer over.Stop()
	var marks <-chan time.Time
	if bookmarks {
		ticker := time.NewTicker(w.runtime.fleet.options.Bookmarks)
		defer ticker.Stop()
		marks = ticker.C
	}
	// What happened since is told before the first bookmark.
	ok := w.write(first) && w.initialEnd() && w.flush() == nil && w.catchUp()
	for ok {
		select {
		case <-w.woken:
			ok = w.catchUp()
		case <-marks:
			ok = w.mark("") && w.flush() == nil
		case <-over.C:
			return nil
		case <-w.cut:
			return nil
		case <-w.runtime.scream:
			return nil
		case <-w.Context().Done():
			return nil
		}
	}
	return nil
}

// catchUp tells what happened since; a past that is forgotten ends the stream.
func (w *watcher) catchUp() bool {
	unlock := w.runtime.lock()
	events, ok := w.table.since(w.seen)
	now := w.runtime.version
	over := w.over
	unlock()
	if !ok || w.late {
		expired := apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d", w.seen)).ErrStatus
		expired.Kind, expired.APIVersion = "Status", "v1"
		text, _ := json.Marshal(&expired) //nolint:errchkjson // texts and numbers
		w.event("ERROR", text)
		_ = w.flush()
		return false
	}
	ok = w.write(events)
	w.seen = max(w.seen, now)
	return ok && (len(events) == 0 || w.flush() == nil) && !over
}

// write tells those events that the stream's selectors concern.
func (w *watcher) write(events []event) bool {
	for _, e := range events {
		name, concerns := w.as(e)
		if concerns && !w.event(name, e.object.in(w.table.kind, w.version, w.partial)...) {
			return false
		}
	}
	return true
}

// as returns what an event means for the stream: an object that begins or ceases to match comes and goes.
func (w *watcher) as(e event) (name string, concerns bool) {
	if !w.at(e.object) {
		return "", false
	}
	is, was := w.carries(e.object.labels), e.change != added && w.carries(e.before)
	switch {
	case e.change == deleted:
		return changeNames[deleted], was
	case is && was:
		return changeNames[modified], true
	case is:
		return changeNames[added], true
	}
	return changeNames[deleted], was
}

func (w *watcher) event(name string, pieces ...[]byte) bool {
	w.runtime.counter.events.Add(1)
	_, err := w.out.Write([]byte(`{"type":"` + name + `","object":`))
	for _, piece := range pieces {
		if err == nil {
			_, err = w.out.Write(piece)
		}
	}
	if err == nil {
		_, err = w.out.Write([]byte("}\n"))
	}
	return err == nil
}

// initialEnd marks the end of what was there, for clients that list by watching.
func (w *watcher) initialEnd() bool {
	if w.URL.Query().Get("sendInitialEvents") != "true" {
		return true
	}
	return w.mark(`,"annotations":{"k8s.io/initial-events-end":"true"}`)
}

// mark tells how far the stream has come.
func (w *watcher) mark(more string) bool {
	gv, kind := w.table.kind.gvk(w.version).GroupVersion().String(), w.table.kind.name
	if w.partial {
		gv, kind = "meta.k8s.io/v1", "PartialObjectMetadata"
	}
	return w.event("BOOKMARK", fmt.Appendf(nil, `{"kind":%q,"apiVersion":%q,"metadata":{"resourceVersion":"%d","creationTimestamp":null%s}}`,
		kind, gv, w.seen, more))
}
