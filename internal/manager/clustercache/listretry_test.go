package clustercache

import (
	"net/http"
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
)

// An API server can be up while one of its kinds is not, for example when the kind's conversion webhook is gone.
func TestUnread_ReportsKindThatFailsToList(t *testing.T) {
	b, stub := newBench(t, nil), newStub(t)
	stub.on(listConfigMap, statusAnswer(http.StatusInternalServerError, "InternalError"))
	r := b.mustGet(t, b.remote(t, "broken", stub.config()))
	owner := ownerNamed("broken")
	r.Track(owner, []runtimes.Interest{{GroupVersionKind: configMaps}})
	b.wantWake(t, owner, "its kind cannot be listed")
	synced, p := r.Synced(owner)
	if synced || p == nil || p.Reason != v1beta2.ReasonRuntimeUnreachable || !strings.Contains(p.Message, "ConfigMap") ||
		!strings.Contains(p.Message, "as told") {
		t.Fatalf("Synced = %v, %+v, want what cannot be read, and why", synced, p)
	}
	if n := b.calls.count(listConfigMap); n < failuresUntilUnread {
		t.Errorf("told after %d lists, want %d: a blip is no one's news", n, failuresUntilUnread)
	}

	stub.on(listConfigMap, jsonAnswer(`{"metadata":{"resourceVersion":"1"},"items":[]}`))
	stub.on(watchMap, newFeed().serve)
	b.wantWake(t, owner, "the kind is known now")
	if synced, p := r.Synced(owner); !synced || p != nil {
		t.Errorf("Synced = %v, %v", synced, p)
	}
}

func TestUnread_KeepsKnownKind(t *testing.T) {
	s := newStreamed(t, metaOf("a", "u", "9", "m"))
	failed := make(chan struct{}, 100)
	s.on(listConfigMap, func(w http.ResponseWriter, req *http.Request) {
		statusAnswer(http.StatusInternalServerError, "InternalError")(w, req)
		failed <- struct{}{}
	})
	s.send(t, event("ERROR", `{"kind":"Status","status":"Failure","reason":"Expired","code":410}`))
	for range failuresUntilUnread + 1 {
		<-failed
	}
	if synced, p := s.r.Synced(s.owner); !synced || p != nil {
		t.Errorf("Synced = %v, %v, want what was known before", synced, p)
	}
}
