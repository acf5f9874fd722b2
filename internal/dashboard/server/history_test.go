package server

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/history"
	"github.com/kyma-project/lifecycle-manager/internal/dashboard/operations"
)

// TestHistory_MergesWhatIsKnown: an operation with old and new values, edits by client, revisions, conditions and events, newest first.
func TestHistory_MergesWhatIsKnown(t *testing.T) {
	s := open(t, ModeLocal, acting(t, "storied"))
	s.createAll("storied")
	manifest := s.manifest("storied", "good", "beacon")
	manifest.Status.Revisions = []v1beta2.Revision{
		{Number: 1, Version: "0.9.0", Digest: someDigest, Outcome: v1beta2.RevisionSucceeded, At: metav1.NewTime(time.Now().Add(-time.Hour))},
		{Number: 2, Version: "1.0.0", Digest: someDigest, At: metav1.NewTime(time.Now().Add(-time.Minute))},
	}
	if err := s.admin.Status().Update(t.Context(), manifest); err != nil {
		t.Fatal(err)
	}
	s.enter()
	deed := `{"kind":"suspend","kyma":"storied/bad"}`
	op := into[operations.Operation](s, s.sends(http.MethodPost, "/api/v1/operations", deed, http.StatusAccepted))
	eventually(t, 20*time.Second, "it is suspended", func() bool {
		return get[operations.Operation](s, "/api/v1/operations/"+op.ID).State == operations.Succeeded
	})
	all := get[historyList](s, "/api/v1/kymas/storied/bad/history?limit=200")
	if !slices.IsSortedFunc(all.Items, func(a, b history.Entry) int { return b.At.Compare(a.At) }) || len(all.Horizon) != 6 || all.Total != len(all.Items) {
		t.Errorf("%+v", all)
	}
	first := func(kind history.Kind) history.Entry {
		t.Helper()
		at := slices.IndexFunc(all.Items, func(e history.Entry) bool { return e.Kind == kind })
		if at < 0 {
			t.Fatalf("there is no %s: %+v", kind, all.Items)
		}
		return all.Items[at]
	}
	done := first(history.Operation)
	written := slices.ContainsFunc(done.Fields, func(f history.Field) bool {
		return strings.Contains(f.Path+f.To, "skip-reconciliation") && f.From == ""
	})
	if done.OperationID != op.ID || done.Who == "" || done.WhoIs != history.User || !written || done.End.IsZero() {
		t.Errorf("the operation: %+v", done)
	}
	if edit := first(history.Edit); edit.WhoIs != history.Client || edit.Who == "kyma-cli" || len(edit.Fields) == 0 {
		t.Errorf("an edit: %+v", edit)
	}
	if condition := first(history.Condition); condition.Module != "greeter" || condition.Reason != v1beta2.ReasonRegistryUnreachable || condition.Who != "" {
		t.Errorf("a condition: %+v", condition)
	}
	if event := first(history.Event); event.Count != 3 || event.State != "Warning" || event.Object != "Kyma storied/bad" {
		t.Errorf("an event: %+v", event)
	}
	module := get[historyList](s, "/api/v1/modules/storied/good/beacon/history?kind=Revision")
	if module.Total != 2 || module.Items[0].Number != 2 || module.Items[0].Fields[0] != (history.Field{Path: "version", From: "0.9.0", To: "1.0.0"}) {
		t.Errorf("the revisions: %+v", module)
	}
}

// TestHistory_IsFilteredAndPaged, and every page is a part of the same list.
func TestHistory_IsFilteredAndPaged(t *testing.T) {
	s := open(t, ModeLocal)
	s.createAll("z-leafed")
	s.enter()
	const path = "/api/v1/kymas/z-leafed/bad/history"
	all := get[historyList](s, path+"?limit=200")
	var parts []history.Entry
	for offset := range all.Total {
		one := get[historyList](s, path+"?limit=1&offset="+string(rune('0'+offset)))
		if one.Total != all.Total || len(one.Items) != 1 {
			t.Fatalf("offset %d: %+v", offset, one)
		}
		parts = append(parts, one.Items...)
	}
	if len(parts) < 3 || len(parts) > 9 || !slices.EqualFunc(parts, all.Items, func(a, b history.Entry) bool { return a.What == b.What && a.At.Equal(b.At) }) {
		t.Errorf("%d parts of %+v", len(parts), all.Items)
	}
	if events := get[historyList](s, path+"?kind=Event"); events.Total != 1 || events.Items[0].Kind != history.Event {
		t.Errorf("%+v", events)
	}
	if both := get[historyList](s, path+"?kind=Event&kind=Condition"); both.Total < 2 {
		t.Errorf("%+v", both)
	}
	if len(all.Who) == 0 {
		t.Fatal("no client wrote the Kyma")
	}
	if mine := get[historyList](s, path+"?who="+escaped(all.Who[0])); mine.Total == 0 || mine.Items[0].Who != all.Who[0] || len(mine.Who) != len(all.Who) {
		t.Errorf("%+v", mine)
	}
	s.sends(http.MethodGet, path+"?when=now", "", http.StatusBadRequest)
	s.sends(http.MethodGet, "/api/v1/kymas/z-leafed/none/history", "", http.StatusNotFound)
	s.sends(http.MethodGet, "/api/v1/modules/z-leafed/bad/none/history", "", http.StatusNotFound)
}

// TestHistory_SaysWhatMayNotBeRead: without events the rest is there, and the others' Kymas are not.
func TestHistory_SaysWhatMayNotBeRead(t *testing.T) {
	s := open(t, ModeCluster)
	s.createAll("veiled")
	s.createAll("unveiled")
	s.enterAs(s.token("veiled-reader", "unveiled"))
	if own := get[historyList](s, "/api/v1/kymas/unveiled/bad/history"); own.Total < 3 {
		t.Errorf("%+v", own)
	}
	if r := s.do(http.MethodGet, "/api/v1/kymas/veiled/bad/history", ""); r.status != http.StatusForbidden {
		t.Errorf("a Kyma of others: %d %s", r.status, r.body)
	}
}
