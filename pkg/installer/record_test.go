package installer

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// recordOf reads the record of the installation "demo".
func (f *fixture) recordOf(inst Installation) *record {
	f.Helper()
	c, err := begin(inst)
	f.must(err)
	f.must(c.load(f.Context()))
	return c.record
}

func TestRecord_ACrashBetweenPlanAndEndLeaksNothing(t *testing.T) {
	f := onServer(t)
	var died atomic.Bool
	ctx, die := context.WithCancel(t.Context())
	f.before = func(request *http.Request) { // the second write of the record never comes
		if request.Method == http.MethodPut && strings.Contains(request.URL.Path, "/secrets/") {
			died.Store(true)
			die()
			panic(http.ErrAbortHandler)
		}
	}
	func() {
		defer func() { _ = recover() }()
		_, _ = Install(ctx, f.installation(configMap("a")))
	}()
	f.before = nil
	if !died.Load() || !f.has("a") {
		t.Fatal("the test did not interfere")
	}
	recorded := f.recordOf(f.installation())
	if len(recorded.entries) != 1 || recorded.entries[0].Hash != "" {
		t.Fatalf("%+v", recorded.entries)
	}
	f.equal("next", actions(f.installs(f.installation(configMap("b")))), []string{"ConfigMap b: Created", "ConfigMap a: Gone"})
}

// Two callers with different content: whatever the order of their calls is, what both wrote is recorded, so that nothing leaks.
func TestRecord_TwoCallersLoseNothing(t *testing.T) {
	f := onServer(t)
	f.installs(f.installation(configMap("base")))
	second := f.installation(configMap("base"), configMap("from-second"))
	var once atomic.Bool
	f.before = func(request *http.Request) { // while the first is writing its object, the second comes and goes
		if request.Method == http.MethodPost && strings.HasSuffix(request.URL.Path, "/configmaps") && once.CompareAndSwap(false, true) {
			report, err := Install(context.Background(), second)
			if err != nil || !report.Ready {
				t.Errorf("the second: %v\n%s", err, pretty(report))
			}
		}
	}
	first, err := Install(t.Context(), f.installation(configMap("base"), configMap("from-first")))
	f.before = nil
	f.reason(first, err, ReasonRecordConflict)
	names := []string{}
	for _, entry := range f.recordOf(second).entries {
		names = append(names, entry.Name)
	}
	f.equal("recorded", names, []string{"base", "from-first", "from-second"})
	f.installs(second)
	if f.has("from-first") || !f.has("from-second") {
		t.Error("the next call did not tidy up")
	}
}

func TestRecord_APlanThatComesTooLateWritesNothing(t *testing.T) {
	f := onServer(t)
	f.installs(f.installation(configMap("base")))
	var once atomic.Bool
	f.before = func(request *http.Request) {
		if request.Method == http.MethodPut && strings.Contains(request.URL.Path, "/secrets/") && once.CompareAndSwap(false, true) {
			if _, err := Install(context.Background(), f.installation(configMap("base"), configMap("quick"))); err != nil {
				t.Error(err)
			}
		}
	}
	report, err := Install(t.Context(), f.installation(configMap("base"), configMap("slow")))
	f.before = nil
	f.reason(report, err, ReasonRecordConflict)
	if f.has("slow") || !f.has("quick") {
		t.Error("an object was written without being recorded")
	}
}

func TestRecord_ALargeRecordHasShards(t *testing.T) {
	f := onServer(t)
	r := f.recordOf(f.installation())
	for i := range inventory.InlineLimit + 500 {
		r.entries = append(r.entries, inventory.Entry{
			ID: inventory.ID{Kind: "ConfigMap", Namespace: f.namespace, Name: fmt.Sprintf("c-%05d", i)}, Version: "v1", UID: "u", Hash: "h",
		})
	}
	f.must(r.save(t.Context()))
	first := f.records()
	if len(first) != 2 {
		t.Fatalf("%q", first)
	}
	shard := &corev1.Secret{}
	f.must(f.other.Get(t.Context(), client.ObjectKey{Namespace: f.namespace, Name: first[1]}, shard))
	if shard.Immutable == nil || !*shard.Immutable || !strings.HasPrefix(shard.Name, "manifest.demo.inventory.") {
		t.Errorf("%s, immutable: %v", shard.Name, shard.Immutable)
	}
	again := f.recordOf(f.installation())
	if len(again.entries) != len(r.entries) || again.changed() {
		t.Errorf("%d entries", len(again.entries))
	}
	again.entries[0].Hash = "other" // inline: the shard stays as it is
	f.must(again.save(t.Context()))
	f.equal("same shard", f.records(), first)
	again.entries[len(again.entries)-1].Hash = "other"
	f.must(again.save(t.Context()))
	if now := f.records(); len(now) != 2 || now[1] == first[1] {
		t.Errorf("%q", now)
	}
	f.must(r.load(t.Context()))
	f.must(r.remove(t.Context()))
	f.equal("removed", f.records(), nil)
}

// The index may have been stored although no response arrived: then it names the new shard.
func TestRecord_ALostResponseLeavesTheRecordReadable(t *testing.T) {
	f := onServer(t)
	r := f.recordOf(f.installation())
	f.must(r.save(t.Context()))
	for i := range inventory.InlineLimit + 1 {
		id := inventory.ID{Kind: "ConfigMap", Namespace: f.namespace, Name: fmt.Sprintf("c-%05d", i)}
		r.entries = append(r.entries, inventory.Entry{ID: id, Version: "v1", UID: "u", Hash: "h"})
	}
	f.loses = func(request *http.Request) bool { return request.Method == http.MethodPut }
	if err := r.save(t.Context()); err == nil {
		t.Fatal("the test did not interfere")
	}
	f.loses = nil
	if again := f.recordOf(f.installation()); len(again.entries) != len(r.entries) {
		t.Errorf("%d entries", len(again.entries))
	}
}

func TestRecord_ARecordThatCannotBeReadStopsEverything(t *testing.T) {
	f := onServer(t)
	r := f.recordOf(f.installation())
	for i := range inventory.InlineLimit + 1 {
		r.entries = append(r.entries, inventory.Entry{ID: inventory.ID{Kind: "ConfigMap", Name: fmt.Sprintf("c-%05d", i)}, Version: "v1"})
	}
	f.must(r.save(t.Context()))
	shard := f.find("v1", "Secret", f.namespace, r.shards[0])
	for name, spoil := range map[string]func(){
		"another format": func() {
			f.edit(f.find("v1", "Secret", f.namespace, r.name), "stringData: {"+indexKey+": '{\"format\": 2}'}")
		},
		"no JSON":    func() { f.edit(f.find("v1", "Secret", f.namespace, r.name), "stringData: {"+indexKey+": 'x'}") },
		"no entries": func() { f.edit(f.find("v1", "Secret", f.namespace, r.name), "stringData: {"+entriesKey+": 'x'}") },
		"no shard":   func() { f.remove(shard) },
	} {
		index := f.find("v1", "Secret", f.namespace, r.name)
		good := index.Object["data"].(map[string]any)
		spoil()
		report, err := Install(t.Context(), f.installation(configMap("a")))
		if f.reason(report, err, ReasonInventoryUnreadable); f.has("a") {
			t.Errorf("%s: something was written", name)
		}
		report, err = Uninstall(t.Context(), f.installation())
		f.reason(report, err, ReasonInventoryUnreadable)
		f.edit(f.find("v1", "Secret", f.namespace, r.name), pretty(map[string]any{"data": good}))
		if f.find("v1", "Secret", f.namespace, shard.GetName()) == nil {
			restored := shard.DeepCopy()
			restored.SetResourceVersion("")
			restored.SetUID("")
			f.must(f.other.Create(t.Context(), restored))
		}
	}
}

func TestRecord_ASecretOfSomebodyElseIsNoRecord(t *testing.T) {
	f := onServer(t)
	theirs := object("{apiVersion: v1, kind: Secret, metadata: {name: manifest.demo}, stringData: {a: b}}")
	theirs.SetNamespace(f.namespace)
	f.must(f.other.Create(t.Context(), theirs))
	report, err := Install(t.Context(), f.installation(configMap("a")))
	f.reason(report, err, ReasonInventoryUnreadable)
	report, err = Uninstall(t.Context(), f.installation())
	f.reason(report, err, ReasonInventoryUnreadable)
	if f.find("v1", "Secret", f.namespace, "manifest.demo") == nil {
		t.Error("it was deleted")
	}
}
