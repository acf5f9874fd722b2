package clustercache

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

const (
	configMapPath = "/api/v1/configmaps"
	listConfigMap = "GET " + configMapPath
	watchMap      = "WATCH " + configMapPath
)

// streamed is a runtime of a stub with one watched kind.
type streamed struct {
	*bench
	*stub
	feed  *feed
	r     *Runtime
	owner types.NamespacedName
}

func newStreamed(t *testing.T, items string) *streamed {
	t.Helper()
	return newStreamedAs(t, items, runtimes.Interest{GroupVersionKind: configMaps})
}

func newStreamedAs(t *testing.T, items string, interest runtimes.Interest) *streamed {
	t.Helper()
	s := &streamed{stub: newStub(t), feed: newFeed(), owner: ownerNamed("m")}
	s.bench = newBench(t, func(c *Config) { c.OwnerKey = "owner" })
	s.on(listConfigMap, jsonAnswer(`{"metadata":{"resourceVersion":"100"},"items":[`+items+`]}`))
	s.on(watchMap, s.feed.serve)
	s.r = s.mustGet(t, s.remote(t, "stub", s.config()))
	s.trackAll(t, s.r, s.owner, interest)
	s.wantWatch(t, "100")
	return s
}

func (s *streamed) wantWatch(t *testing.T, from string) {
	t.Helper()
	select {
	case got := <-s.feed.asked:
		if got != from {
			t.Fatalf("watched from %q, want %q", got, from)
		}
	case <-time.After(10 * time.Second):
		t.Fatalf("no watch from %q", from)
	}
}

func (s *streamed) send(t *testing.T, event string) {
	t.Helper()
	select {
	case s.feed.events <- event:
	case <-time.After(10 * time.Second):
		t.Fatal("no one reads the stream")
	}
}

func mapID(name string) inventory.ID {
	return inventory.ID{Kind: "ConfigMap", Namespace: "ns", Name: name}
}

// reached waits until the stream has reached a resource version.
func (s *streamed) reached(t *testing.T, resourceVersion string) {
	t.Helper()
	eventually(t, "the stream reaches "+resourceVersion, func() bool {
		s.r.mu.RLock()
		defer s.r.mu.RUnlock()
		return s.r.kinds[configMaps.GroupKind()].resume == resourceVersion
	})
}

// notHeldBack checks that the stream's last event was not taken for our own write, independent of timing.
func (s *streamed) notHeldBack(t *testing.T, resourceVersion, why string) {
	t.Helper()
	s.reached(t, resourceVersion)
	s.r.mu.RLock()
	defer s.r.mu.RUnlock()
	if len(s.r.echoes) > 0 {
		t.Errorf("held back: %s", why)
	}
}

func TestStream_ResumesAtLastVersion(t *testing.T) {
	const me = hubNamespace + "/m"
	s := newStreamed(t, metaOf("a", "u1", "90", me))
	s.send(t, event("BOOKMARK", `{"metadata":{"resourceVersion":"120"}}`))
	s.reached(t, "120")
	s.send(t, "") // the server ends the stream politely
	s.wantWatch(t, "120")
	s.send(t, event("ADDED", metaOf("b", "u2", "130", me)))
	s.wantWake(t, s.owner, "an object appeared")
	s.send(t, event("MODIFIED", metaOf("b", "u2", "140", me)))
	s.reached(t, "140")
	s.wantQuiet(t, "only the resource version moved")
	s.r.conn.closeSockets() // the network ends it
	s.wantWatch(t, "140")
	if n := s.calls.count(listConfigMap); n != 1 {
		t.Errorf("%d lists, want one", n)
	}
}

func TestStream_ExpiredListsAgainAndReportsDifference(t *testing.T) {
	const me, gone = hubNamespace + "/m", `{"kind":"Status","status":"Failure","reason":"Expired","code":410,"message":"too old"}`
	cases := []struct {
		name   string
		expire func(s *streamed)
	}{
		{"by an event", func(s *streamed) { s.send(t, event("ERROR", gone)) }},
		{"by the answer to the next watch", func(s *streamed) {
			first := true
			s.on(watchMap, func(w http.ResponseWriter, req *http.Request) {
				if !first {
					s.feed.serve(w, req)
					return
				}
				first = false
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusGone)
				_, _ = io.WriteString(w, gone)
			})
			s.send(t, "")
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := newStreamed(t, metaOf("kept", "u1", "90", me)+","+metaOf("deleted", "u2", "90", me)+","+metaOf("replaced", "u3", "90", me))
			s.wantQuiet(t, "it is known")
			s.on(listConfigMap, jsonAnswer(`{"metadata":{"resourceVersion":"200"},"items":[`+
				metaOf("kept", "u1", "90", me)+","+metaOf("replaced", "u4", "150", me)+`]}`))
			c.expire(s)
			s.wantWake(t, s.owner, "something happened meanwhile")
			s.wantWatch(t, "200")
			for name, want := range map[string]inventory.Live{
				"kept":     {Presence: inventory.Present, UID: "u1", Owner: me},
				"replaced": {Presence: inventory.Present, UID: "u4", Owner: me},
				"deleted":  {Presence: inventory.Absent},
			} {
				if got := s.r.Live(mapID(name)); got != want {
					t.Errorf("%s: %+v, want %+v", name, got, want)
				}
			}
		})
	}
}

func TestStream_IgnoresStaleEvents(t *testing.T) {
	const me = hubNamespace + "/m"
	s := newStreamed(t, metaOf("a", "u1", "90", me))
	written := newObject(configMaps, "ns", "a", s.owner)
	written.SetUID("u9")
	written.SetResourceVersion("150")
	written.SetAnnotations(map[string]string{"owner": me})
	s.r.Cluster().Learn(written)
	want := inventory.Live{Presence: inventory.Present, UID: "u9", Owner: me}
	for _, old := range []string{
		event("DELETED", metaOf("a", "u1", "140", me)), event("ADDED", metaOf("a", "u9", "150", me)), event("MODIFIED", metaOf("a", "u1", "120", me)),
	} {
		s.send(t, old)
	}
	s.send(t, event("BOOKMARK", `{"metadata":{"resourceVersion":"160"}}`))
	s.reached(t, "160")
	if got := s.r.Live(mapID("a")); got != want {
		t.Fatalf("Live = %+v, want %+v", got, want)
	}
	s.wantQuiet(t, "we knew all of it")

	s.send(t, event("DELETED", metaOf("a", "u9", "170", me)))
	s.wantWake(t, s.owner, "it is gone")
	s.r.Cluster().Learn(written) // an answer that was long under way
	if got := s.r.Live(mapID("a")); got.Presence != inventory.Absent {
		t.Fatalf("Live = %+v: a late answer brought back what is gone", got)
	}
}

func TestStream_EnqueuesConcernedOwners(t *testing.T) {
	const me, other = hubNamespace + "/m", hubNamespace + "/other"
	s := newStreamed(t, metaOf("a", "u1", "90", me))
	s.send(t, event("MODIFIED", metaOf("a", "u1", "110", hubNamespace+"/stranger")))
	s.wantWake(t, s.owner, "its object was taken over")
	s.send(t, event("ADDED", metaOf("spoof", "u2", "120", "other-namespace/victim")))
	s.send(t, event("ADDED", metaOf("odd", "u3", "130", "no-slash")))
	s.send(t, event("ADDED", metaOf("none", "u4", "140", "")))
	s.reached(t, "140")
	s.wantQuiet(t, "who does not track a runtime is not woken by it, whatever its objects say")

	s.r.Track(ownerNamed("other"), []runtimes.Interest{{GroupVersionKind: configMaps}})
	s.send(t, event("MODIFIED", metaOf("a", "u1", "150", me)))
	s.wantWake(t, s.owner, "it got its object back")
	s.send(t, event("MODIFIED", metaOf("a", "u1", "160", other)))
	woken := map[types.NamespacedName]bool{}
	eventually(t, "both owners are woken", func() bool {
		for _, owner := range s.woken() {
			woken[owner] = true
		}
		return woken[s.owner] && woken[ownerNamed("other")] && len(woken) == 2
	})
}

func TestStream_BacksOffWhenServerEndsStreams(t *testing.T) {
	s := newStreamed(t, "")
	broken := map[string]http.HandlerFunc{
		"politely":          func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) },
		"with an error":     statusAnswer(http.StatusInternalServerError, "InternalError"),
		"as expired":        statusAnswer(http.StatusGone, "Expired"),
		"with nonsense":     jsonAnswer("<html>"),
		"as too many":       statusAnswer(http.StatusTooManyRequests, "TooManyRequests"),
		"with unknown news": jsonAnswer(`{"type":"EXPLODED","object":{}}`),
		"with bad types":    jsonAnswer(`{"type":"ADDED","object":{"metadata":{"name":1}}}`),
	}
	for name, answer := range broken {
		t.Run(name, func(t *testing.T) {
			s.on(watchMap, answer)
			before := len(s.calls.all())
			s.r.conn.closeSockets()
			<-time.After(time.Second)
			if n := len(s.calls.all()) - before; n > 15 {
				t.Errorf("%d calls in a second", n)
			}
		})
	}
	s.on(watchMap, s.feed.serve)
	eventuallyWithin(t, 90*time.Second, "the stream is back", func() bool {
		select {
		case s.feed.events <- event("BOOKMARK", `{"metadata":{"resourceVersion":"300"}}`):
			return true
		default:
			return false
		}
	})
}

func TestStream_ExpiredListsAtOnceDespiteBackoff(t *testing.T) {
	s := newStreamed(t, "")
	s.r.mu.Lock()
	s.r.kinds[configMaps.GroupKind()].streams.failures = 12 // the next pause of a stream would be a minute
	s.r.mu.Unlock()
	lists := s.calls.count(listConfigMap)
	s.send(t, event("ERROR", `{"kind":"Status","status":"Failure","reason":"Expired","code":410}`))
	eventuallyWithin(t, 15*time.Second, "the kind is listed", func() bool { return s.calls.count(listConfigMap) == lists+1 })
}

func TestList_ReadsPages(t *testing.T) {
	b, stub := newBench(t, func(c *Config) { c.OwnerKey = "owner" }), newStub(t)
	stub.on(listConfigMap, func(w http.ResponseWriter, req *http.Request) {
		token := req.URL.Query().Get("continue")
		if req.URL.Query().Get("limit") == "" || req.URL.Query().Get("labelSelector") == "" ||
			!strings.Contains(req.Header.Get("Accept"), "PartialObjectMetadataList") {
			t.Errorf("asked %s with %s", req.URL, req.Header.Get("Accept"))
		}
		next := map[string]string{"": "one", "one": "two", "two": ""}[token]
		_, _ = fmt.Fprintf(w, `{"metadata":{"resourceVersion":"%d","continue":%q},"items":[%s]}`, 100+len(token), next, metaOf("p"+token, "u", "9", ""))
	})
	feed := newFeed()
	stub.on(watchMap, feed.serve)
	r := b.mustGet(t, b.remote(t, "pages", stub.config()))
	b.trackAll(t, r, ownerNamed("pages"), runtimes.Interest{GroupVersionKind: configMaps})
	for _, name := range []string{"p", "pone", "ptwo"} {
		if live := r.Live(mapID(name)); live.Presence != inventory.Present {
			t.Errorf("%s: %+v", name, live)
		}
	}
	if from := <-feed.asked; from != "100" {
		t.Errorf("watched from %s, want the version of the first page", from)
	}
}

func TestList_ReportsForbiddenKind(t *testing.T) {
	b, stub := newBench(t, nil), newStub(t)
	stub.on(listConfigMap, statusAnswer(http.StatusForbidden, "Forbidden"))
	r := b.mustGet(t, b.remote(t, "forbidden", stub.config()))
	owner := ownerNamed("forbidden")
	known := time.Now()
	b.trackAll(t, r, owner, runtimes.Interest{GroupVersionKind: configMaps})
	synced, p := r.Synced(owner)
	if synced || p == nil || !strings.Contains(p.Message, "ConfigMap") {
		t.Fatalf("Synced = %v, %v", synced, p)
	}
	if live := r.Live(mapID("a")); live.Presence != inventory.Unknown {
		t.Fatalf("Live = %+v, want unknown", live)
	}
	<-time.After(time.Second)
	n, most := b.calls.count(listConfigMap), 1+int(time.Since(known)/(1500*time.Millisecond))
	if n > most {
		t.Errorf("%d lists, want %d at most", n, most)
	}
}

func TestList_ReportsKindAllowedAgain(t *testing.T) {
	b, stub := newBench(t, nil), newStub(t)
	stub.on(listConfigMap, statusAnswer(http.StatusForbidden, "Forbidden"))
	r := b.mustGet(t, b.remote(t, "allowed", stub.config()))
	owner := ownerNamed("allowed")
	b.trackAll(t, r, owner, runtimes.Interest{GroupVersionKind: configMaps})
	stub.on(listConfigMap, jsonAnswer(`{"metadata":{"resourceVersion":"1"},"items":[]}`))
	stub.on(watchMap, newFeed().serve)
	r.mu.Lock()
	r.relistKindLocked(r.kinds[configMaps.GroupKind()])
	r.mu.Unlock()
	b.wantWake(t, owner, "the kind is known now")
	if synced, problem := r.Synced(owner); !synced || problem != nil {
		t.Errorf("Synced = %v, %v", synced, problem)
	}
}

func TestResources_ForgetsInvalidDefinition(t *testing.T) {
	s := newStreamed(t, "")
	gvk := widgets("moved.test")
	crd := definitionOf(gvk, s.owner)
	s.r.Cluster().Learn(crd)
	s.on("GET /apis/moved.test/v1alpha1", jsonAnswer(`{"resources":[{"name":"gadgets","kind":"Widget","namespaced":true}]}`))
	s.on("GET /apis/moved.test/v1alpha1/gadgets", jsonAnswer(`{"metadata":{"resourceVersion":"5"},"items":[{"metadata":{"name":"g"}}]}`))
	s.r.Track(s.owner, []runtimes.Interest{{GroupVersionKind: gvk, Mode: runtimes.ModuleCR}})
	eventually(t, "the kind is found where it is now", func() bool {
		objs, _ := s.r.ModuleCRs(gvk.GroupKind())
		return len(objs) == 1
	})
}
