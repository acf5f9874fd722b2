package clustercache

import (
	"fmt"
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// writing starts a write of ours, whose response the test holds back.
func (s *streamed) writing(t *testing.T) (let func()) {
	t.Helper()
	answer, arrived := make(chan struct{}), make(chan struct{})
	s.on("POST /api/v1/namespaces/ns/configmaps", func(w http.ResponseWriter, _ *http.Request) {
		close(arrived)
		<-answer
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"apiVersion":"v1","kind":"ConfigMap",` + metaOf("ours", "u9", "200", s.owner.String())[1:]))
	})
	done := make(chan struct{})
	go func() {
		defer close(done)
		o := newObject(configMaps, "ns", "ours", s.owner)
		made, err := at(t, s.r, s.r.Cluster().Dynamic, o).Create(t.Context(), o, metav1.CreateOptions{})
		if err != nil {
			t.Error(err)
			return
		}
		s.r.Cluster().Learn(labelled(made))
	}()
	<-arrived
	return func() { close(answer); <-done }
}

func TestSelfWrite_EnqueuesNoOwner(t *testing.T) {
	s := newStreamed(t, "")
	let := s.writing(t)
	s.send(t, event("ADDED", metaOf("ours", "u9", "200", s.owner.String())))
	s.reached(t, "200")
	if live := s.r.Live(mapID("ours")); live.Presence != inventory.Present {
		t.Errorf("Live = %+v, want what the stream showed", live)
	}
	let()
	s.wantQuiet(t, "it was our own write")
}

func TestSelfWrite_PostponesBusyObjectOnce(t *testing.T) {
	s := newStreamed(t, "")
	defer s.writing(t)()
	for n := range 300 {
		s.send(t, event("MODIFIED", metaOf("theirs", fmt.Sprintf("u%d", n), fmt.Sprint(201+n), s.owner.String())))
	}
	s.reached(t, "500")
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	for subject, echo := range s.r.echoes {
		if len(echo.owners) > 1 {
			t.Errorf("%d owners are to be told of %v, which has one", len(echo.owners), subject)
		}
	}
}

func TestSelfWrite_ReportsConcurrentForeignChange(t *testing.T) {
	s := newStreamed(t, "")
	defer s.writing(t)()
	s.send(t, event("ADDED", metaOf("theirs", "u5", "199", s.owner.String())))
	s.wantWake(t, s.owner, "a user made an object of its")
	s.send(t, event("MODIFIED", metaOf("theirs", "u5", "201", hubNamespace+"/other")))
	s.notHeldBack(t, "201", "an object was lost to another user")
	s.wantWake(t, s.owner, "its object was taken over")
}

// An owner that hands an object to another one writes that itself, and learns of it before the stream tells: then no event follows by which
// the other one would find out that the object is its own now.
func TestSelfWrite_EnqueuesTheOwnerThatAnObjectIsHandedTo(t *testing.T) {
	s := newStreamed(t, "")
	heir := ownerNamed("heir")
	s.r.Track(heir, []runtimes.Interest{{GroupVersionKind: configMaps}}) // which is known, for the other owner
	s.send(t, event("ADDED", metaOf("shared", "u1", "200", s.owner.String())))
	s.wantWake(t, s.owner, "it has an object")
	handed := newObject(configMaps, "ns", "shared", heir)
	handed.SetUID("u1")
	handed.SetResourceVersion("201")
	handed.SetAnnotations(map[string]string{"owner": heir.String()})
	s.r.Cluster().Learn(labelled(handed))
	s.wantWake(t, heir, "the object is its own now")
	if live := s.r.Live(mapID("shared")); live.Owner != heir.String() {
		t.Errorf("Live = %+v, want that of the write", live)
	}
	s.send(t, event("MODIFIED", metaOf("shared", "u1", "201", heir.String())))
	s.reached(t, "201")
}

func TestWiden_ListsAgain(t *testing.T) {
	s := newStreamed(t, "")
	asked := make(chan string, 10)
	s.on(listConfigMap, func(w http.ResponseWriter, req *http.Request) {
		asked <- req.URL.Query().Get("labelSelector") + " " + req.Header.Get("Accept")
		jsonAnswer(`{"metadata":{"resourceVersion":"300"},"items":[{"metadata":{"name":"a","namespace":"ns","resourceVersion":"9"},"status":{"state":"Ready"}}]}`)(w, req)
	})
	wide := ownerNamed("wide")
	s.trackAll(t, s.r, wide, runtimes.Interest{GroupVersionKind: configMaps, Mode: runtimes.ModuleCR})
	if got := <-asked; got != " application/json" {
		t.Errorf("listed with %q, want everything in full", got)
	}
	s.wantWatch(t, "300")
	if objs, synced := s.r.ModuleCRs(configMaps.GroupKind()); !synced || len(objs) != 1 || objs[0].State != "Ready" {
		t.Errorf("%+v %v", objs, synced)
	}
	s.r.Untrack(wide)
	s.wantQuiet(t, "nothing changed")
	s.r.Untrack(s.owner)
	if live := s.r.Live(mapID("a")); live.Presence != inventory.Unknown {
		t.Errorf("Live = %+v of a kind that no one tracks", live)
	}
}

func TestH2Conn_ClosesWithoutStreams(t *testing.T) {
	s := newStreamed(t, "")
	trunk := s.r.newestConn()
	s.r.Untrack(s.owner)
	eventually(t, "the stream has ended", func() bool { return s.r.streaming() == 0 })
	trunk.CloseIdle()
	eventually(t, "the connection is closed", func() bool { return s.r.conn.streams.sockets.count() == 0 })
	s.r.Track(s.owner, []runtimes.Interest{{GroupVersionKind: configMaps}})
	s.wantWatch(t, "100")
	if n := s.r.conn.streams.sockets.count(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

func TestDiscovery_IsOneCall(t *testing.T) {
	s := newStreamed(t, "")
	s.on("GET /apis/found.test/v1", jsonAnswer(`{"kind":"APIResourceList","groupVersion":"found.test/v1","resources":[
		{"name":"finds","kind":"Find","namespaced":true,"verbs":["get"]},{"name":"finds/status","kind":"Find","namespaced":true,"verbs":["get"]}]}`))
	for range 3 {
		resource, err := s.r.Cluster().Resource(t.Context(), schema.GroupVersionKind{Group: "found.test", Version: "v1", Kind: "Find"})
		if err != nil || resource.Resource != "finds" || !resource.Namespaced {
			t.Fatalf("%+v, %v", resource, err)
		}
	}
	if n := s.calls.count("GET /apis/found.test/v1"); n != 1 {
		t.Errorf("%d calls", n)
	}
	s.on("GET /apis/broken.test/v1", jsonAnswer(`nonsense`))
	if _, err := s.r.Cluster().Resource(t.Context(), schema.GroupVersionKind{Group: "broken.test", Version: "v1", Kind: "X"}); err == nil {
		t.Error("nonsense was understood")
	}
}
