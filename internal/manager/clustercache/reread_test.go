package clustercache

import (
	"testing"

	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/health"
)

// A definition or a namespace that we created, and that became ready before a list showed it: no event reports that any more, so the list
// must.
func TestRereadHealth_DetectsReadyBeforeList(t *testing.T) {
	s := &streamed{stub: newStub(t), feed: newFeed(), owner: ownerNamed("m")}
	s.bench = newBench(t, func(c *Config) { c.OwnerKey = "owner" })
	s.on("GET /api/v1/namespaces", jsonAnswer(`{"metadata":{"resourceVersion":"100"},"items":[]}`))
	s.on("WATCH /api/v1/namespaces", s.feed.serve)
	s.r = s.mustGet(t, s.remote(t, "stub", s.config()))
	s.trackAll(t, s.r, s.owner, runtimes.Interest{GroupVersionKind: namespaces})
	s.wantWatch(t, "100")

	made := newObject(namespaces, "", "made", s.owner)
	made.SetUID("u")
	made.SetResourceVersion("200")
	made.SetAnnotations(map[string]string{"owner": s.owner.String()})
	s.r.observeWrite(labelled(made))
	if result, _ := s.r.Health(idOf(made)); result.Status != health.InProgress {
		t.Fatalf("Health = %v, want in progress", result)
	}
	const meta = `"metadata":{"name":"made","uid":"u","resourceVersion":"250","annotations":{"owner":"kcp-system/m"}}`
	s.on("GET /api/v1/namespaces", jsonAnswer(`{"metadata":{"resourceVersion":"300"},"items":[{`+meta+`}]}`))
	s.on("GET /api/v1/namespaces/made", jsonAnswer(`{"apiVersion":"v1","kind":"Namespace",`+meta+`,"status":{"phase":"Active"}}`))
	s.woken()
	s.r.Track(ownerNamed("copies"), []runtimes.Interest{{GroupVersionKind: namespaces, Mode: runtimes.Copy}}) // the kind is listed again for that
	s.wantWatch(t, "300")
	s.wantWake(t, s.owner, "what it waits for is ready")
	if result, _ := s.r.Health(idOf(made)); result.Status != health.Ready {
		t.Errorf("Health = %v, want ready", result)
	}
}
