package clustercache

import (
	"net/http"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// remove deletes ConfigMap a; the stub accepts the request.
func (s *streamed) remove(t *testing.T, options metav1.DeleteOptions) {
	t.Helper()
	s.on("DELETE /api/v1/namespaces/ns/configmaps/a", func(w http.ResponseWriter, _ *http.Request) {
		jsonAnswer(`{"kind":"Status","apiVersion":"v1","status":"Success"}`)(w, nil)
	})
	o := newObject(configMaps, "ns", "a", s.owner)
	if err := at(t, s.r, s.r.Cluster().Dynamic, o).Delete(t.Context(), "a", options); err != nil {
		t.Fatal(err)
	}
}

func TestPendingDeletes_TerminatingBeforeStreamEvent(t *testing.T) {
	ours, theirs := types.UID("u1"), types.UID("u2")
	for name, c := range map[string]struct {
		options metav1.DeleteOptions
		want    bool
	}{
		"the object that is known":           {options: metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &ours}}, want: true},
		"another one of its name":            {options: metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &theirs}}},
		"whichever has the name":             {options: metav1.DeleteOptions{}},
		"it is only tried what would happen": {options: metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &ours}, DryRun: []string{metav1.DryRunAll}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStreamed(t, metaOf("a", "u1", "90", hubNamespace+"/m"))
			s.remove(t, c.options)
			if live := s.r.Live(mapID("a")); live.Presence != inventory.Present || live.Terminating != c.want {
				t.Errorf("Live = %+v, want Terminating = %v", live, c.want)
			}
		})
	}
}

func TestPendingDeletes_ExpireWithoutStreamEvent(t *testing.T) {
	usual := pendingDeleteTimeout
	t.Cleanup(func() { pendingDeleteTimeout = usual })
	pendingDeleteTimeout = time.Millisecond
	s := newStreamed(t, metaOf("a", "u1", "90", hubNamespace+"/m"))
	uid := types.UID("u1")
	s.remove(t, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	eventually(t, "the event counts as lost", func() bool { return !s.r.Live(mapID("a")).Terminating })
}

func TestPendingDeletes_NotKeptWithoutStream(t *testing.T) {
	s := newStreamed(t, metaOf("a", "u1", "90", hubNamespace+"/m"))
	s.r.mu.Lock()
	s.r.kinds[configMaps.GroupKind()].watched = false
	s.r.mu.Unlock()
	uid := types.UID("u1")
	s.remove(t, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	if live := s.r.Live(mapID("a")); live.Presence != inventory.Present || live.Terminating {
		t.Errorf("Live = %+v: asking again is the quickest way to learn that it is gone", live)
	}
}

func TestPendingDeletes_StayUntilObjectIsGone(t *testing.T) {
	const me = hubNamespace + "/m"
	s := newStreamed(t, metaOf("a", "u1", "90", me))
	uid := types.UID("u1")
	s.remove(t, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	s.send(t, event("MODIFIED", metaOf("a", "u1", "110", me)))
	s.reached(t, "110")
	if live := s.r.Live(mapID("a")); !live.Terminating {
		t.Errorf("Live = %+v, but a change from before the deletion does not take it back", live)
	}
	s.send(t, event("DELETED", metaOf("a", "u1", "120", me)))
	s.wantWake(t, s.owner, "its object is gone")
	s.send(t, event("ADDED", metaOf("a", "u7", "130", me)))
	s.reached(t, "130")
	if live := s.r.Live(mapID("a")); live.Presence != inventory.Present || live.Terminating {
		t.Errorf("Live = %+v of an object that was made anew", live)
	}
}

func TestPendingDeletes_ListOverrides(t *testing.T) {
	for name, version := range map[string]string{"as it was": "90", "changed by a user": "140"} {
		t.Run(name, func(t *testing.T) {
			const me = hubNamespace + "/m"
			s := newStreamed(t, metaOf("a", "u1", "90", me))
			uid := types.UID("u1")
			s.remove(t, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
			s.on(listConfigMap, jsonAnswer(`{"metadata":{"resourceVersion":"150"},"items":[`+metaOf("a", "u1", version, me)+`]}`))
			s.send(t, `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","code":410,"reason":"Expired"}}`)
			s.wantWatch(t, "150")
			if live := s.r.Live(mapID("a")); live.Presence != inventory.Present || live.Terminating {
				t.Errorf("Live = %+v of an object that came back from a backup", live)
			}
		})
	}
}
