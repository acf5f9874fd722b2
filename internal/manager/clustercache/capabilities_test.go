package clustercache

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// countCalls counts the calls of Capabilities and Kinds. The probe requests the version once as well.
func (b *bench) countCalls() string {
	return fmt.Sprintf("%d version, %d api, %d apis", b.calls.count("GET /version")-1, b.calls.count("GET /api"), b.calls.count("GET /apis"))
}

func (b *bench) wantAsked(t *testing.T, want string) {
	t.Helper()
	if got := b.countCalls(); got != want {
		t.Errorf("asked: %s; want %s", got, want)
	}
}

func mustTell(t *testing.T, r *Runtime) runtimes.Capabilities {
	t.Helper()
	told, err := r.Capabilities(t.Context())
	must(t, err)
	return told
}

func mustList(t *testing.T, r *Runtime) []apply.KindResource {
	t.Helper()
	kinds, err := r.Kinds(t.Context())
	must(t, err)
	return kinds
}

// asHelm discovers API versions as Helm's client does.
func asHelm(t *testing.T, cfg *rest.Config) []string {
	t.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(cfg)
	must(t, err)
	groups, lists, err := client.ServerGroupsAndResources()
	must(t, err)
	var versions []string
	for _, group := range groups {
		for _, version := range group.Versions {
			versions = append(versions, version.GroupVersion)
		}
	}
	for _, list := range lists {
		for i := range list.APIResources {
			versions = append(versions, list.GroupVersion+"/"+list.APIResources[i].Kind)
		}
	}
	slices.Sort(versions)
	return slices.Compact(versions)
}

// asNamespaceController returns the kinds that Kubernetes itself deletes with a namespace, and their cluster-scoped counterparts.
func asNamespaceController(t *testing.T, cfg *rest.Config) []apply.KindResource {
	t.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(cfg)
	must(t, err)
	lists, err := client.ServerPreferredResources()
	must(t, err)
	var kinds []apply.KindResource
	for _, list := range discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list", "delete"}}, lists) {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		must(t, err)
		for _, resource := range list.APIResources {
			kinds = append(kinds, apply.KindResource{Kind: resource.Kind, Resource: apply.Resource{
				GroupVersionResource: gv.WithResource(resource.Name), Namespaced: resource.Namespaced,
			}})
		}
	}
	return sorted(kinds)
}

func sorted(kinds []apply.KindResource) []apply.KindResource {
	slices.SortFunc(kinds, func(a, b apply.KindResource) int { return strings.Compare(a.String(), b.String()) })
	return kinds
}

func TestCapabilities_DiscoversOnce(t *testing.T) {
	cfg := realCluster(t)
	b := newBench(t, nil)
	r := b.mustGet(t, b.remote(t, "capabilities", cfg))
	b.trackAll(t, r, ownerNamed("capabilities"), runtimes.Interest{GroupVersionKind: configMaps})
	b.wantAsked(t, "0 version, 0 api, 0 apis")
	var workers sync.WaitGroup
	for range 5 {
		workers.Go(func() { mustTell(t, r) })
		workers.Go(func() { mustList(t, r) })
	}
	workers.Wait()
	b.wantAsked(t, "1 version, 1 api, 1 apis")
	told := mustTell(t, r)
	client, err := discovery.NewDiscoveryClientForConfig(cfg)
	must(t, err)
	version, err := client.ServerVersion()
	must(t, err)
	kinds, err := r.Cluster().Kinds(t.Context())
	must(t, err)
	b.wantAsked(t, "1 version, 1 api, 1 apis")
	if told.KubeVersion != version.GitVersion {
		t.Errorf("version %s, want %s", told.KubeVersion, version.GitVersion)
	}
	diffs := ""
	for range 20 { // other tests' definitions come and go
		diffs = cmp.Diff(asHelm(t, cfg), told.APIVersions) + cmp.Diff(asNamespaceController(t, cfg), sorted(kinds))
		if diffs == "" {
			break
		}
		<-time.After(100 * time.Millisecond)
		r.discoveryCache.invalidate()
		told, kinds = mustTell(t, r), mustList(t, r)
	}
	if diffs != "" {
		t.Error("not what Helm finds, or not what Kubernetes deletes with a namespace:", diffs)
	}
}

// define creates a CustomResourceDefinition and waits until the API server serves it.
func define(t *testing.T, foreign dynamic.Interface, crd *unstructured.Unstructured) {
	t.Helper()
	crds := foreign.Resource(schema.GroupVersionResource{Group: inventory.CRDKind.Group, Version: "v1", Resource: "customresourcedefinitions"})
	t.Cleanup(func() { // until it is gone, so that no other test sees it go
		ctx := context.WithoutCancel(t.Context())
		_ = crds.Delete(ctx, crd.GetName(), metav1.DeleteOptions{})
		eventually(t, "the definition goes", func() bool {
			_, err := crds.Get(ctx, crd.GetName(), metav1.GetOptions{})
			return apierrors.IsNotFound(err)
		})
	})
	_, err := crds.Create(t.Context(), crd, metav1.CreateOptions{})
	must(t, err)
}

func TestCapabilities_FollowsDefinitions(t *testing.T) {
	cfg := realCluster(t)
	b := newBench(t, nil)
	r := b.mustGet(t, b.remote(t, "following", cfg))
	owner, gvk := ownerNamed("following"), widgets("following.test")
	b.trackAll(t, r, owner, runtimes.Interest{GroupVersionKind: definitions})
	mustTell(t, r)
	crd := definitionOf(gvk, owner)
	own(t, r, crd)
	for range 3 {
		if told := mustTell(t, r); !slices.Contains(told.APIVersions, "following.test/v1alpha1/Widget") {
			t.Fatal("a kind of ours is missing right after its definition was written")
		}
	}
	b.wantWake(t, owner, "the definition is established")
	eventually(t, "a question costs nothing any more", func() bool {
		before := b.calls.count("GET /apis")
		mustTell(t, r)
		return b.calls.count("GET /apis") == before
	})
	if n := b.calls.count("GET /apis"); n > 5 {
		t.Errorf("%d questions, want one for each time that the definition was learned while the API server did not show it", n)
	}
	want := apply.KindResource{Kind: "Widget", Resource: apply.Resource{GroupVersionResource: gvk.GroupVersion().WithResource("widgets"), Namespaced: true}}
	if !slices.Contains(mustList(t, r), want) {
		t.Error("the kind cannot be listed")
	}
	must(t, at(t, r, r.Cluster().Dynamic, crd).Delete(t.Context(), crd.GetName(), metav1.DeleteOptions{}))
	eventually(t, "it is no longer told", func() bool {
		return !slices.Contains(mustTell(t, r).APIVersions, "following.test/v1alpha1/Widget")
	})
}

func TestCapabilities_KnownDefinitionCausesNoCall(t *testing.T) {
	s := newStreamed(t, "")
	s.serve(groupOf("shown.test", "v1alpha1", "widgets", "Widget", ""))
	mustTell(t, s.r)
	for range 3 { // as after a restart, when the health of what is there already is read
		s.r.Cluster().Learn(definitionOf(widgets("shown.test"), s.owner))
		mustTell(t, s.r)
	}
	s.wantAsked(t, "1 version, 1 api, 1 apis")
	s.r.Cluster().Learn(definitionOf(widgets("new.test"), s.owner))
	for range 3 {
		if told := mustTell(t, s.r); !slices.Contains(told.APIVersions, "new.test/v1alpha1/Widget") {
			t.Error("what the API server does not show yet is missing")
		}
	}
	s.wantAsked(t, "1 version, 2 api, 2 apis")
	service := newObject(schema.GroupVersionKind{Group: apiServiceKind.Group, Version: "v1", Kind: apiServiceKind.Kind}, "", "v1.x", s.owner)
	s.r.Cluster().Learn(service)
	mustTell(t, s.r)
	s.wantAsked(t, "2 version, 3 api, 3 apis")
}

func TestCapabilities_FindsForeignDefinitionsAfterAudit(t *testing.T) {
	s := newStreamed(t, "")
	s.serve("")
	mustTell(t, s.r)
	mustList(t, s.r)
	s.serve(groupOf("theirs.test", "v1", "things", "Thing", ""))
	has := func() bool { return slices.Contains(mustTell(t, s.r).APIVersions, "theirs.test/v1/Thing") }
	if has() {
		t.Error("it was asked for without a reason")
	}
	s.r.discoveryCache.document.asked = time.Now().Add(-kindsFor)
	if kinds := mustList(t, s.r); len(kinds) != 2 {
		t.Errorf("%v: a decision to delete is made on an old answer", kinds)
	}
	s.wantAsked(t, "1 version, 2 api, 2 apis")

	s.serve("")
	if !has() {
		t.Error("what Kinds found is not used")
	}
	s.r.auditAll()
	s.wantAsked(t, "1 version, 2 api, 2 apis")
	if has() {
		t.Error("not asked again after an audit")
	}
	s.wantAsked(t, "2 version, 3 api, 3 apis")
}

// serve sets the discovery documents of the stub, besides ConfigMaps.
func (s *streamed) serve(groups string) {
	core := groupOf("", "v1", "configmaps", "ConfigMap", "")
	s.on("GET /api", jsonAnswer(`{"kind":"APIGroupDiscoveryList","items":[`+core+`]}`))
	s.on("GET /apis", jsonAnswer(`{"kind":"APIGroupDiscoveryList","items":[`+groups+`]}`))
}

func groupOf(group, version, resource, kind, freshness string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q},"versions":[{"version":%q,"freshness":%q,"resources":[{"resource":%q,"scope":"Namespaced",
		"responseKind":{"kind":%q},"verbs":["list","delete","get"],"subresources":[{"subresource":"scale","responseKind":{"kind":"Scale"}}]}]}]}`,
		group, version, freshness, resource, kind)
}

func TestCapabilities_KeepsGroupWithoutResponse(t *testing.T) {
	s := newStreamed(t, "")
	stale := groupOf("metrics.test", "v1", "", "", "Stale")
	s.serve(stale)
	if diff := cmp.Diff([]string{"metrics.test/v1", "v1", "v1/ConfigMap", "v1/Scale"}, mustTell(t, s.r).APIVersions); diff != "" {
		t.Error(diff)
	}
	_, err := s.r.Kinds(t.Context())
	if err == nil || !strings.Contains(err.Error(), "metrics.test/v1") || apply.Classify(err) != apply.ClassInternal {
		t.Errorf("%v, want the group that no one knows the kinds of, and no doubt about the runtime", err)
	}
	mustTell(t, s.r)
	s.wantAsked(t, "1 version, 2 api, 2 apis")

	s.serve(groupOf("metrics.test", "v1", "metrics", "Metric", "Current"))
	s.r.discoveryCache.document.asked = time.Now().Add(-partialFor)
	want := []string{"metrics.test/v1", "metrics.test/v1/Metric", "metrics.test/v1/Scale", "v1", "v1/ConfigMap", "v1/Scale"}
	if diff := cmp.Diff(want, mustTell(t, s.r).APIVersions); diff != "" {
		t.Error(diff)
	}
	s.serve(stale)
	s.r.discoveryCache.invalidate()
	if diff := cmp.Diff(want, mustTell(t, s.r).APIVersions); diff != "" {
		t.Error("what is only down has gone:", diff)
	}
}

func TestDiscover_WithoutAggregatedDiscovery(t *testing.T) {
	s := newStreamed(t, "")
	s.on("GET /api", jsonAnswer(`{"kind":"APIVersions","versions":["v1"]}`))
	s.on("GET /apis", jsonAnswer(`{"kind":"APIGroupList","groups":[
		{"name":"old.test","versions":[{"version":"v2"},{"version":"v1"}]},{"name":"down.test","versions":[{"version":"v1"}]}]}`))
	resources := func(name, kind string) http.HandlerFunc {
		return jsonAnswer(fmt.Sprintf(`{"kind":"APIResourceList","resources":[{"name":%q,"kind":%q,"namespaced":true,"verbs":["list","delete"]},
			{"name":"%s/status","kind":%q,"verbs":["get"]},{"name":"reviews","kind":"Review","verbs":["create"]}]}`, name, kind, name, kind))
	}
	s.on("GET /api/v1", resources("configmaps", "ConfigMap"))
	s.on("GET /apis/old.test/v1", resources("things", "Thing"))
	s.on("GET /apis/old.test/v2", resources("things", "Thing"))
	s.on("GET /apis/down.test/v1", statusAnswer(http.StatusServiceUnavailable, "ServiceUnavailable"))
	want := []string{"down.test/v1", "old.test/v1", "old.test/v1/Review", "old.test/v1/Thing", "old.test/v2", "old.test/v2/Review",
		"old.test/v2/Thing", "v1", "v1/ConfigMap", "v1/Review"}
	if diff := cmp.Diff(want, mustTell(t, s.r).APIVersions); diff != "" {
		t.Error(diff)
	}
	if _, err := s.r.Kinds(t.Context()); err == nil || !strings.Contains(err.Error(), "down.test/v1") {
		t.Errorf("%v, want the group that is down", err)
	}
	s.on("GET /apis/down.test/v1", resources("downs", "Down"))
	kind := func(group, version, name, kind string) apply.KindResource {
		gvr := schema.GroupVersionResource{Group: group, Version: version, Resource: name}
		return apply.KindResource{Kind: kind, Resource: apply.Resource{GroupVersionResource: gvr, Namespaced: true}}
	}
	each := []apply.KindResource{kind("", "v1", "configmaps", "ConfigMap"), kind("down.test", "v1", "downs", "Down"), kind("old.test", "v2", "things", "Thing")}
	if diff := cmp.Diff(each, sorted(mustList(t, s.r))); diff != "" {
		t.Error("not each kind once, in the version that comes first:", diff)
	}
}

func TestCapabilities_RetriesInvalidDiscovery(t *testing.T) {
	s := newStreamed(t, "")
	long := make([]string, maxGroups+1)
	for i := range long {
		long[i] = fmt.Sprintf(`"v%d"`, i)
	}
	for name, c := range map[string]struct {
		path   string
		answer http.HandlerFunc
	}{
		"nonsense":                    {"GET /apis", jsonAnswer(`<html>`)},
		"a document of another kind":  {"GET /apis", jsonAnswer(`{"kind":"Pod"}`)},
		"groups that are none":        {"GET /api", jsonAnswer(`{"kind":"APIGroupDiscoveryList","items":[1]}`)},
		"too many groups":             {"GET /api", jsonAnswer(`{"kind":"APIVersions","versions":[` + strings.Join(long, ",") + `]}`)},
		"more than is read":           {"GET /apis", jsonAnswer(`{"kind":"` + strings.Repeat("x", maxDiscovery) + `"}`)},
		"a refusal":                   {"GET /apis", statusAnswer(http.StatusForbidden, "Forbidden")},
		"no such path":                {"GET /api", statusAnswer(http.StatusNotFound, "NotFound")},
		"a version that is none":      {"GET /version", jsonAnswer(`{"gitVersion":"new"}`)},
		"a version that cannot be":    {"GET /version", jsonAnswer(`{"gitVersion":1}`)},
		"a version without end":       {"GET /version", jsonAnswer(`{"gitVersion":"v1.2.3-` + strings.Repeat("x", maxVersion) + `"}`)},
		"an answer for another group": {"GET /apis", jsonAnswer(`{"kind":"APIGroupDiscoveryList","items":{}}`)},
	} {
		t.Run(name, func(t *testing.T) {
			s.serve("")
			s.on("GET /version", jsonAnswer(`{"gitVersion":"v1.36.3"}`))
			s.r.discoveryCache.invalidate()
			s.on(c.path, c.answer)
			if told, err := s.r.Capabilities(t.Context()); err == nil || len(err.Error()) > 300 {
				t.Errorf("%+v, error %.400v", told, err)
			}
			s.serve("")
			s.on("GET /version", jsonAnswer(`{"gitVersion":"v1.36.3"}`))
			if told := mustTell(t, s.r); told.KubeVersion != "v1.36.3" || len(told.APIVersions) != 3 {
				t.Errorf("%+v", told)
			}
		})
	}
}

func TestCapabilities_NewConnectionDiscoversAgain(t *testing.T) {
	s := newStreamed(t, "")
	s.serve("")
	mustTell(t, s.r)
	renewed := s.config()
	renewed.BearerToken = "renewed"
	target := s.remote(t, "stub", renewed)
	r := s.mustGet(t, target)
	if r == s.r {
		t.Fatal("the same connection")
	}
	mustTell(t, r)
	if n := s.calls.count("GET /apis"); n != 2 {
		t.Errorf("%d questions, want one for each connection", n)
	}
	if _, err := s.r.Kinds(t.Context()); err != nil {
		t.Errorf("%v from memory", err)
	}
	s.r.discoveryCache.invalidate()
	if _, err := s.r.Capabilities(t.Context()); apply.Classify(err) != apply.ClassUnreachable {
		t.Errorf("%v, want that the access was withdrawn", err)
	}
	r.discoveryCache.invalidate()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Capabilities(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that the question was taken back", err)
	}
	mustTell(t, r)
}
