package clustercache

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/health"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

var keptMaps = runtimes.Interest{GroupVersionKind: configMaps, Keep: true}

// wholeOf returns an object as an API server lists it: without its kind, with managedFields.
func wholeOf(name, resourceVersion, owner, data, status string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q,"namespace":"ns","uid":"u-%s","resourceVersion":%q,"generation":3,"annotations":{"owner":%q},
		"managedFields":[{"manager":"m%s","operation":"Update","fieldsV1":{"f:data":{}}}]},"data":{"key":%q},"status":{"seen":%q}}`,
		name, name, resourceVersion, owner, resourceVersion, data, status)
}

func TestObject_ReturnsWholeKeptObject(t *testing.T) {
	const me = hubNamespace + "/m"
	s := newStreamedAs(t, wholeOf("a", "90", me, "one", "no"), keptMaps)
	want := map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"key": "one"}, "status": map[string]any{"seen": "no"},
		"metadata": map[string]any{"name": "a", "namespace": "ns", "uid": "u-a", "resourceVersion": "90", "generation": int64(3),
			"annotations": map[string]any{"owner": me}},
	}
	wantObject := func(what string) {
		t.Helper()
		full, ok := s.r.Object(mapID("a"))
		if !ok {
			t.Fatalf("%s: no object", what)
		}
		if diff := cmp.Diff(want, full.Object); diff != "" {
			t.Fatalf("%s: %s", what, diff)
		}
		unstructured.RemoveNestedField(full.Object, "metadata") // it is the caller's own
	}
	wantObject("as it was listed")
	wantObject("after a user has changed a copy")
	s.send(t, event("MODIFIED", wholeOf("a", "110", me, "two", "yes")))
	s.wantWake(t, s.owner, "it changed")
	want["data"], want["status"] = map[string]any{"key": "two"}, map[string]any{"seen": "yes"}
	want["metadata"].(map[string]any)["resourceVersion"] = "110"
	wantObject("as the stream told it")

	if full, ok := s.r.Object(mapID("none")); ok || full != nil {
		t.Errorf("%v of what does not exist", full)
	}
	s.send(t, event("DELETED", wholeOf("a", "120", me, "two", "yes")))
	s.wantWake(t, s.owner, "it is gone")
	if full, ok := s.r.Object(mapID("a")); ok {
		t.Errorf("%v of what is gone", full)
	}
	if n := len(s.calls.all()); n != 3 {
		t.Errorf("%d calls, want a probe, a LIST and a WATCH: %q", n, s.calls.all())
	}
}

func TestObject_ReturnsNothingWithoutKeep(t *testing.T) {
	s := newStreamed(t, wholeOf("a", "90", hubNamespace+"/m", "one", "no"))
	for _, id := range []inventory.ID{mapID("a"), {Kind: "Secret", Namespace: "ns", Name: "a"}} {
		if full, ok := s.r.Object(id); ok {
			t.Errorf("%v", full)
		}
	}
	s.r.mu.RLock()
	defer s.r.mu.RUnlock()
	if o := s.r.kinds[configMaps.GroupKind()].objects[placeOf("ns", "a")]; o.body != nil {
		t.Errorf("%q is in memory, and no one asked for it", o.body.rest)
	}
}

func TestKeep_ChangesEnqueueOnlyKeepingOwners(t *testing.T) {
	const me, other = hubNamespace + "/m", hubNamespace + "/other"
	s := newStreamedAs(t, wholeOf("a", "90", me, "one", "no")+","+wholeOf("b", "91", other, "one", "no"), keptMaps)
	second := ownerNamed("other")
	s.r.Track(second, []runtimes.Interest{{GroupVersionKind: configMaps}})
	for i, step := range []struct {
		what   string
		object func(version string) string
		wakes  types.NamespacedName
	}{
		{"the resource version and the managed fields moved", func(v string) string { return wholeOf("a", v, me, "one", "no") }, types.NamespacedName{}},
		{"data changed", func(v string) string { return wholeOf("a", v, me, "two", "no") }, s.owner},
		{"the status changed", func(v string) string { return wholeOf("a", v, me, "two", "yes") }, s.owner},
		{"an object of a user who does not keep the kind changed",
			func(v string) string { return wholeOf("b", v, other, "two", "yes") }, types.NamespacedName{}},
		{"that one is being deleted", func(v string) string {
			return strings.Replace(wholeOf("b", v, other, "two", "yes"), `"generation":3`, `"deletionTimestamp":"2026-01-01T00:00:00Z"`, 1)
		}, second},
	} {
		version := fmt.Sprint(110 + i)
		s.send(t, event("MODIFIED", step.object(version)))
		s.reached(t, version)
		if (step.wakes == types.NamespacedName{}) {
			s.wantQuiet(t, step.what)
			continue
		}
		var woken []types.NamespacedName
		eventually(t, step.what, func() bool { woken = append(woken, s.woken()...); return len(woken) > 0 })
		if !slices.Equal(woken, []types.NamespacedName{step.wakes}) {
			t.Fatalf("%s: woke %v, want %v", step.what, woken, step.wakes)
		}
	}
}

func TestKeep_OwnWriteEnqueuesNoOwner(t *testing.T) {
	me := ownerNamed("m").String()
	s := newStreamedAs(t, wholeOf("ours", "90", me, "one", "no")+","+wholeOf("theirs", "91", me, "one", "no"), keptMaps)
	end := s.r.conn.writes.begin(&http.Request{Method: http.MethodPatch}) //nolint:bodyclose // there is none
	s.send(t, event("MODIFIED", wholeOf("ours", "110", me, "two", "as well")))
	s.reached(t, "110")
	var written map[string]any
	must(t, json.Unmarshal([]byte(wholeOf("ours", "110", me, "two", "as well")), &written))
	answer := labelled(&unstructured.Unstructured{Object: written})
	answer.SetGroupVersionKind(configMaps)
	s.r.Cluster().Learn(answer)
	s.wantQuiet(t, "a value changed, and it was our own write")
	if full, ok := s.r.Object(mapID("ours")); !ok || full.GetResourceVersion() != "110" || answer.GetManagedFields() == nil {
		t.Errorf("%v", full)
	}

	s.send(t, event("MODIFIED", wholeOf("theirs", "120", me, "one", "yes")))
	s.notHeldBack(t, "120", "a user changed a status, which no write of ours touches")
	s.wantWake(t, s.owner, "a user changed a status while we write")
	s.send(t, event("MODIFIED", wholeOf("theirs", "130", me, "three", "yes")))
	s.wantWake(t, s.owner, "a user changed data while we write")
	end(nil)
}

// blocked holds the response of a LIST until the test releases it.
func (s *streamed) blocked(answer string) (asked <-chan struct{}, let func()) {
	arrived, free := make(chan struct{}), make(chan struct{})
	s.on(listConfigMap, func(w http.ResponseWriter, req *http.Request) {
		close(arrived)
		<-free
		jsonAnswer(answer)(w, req)
	})
	return arrived, func() { close(free) }
}

func TestKeep_WidensListedKind(t *testing.T) {
	const me = hubNamespace + "/m"
	s := newStreamed(t, wholeOf("a", "90", me, "one", "no"))
	before := len(s.calls.all())
	asked, let := s.blocked(`{"metadata":{"resourceVersion":"300"},"items":[` + wholeOf("a", "90", me, "one", "no") + `]}`)
	keeper := ownerNamed("keeper")
	s.r.Track(keeper, []runtimes.Interest{keptMaps})
	<-asked
	if live := s.r.Live(mapID("none")); live.Presence != inventory.Absent {
		t.Errorf("Live = %+v while the kind is listed in full, want what was known", live)
	}
	if _, ok := s.r.Object(mapID("a")); ok {
		t.Error("an object that was not read yet")
	}
	let()
	var woken []types.NamespacedName
	eventually(t, "the keeper is told", func() bool { woken = append(woken, s.woken()...); return len(woken) > 0 })
	if !slices.Equal(woken, []types.NamespacedName{keeper}) {
		t.Errorf("woke %v, want the one who asked: nothing has changed for the others", woken)
	}
	if full, ok := s.r.Object(mapID("a")); !ok || full.GetResourceVersion() != "90" {
		t.Errorf("%v, want the object though it did not change since it was listed without its data", full)
	}
	s.wantWatch(t, "300")
	if made := s.calls.all()[before:]; !slices.Equal(made, []string{listConfigMap, watchMap}) {
		t.Errorf("calls %q, want one LIST and one WATCH", made)
	}
	s.r.Track(ownerNamed("third"), []runtimes.Interest{keptMaps})
	s.r.Track(keeper, []runtimes.Interest{{GroupVersionKind: configMaps}})
	s.wantQuiet(t, "the kind is kept already, and stays so")
	if made := len(s.calls.all()) - before; made != 2 {
		t.Errorf("%d calls", made)
	}
}

func TestWiden_ReportsChangesMeanwhile(t *testing.T) {
	const me = hubNamespace + "/m"
	s := newStreamed(t, metaOf("a", "u-a", "90", me)+","+metaOf("gone", "u-gone", "91", me))
	asked, let := s.blocked(`{"metadata":{"resourceVersion":"300"},"items":[` + wholeOf("a", "90", me, "one", "no") + `]}`)
	s.r.Track(ownerNamed("keeper"), []runtimes.Interest{keptMaps})
	<-asked
	let()
	s.wantWake(t, s.owner, "an object went between the two lists")
	if live := s.r.Live(mapID("gone")); live.Presence != inventory.Absent {
		t.Errorf("Live = %+v", live)
	}
}

func TestList_UsesSmallPagesForLargeObjects(t *testing.T) {
	const me = hubNamespace + "/m"
	b, stub := newBench(t, func(c *Config) { c.OwnerKey = "owner" }), newStub(t)
	one := wholeOf("c0", "90", me, strings.Repeat("x", maxBody/pageSize+1), "no")
	stub.on(listConfigMap, func(w http.ResponseWriter, req *http.Request) {
		limit, err := strconv.Atoi(req.URL.Query().Get("limit"))
		must(t, err)
		items := make([]string, 0, limit)
		for i := range limit {
			items = append(items, strings.Replace(one, "c0", fmt.Sprintf("c%d", i), 1))
		}
		jsonAnswer(`{"metadata":{"resourceVersion":"100"},"items":[`+strings.Join(items, ",")+`]}`)(w, req)
	})
	stub.on(watchMap, newFeed().serve)
	r := b.mustGet(t, b.remote(t, "large", stub.config()))
	r.Track(ownerNamed("m"), []runtimes.Interest{{GroupVersionKind: configMaps, Mode: runtimes.Workload}}) // read as a whole, and not kept so
	eventuallyWithin(t, time.Minute, "all is read", func() bool { synced, _ := r.Synced(ownerNamed("m")); return synced })
	if live := r.Live(mapID("c19")); live.Presence != inventory.Present {
		t.Errorf("Live = %+v, want it listed", live)
	}
	if n := b.calls.count(listConfigMap); n < 2 {
		t.Errorf("%d lists, want one that was too large and one that was not", n)
	}
}

func TestWiden_IgnoresLastEventOfNarrowerStream(t *testing.T) {
	const me = hubNamespace + "/m"
	s := newStreamed(t, metaOf("a", "u-a", "90", me))
	asked, let := s.blocked(`{"metadata":{"resourceVersion":"285"},"items":[` + wholeOf("a", "280", me, "one", "no") + `]}`)
	s.r.Track(ownerNamed("keeper"), []runtimes.Interest{keptMaps})
	<-asked
	s.r.mu.RLock()
	k := s.r.kinds[configMaps.GroupKind()]
	s.r.mu.RUnlock()
	must(t, s.r.event(k, &stream{gvk: configMaps}, []byte(event("MODIFIED", metaOf("a", "u-a", "290", me)))))
	let()
	s.wantWatch(t, "285")
	s.send(t, event("MODIFIED", wholeOf("a", "290", me, "two", "no")))
	s.reached(t, "290")
	if full, ok := s.r.Object(mapID("a")); !ok || full.GetResourceVersion() != "290" {
		t.Errorf("%v: the event that the narrower stream told without data was lost", full)
	}
}

func TestWiden_ToWorkloadHasHealthAtOnce(t *testing.T) {
	s := newStreamed(t, metaOf("a", "u-a", "90", hubNamespace+"/m"))
	s.trackAll(t, s.r, ownerNamed("second"), runtimes.Interest{GroupVersionKind: configMaps, Mode: runtimes.Workload})
	if result, kept := s.r.Health(mapID("a")); !kept || result.Status != health.Ready {
		t.Errorf("Health = %v, %v of an object that did not change since it was listed without its status", result, kept)
	}
}

func TestModuleCRs_ReturnsObjectWithKeep(t *testing.T) {
	const nobody = hubNamespace + "/nobody"
	s := newStreamedAs(t, wholeOf("a", "90", nobody, "one", "no"), runtimes.Interest{GroupVersionKind: configMaps, Mode: runtimes.ModuleCR})
	if objs, _ := s.r.ModuleCRs(configMaps.GroupKind()); len(objs) != 1 || objs[0].Object != nil {
		t.Fatalf("%+v, want no object", objs)
	}
	keeper := ownerNamed("keeper")
	s.trackAll(t, s.r, keeper, runtimes.Interest{GroupVersionKind: configMaps, Mode: runtimes.ModuleCR, Keep: true})
	s.wantWatch(t, "100")
	s.woken()
	s.send(t, event("MODIFIED", wholeOf("a", "110", nobody, "one", "yes")))
	var woken []types.NamespacedName
	eventually(t, "the status of a module CR changed", func() bool { woken = append(woken, s.woken()...); return len(woken) > 0 })
	if !slices.Equal(woken, []types.NamespacedName{keeper}) {
		t.Errorf("woke %v, want who keeps the kind: the state, which the other one asked for, is the same", woken)
	}
	objs, synced := s.r.ModuleCRs(configMaps.GroupKind())
	if !synced || len(objs) != 1 || objs[0].Object == nil {
		t.Fatalf("%+v, %v", objs, synced)
	}
	if seen, _, _ := unstructured.NestedString(objs[0].Object.Object, "status", "seen"); seen != "yes" || objs[0].Object.GetManagedFields() != nil {
		t.Errorf("%v", objs[0].Object.Object)
	}
}

func TestKept_SeesAnnotationInEveryMode(t *testing.T) {
	const me = hubNamespace + "/m"
	spared := strings.Replace(metaOf("spared", "u", "90", me), `"owner"`, fmt.Sprintf(`%q:"true","owner"`, apply.AnnotationKeep), 1)
	s := newStreamed(t, spared+","+metaOf("plain", "u", "91", me))
	for name, want := range map[string]bool{"spared": true, "plain": false, "none": false} {
		if got := s.r.Kept(mapID(name)); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if s.r.Kept(inventory.ID{Kind: "Secret", Namespace: "ns", Name: "spared"}) {
		t.Error("of a kind that no one tracks")
	}
}

// TestKeep_OnRealCluster also logs the sizes that the comment of Interest.Keep states.
func TestKeep_OnRealCluster(t *testing.T) {
	cfg := realCluster(t)
	b, foreign := newBench(t, nil), stranger(t, cfg)
	r := b.mustGet(t, b.remote(t, "kept", cfg))
	owner := ownerNamed("kept")
	ns := newNamespace(t, foreign, "kept")
	b.trackAll(t, r, owner, runtimes.Interest{GroupVersionKind: deployments, Mode: runtimes.Workload, Keep: true}, keptMaps)
	eventually(t, "both kinds are watched", func() bool { return r.streaming() == 2 })
	if n := len(b.calls.all()); n != 5 {
		t.Errorf("%d calls, want a probe, and LIST and WATCH per kind", n)
	}
	o := deployment(ns, "manager", owner)
	own(t, r, o)
	for _, replicas := range []int64{2, 3} {
		o = deployment(ns, "manager", owner)
		must(t, unstructured.SetNestedField(o.Object, replicas, "spec", "replicas"))
		applied, err := at(t, r, r.Cluster().Dynamic, o).Apply(t.Context(), "manager", o, metav1.ApplyOptions{FieldManager: v1beta2.FieldManagerModule, Force: true})
		if err != nil {
			t.Fatal(err)
		}
		r.Cluster().Learn(applied)
	}
	b.wantQuiet(t, "all writes were our own")
	_, err := at(t, r, foreign, o).Patch(t.Context(), "manager", types.MergePatchType, []byte(`{"status":{"replicas":7}}`), metav1.PatchOptions{}, "status")
	must(t, err)
	b.wantWake(t, owner, "a user changed the status")
	full, ok := r.Object(idOf(o))
	live, err := at(t, r, foreign, o).Get(t.Context(), "manager", metav1.GetOptions{})
	must(t, err)
	live.SetManagedFields(nil)
	if !ok {
		t.Fatal("no object")
	}
	if diff := cmp.Diff(live.Object, full.Object); diff != "" {
		t.Fatal(diff)
	}
	t.Logf("a Deployment of one container costs %d bytes", len(text(full.Object)))
}

func TestKeep_DefinitionRelistsItsKind(t *testing.T) {
	cfg := realCluster(t)
	b, foreign := newBench(t, func(c *Config) { c.MaxStreams = 2 }), stranger(t, cfg)
	r := b.mustGet(t, b.remote(t, "kept-definition", cfg))
	owner, gvk := ownerNamed("kept-definition"), widgets("kept-definition.test")
	b.trackAll(t, r, owner, runtimes.Interest{GroupVersionKind: definitions, Keep: true}, runtimes.Interest{GroupVersionKind: namespaces, Keep: true},
		runtimes.Interest{GroupVersionKind: gvk, Mode: runtimes.ModuleCR})
	crd := definitionOf(gvk, owner)
	define(t, foreign, crd)
	eventually(t, "the kind is looked for", func() bool { return b.calls.count("GET /apis/kept-definition.test/v1alpha1/widgets") > 0 })
	if result, kept := r.Health(idOf(crd)); !kept || result.Status != health.Ready {
		t.Errorf("Health = %v, %v", result, kept)
	}
	if full, ok := r.Object(idOf(crd)); !ok || full.GetName() != crd.GetName() {
		t.Errorf("%v", full)
	}
	ns := newObject(namespaces, "", fmt.Sprintf("kept-%d", time.Now().UnixNano()), owner)
	_, err := at(t, r, foreign, ns).Create(t.Context(), ns, metav1.CreateOptions{})
	must(t, err)
	eventually(t, "the health of a kept namespace is known", func() bool {
		result, kept := r.Health(idOf(ns))
		return kept && result.Status == health.Ready
	})
	for _, made := range b.calls.all() {
		if strings.HasSuffix(made, crd.GetName()) || strings.HasSuffix(made, ns.GetName()) {
			t.Errorf("%s, though the stream tells", made)
		}
	}
}
