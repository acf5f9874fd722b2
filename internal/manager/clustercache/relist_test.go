package clustercache

import (
	"io"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache/wire"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

const (
	secretPath     = "/api/v1/secrets"
	servicePath    = "/api/v1/services"
	deploymentPath = "/apis/apps/v1/deployments"
	accountPath    = "/api/v1/serviceaccounts"
)

// More kinds than streams, one of them never listed; then a stream becomes free, and that kind gets it but cannot open it.
func TestRelist_ListsUnlistedKindBeforeStream(t *testing.T) {
	for _, lists := range []manner{missing, denied, immenseIn} {
		t.Run(string(lists), func(t *testing.T) {
			w := newWorld(configMapPath, secretPath)
			w.put(secretPath, "s", true)
			w.answer(configMapPath, lists, works)
			inWorld(t, w, func(c *Config) { c.MaxStreams = 1 }, func(t *testing.T, b *bench, r *Runtime) {
				a, other := ownerNamed("a"), ownerNamed("other")
				r.Track(a, []runtimes.Interest{{GroupVersionKind: configMaps}})
				r.Track(other, []runtimes.Interest{{GroupVersionKind: secrets}})
				<-time.After(5 * time.Minute)
				r.Untrack(other)
				<-time.After(20 * time.Second)
				if n, _ := w.countCalls(configMapPath); n > 40 {
					t.Errorf("%d lists", n)
				}
				w.put(configMapPath, "m", true)
				w.answer(configMapPath, works, works)
				<-time.After(b.cfg.AuditInterval * 11 / 10)
				if live := r.Live(mapID("m")); live.Presence != inventory.Present {
					t.Errorf("Live = %+v: the audit leaves the kind out", live)
				}
			})
		})
	}
}

// A WATCH that never opens: the kind is listed instead, as long as that lasts, and its owners are enqueued.
func TestRelist_ReportsKindWhoseStreamNeverOpens(t *testing.T) {
	for _, watches := range []manner{gateway, held, brief, outdated, denied, missing, stuck, garbled, broken} {
		t.Run(string(watches), func(t *testing.T) {
			w := newWorld(configMapPath)
			inWorld(t, w, nil, func(t *testing.T, b *bench, r *Runtime) {
				owner := ownerNamed("a")
				b.trackAll(t, r, owner, runtimes.Interest{GroupVersionKind: configMaps})
				<-time.After(10 * time.Second)
				w.answer(configMapPath, works, watches)
				w.end(configMapPath, io.ErrUnexpectedEOF)
				<-time.After(time.Second)
				w.put(configMapPath, "m", true)
				<-time.After(5 * time.Minute)
				if live := r.Live(mapID("m")); live.Presence != inventory.Present {
					t.Errorf("Live = %+v after 5 minutes without a stream", live)
				}
				if _, p := r.Synced(owner); p == nil || !strings.Contains(p.Message, "ConfigMap") {
					t.Errorf("Synced tells %v, want what cannot be watched", p)
				}
				b.woken()
				<-time.After(10 * time.Minute)
				if n := len(b.woken()); n > 0 {
					t.Errorf("woken %d times while nothing changes", n)
				}
				lists, watched := w.countCalls(configMapPath)
				if lists+watched > 100 {
					t.Errorf("%d lists and %d watches in a quarter of an hour", lists, watched)
				}
				w.answer(configMapPath, works, works)
				<-time.After(3 * time.Minute)
				if synced, p := r.Synced(owner); !synced || p != nil {
					t.Errorf("Synced = %v, %v when there is a stream again", synced, p)
				}
				if len(b.woken()) == 0 {
					t.Error("no owner hears that it can be watched again")
				}
			})
		})
	}
}

// A kind that was listed once, and whose lists then fail.
func TestRelist_ReportsKindThatFailsToList(t *testing.T) {
	w := newWorld(configMapPath)
	inWorld(t, w, nil, func(t *testing.T, b *bench, r *Runtime) {
		owner := ownerNamed("a")
		b.trackAll(t, r, owner, runtimes.Interest{GroupVersionKind: configMaps})
		w.answer(configMapPath, broken, outdated)
		w.end(configMapPath, io.EOF)
		<-time.After(3 * time.Minute)
		synced, p := r.Synced(owner)
		if p == nil || p.Reason != v1beta2.ReasonRuntimeUnreachable || !synced {
			t.Errorf("Synced = %v, %v, want what was known, and that it may be old", synced, p)
		}
		w.answer(configMapPath, works, works)
		<-time.After(3 * time.Minute)
		if synced, p := r.Synced(owner); !synced || p != nil {
			t.Errorf("Synced = %v, %v", synced, p)
		}
	})
}

// An event that is too large, or that exceeds the budget while others arrive, still triggers a list.
func TestRelist_RepairsUnreadEvent(t *testing.T) {
	for name, lose := range map[string]func(w *memoryServer, r *Runtime){
		"too heavy": func(w *memoryServer, _ *Runtime) {
			w.lose(configMapPath, `{"type":"ADDED","object":{"metadata":{"name":"m","x":"`+strings.Repeat("x", wire.MaxEvent)+`"}}}`)
		},
		"too many values": func(w *memoryServer, _ *Runtime) {
			w.lose(configMapPath, `{"type":"ADDED","object":{"metadata":{"name":"m"},"x":[`+strings.Repeat("1,", maxAnswer/valueWeight)+`1]}}`)
		},
		"no room beside others": func(w *memoryServer, r *Runtime) { w.crowd(configMapPath, r) },
		"that cannot be read": func(w *memoryServer, _ *Runtime) {
			w.lose(configMapPath, `{"type":"ADDED","object":{"metadata":{"name":7}}}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(configMapPath)
			inWorld(t, w, nil, func(t *testing.T, b *bench, r *Runtime) {
				owner := ownerNamed("a")
				b.trackAll(t, r, owner, runtimes.Interest{GroupVersionKind: configMaps})
				<-time.After(10 * time.Second)
				lose(w, r)
				<-time.After(10 * time.Second)
				if live := r.Live(mapID("m")); live.Presence != inventory.Present {
					t.Errorf("Live = %+v: the lost event is not made up for", live)
				}
				if lists, _ := w.countCalls(configMapPath); lists != 2 {
					t.Errorf("%d lists, want the first one and one more", lists)
				}
			})
		})
	}
}

// lose creates an object whose event in the streams cannot be read.
func (w *memoryServer) lose(path string, event string) {
	w.mu.Lock()
	w.version++
	k := w.realms[path]
	k.objects["m"] = metaOf("m", "uid-m", strconv.FormatUint(w.version, 10), hubNamespace+"/a")
	streams := k.notified()
	w.mu.Unlock()
	for _, s := range streams {
		s.send([]byte(event))
	}
}

// crowd creates an object whose event arrives in two parts, while other events use the whole budget.
func (w *memoryServer) crowd(path string, r *Runtime) {
	r.carried.Add(wire.MaxCarried)
	w.lose(path, `{"type":"ADDED",`)
	r.carried.Add(-wire.MaxCarried)
	w.lose(path, `"object":`+metaOf("m", "uid-m", "150", hubNamespace+"/a")+"}")
}

// The audit finds whatever a stream fails to deliver.
func TestAudit_ListsWatchedKinds(t *testing.T) {
	w := newWorld(configMapPath, secretPath)
	w.answer(configMapPath, works, silent)
	inWorld(t, w, nil, func(t *testing.T, b *bench, r *Runtime) {
		b.trackAll(t, r, ownerNamed("a"), runtimes.Interest{GroupVersionKind: configMaps}, runtimes.Interest{GroupVersionKind: secrets})
		b.woken()
		w.put(configMapPath, "m", true)
		<-time.After(b.cfg.AuditInterval * 11 / 10)
		if live := r.Live(mapID("m")); live.Presence != inventory.Present {
			t.Errorf("Live = %+v after an audit", live)
		}
		if woken := b.woken(); len(woken) != 1 {
			t.Errorf("woke %v, want the owner of what was found", woken)
		}
		const hours = 10
		lists, watches := w.countCalls(secretPath)
		<-time.After(hours * b.cfg.AuditInterval)
		moreLists, moreWatches := w.countCalls(secretPath)
		if n := moreLists - lists; n < hours-2 || n > hours+2 {
			t.Errorf("%d lists in %d audits", n, hours)
		}
		if n := moreWatches - watches; n > hours+2 {
			t.Errorf("%d watches in %d audits", n, hours)
		}
		if woken := b.woken(); len(woken) > 0 {
			t.Errorf("woke %v, and nothing had changed", woken)
		}
		synctest.Wait()
	})
}
