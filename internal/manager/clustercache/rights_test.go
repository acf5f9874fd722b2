package clustercache

import (
	"net/http"
	"testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// An API server checks rights when a stream is opened, and does not report later changes. A stream lasts for two hours at most
// (docs/operations.md, Runtimes).
func TestWatch_ReportsRevokedRightsOnRenewal(t *testing.T) {
	for name, test := range map[string]struct {
		code           int
		answer, reason string
	}{
		"the kind may not be read any more":  {http.StatusForbidden, "Forbidden", v1beta2.ReasonRuntimeForbidden},
		"the credential is not accepted any": {http.StatusUnauthorized, "Unauthorized", v1beta2.ReasonRuntimeUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStreamed(t, metaOf("a", "u1", "90", hubNamespace+"/m"))
			refuse := statusAnswer(test.code, test.answer)
			for _, call := range []string{watchMap, listConfigMap, "GET /version"} {
				s.on(call, refuse)
			}
			s.wantQuiet(t, "the stream goes on")
			s.send(t, "") // the time that it was requested has ended
			s.wantWake(t, s.owner, "the next one is refused")
			told := func() string {
				if _, p := s.r.Synced(s.owner); p != nil {
					return p.Reason
				}
				if p := s.r.conn.answer(s.owner); p != nil {
					return p.Reason
				}
				return ""
			}
			eventually(t, "it is told", func() bool { return told() == test.reason })
			if live := s.r.Live(mapID("a")); live.Presence != inventory.Present {
				t.Errorf("what is known of the objects is given up: %+v", live)
			}
			s.on("GET /version", jsonAnswer(`{"gitVersion":"v1.36.3"}`))
			s.on(listConfigMap, jsonAnswer(`{"metadata":{"resourceVersion":"200"},"items":[`+metaOf("a", "u1", "90", hubNamespace+"/m")+`]}`))
			s.on(watchMap, s.feed.serve)
			eventually(t, "the rights are back", func() bool { return told() == "" })
		})
	}
}
