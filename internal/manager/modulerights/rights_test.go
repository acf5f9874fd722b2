package modulerights

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/permissions"
)

// fakeContents renders a ClusterRole for the secrets of a content whose version ends in "1", and a ConfigMap for any other.
type fakeContents struct {
	mu sync.Mutex
	// rendered counts by version; failing and pending are versions that cannot be rendered now.
	rendered map[string]int
	failing  map[string]string
	pending  map[string]bool
	charts   bool
	// hides has the role only in another cluster.
	hides bool
}

func (f *fakeContents) NeedsCapabilities(*v1beta2.Manifest) (bool, error) { return f.charts, nil }

func (f *fakeContents) Content(_ context.Context, m *v1beta2.Manifest, known runtimes.Capabilities) (permissions.Content, error) {
	<-time.After(time.Second)
	f.mu.Lock()
	defer f.mu.Unlock()
	version := m.Spec.Version
	switch {
	case f.pending[version]:
		return permissions.Content{}, ErrPending
	case f.failing[version] == "panic":
		panic("nil map")
	case f.failing[version] != "":
		return permissions.Content{}, &content.Error{Reason: f.failing[version], Err: errors.New("no")}
	}
	f.rendered[version+known.KubeVersion]++
	if version[len(version)-1] != '1' {
		plain := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"}}
		return permissions.Content{Objects: []*unstructured.Unstructured{{Object: plain}}}, nil
	}
	role := map[string]any{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": map[string]any{"name": "a"},
		"rules": []any{map[string]any{"apiGroups": []any{""}, "resources": []any{"secrets"}, "verbs": []any{"get", "list"}}}}
	account := map[string]any{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": map[string]any{"name": "a", "namespace": "ns"}}
	binding := map[string]any{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": map[string]any{"name": "a"},
		"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "a"},
		"subjects": []any{map[string]any{"kind": "ServiceAccount", "name": "a", "namespace": "ns"}}}
	made := permissions.Content{Objects: []*unstructured.Unstructured{{Object: role}, {Object: account}, {Object: binding}}}
	if f.hides {
		made.Objects, made.Conditional = nil, made.Objects
	}
	return made, nil
}

func (f *fakeContents) set(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
}

func (f *fakeContents) count(of string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.rendered[of]
}

// woken is a queue that records who is enqueued.
type woken struct {
	workqueue.TypedRateLimitingInterface[reconcile.Request]
	mu    sync.Mutex
	names []string
}

func (w *woken) AddAfter(request reconcile.Request, _ time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.names = append(w.names, request.Name)
}

// take returns who was enqueued since the last call.
func (w *woken) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	names := slices.Sorted(slices.Values(w.names))
	w.names = nil
	return names
}

func manifestOf(version string) *v1beta2.Manifest {
	return &v1beta2.Manifest{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: "m", Labels: map[string]string{v1beta2.LabelModuleName: "m"}},
		Spec: v1beta2.ManifestSpec{Remote: true, Version: version, Install: v1beta2.InstallInfo{Name: "raw-manifest", Source: runtime.RawExtension{
			Raw: fmt.Appendf(nil, `{"ref":%q}`, version),
		}}},
	}
}

func stepTo(from, to string) module.NeededChange {
	step := module.NeededChange{Wanted: manifestOf(to)}
	step.To = revision.Digest(&step.Wanted.Spec)
	if from != "" {
		step.Installed = manifestOf(from)
		step.From = revision.Digest(&step.Installed.Spec)
	}
	return step
}

func kymaNamed(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "kcp-system", Name: name}
}

// inBubble runs a test with Rights whose time passes by itself.
func inBubble(t *testing.T, test func(t *testing.T, r *Rights, contents *fakeContents, queue *woken)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		contents := &fakeContents{rendered: map[string]int{}, failing: map[string]string{}, pending: map[string]bool{}}
		queue := &woken{}
		r := New(contents, func(_ context.Context, kyma types.NamespacedName, _ bool) (runtimes.Capabilities, error) {
			if err := silent[kyma.Name]; err != nil {
				return runtimes.Capabilities{}, err
			}
			return runtimes.Capabilities{KubeVersion: kyma.Name[:1], APIVersions: []string{"v1"}}, nil
		})
		if err := r.Source().Start(t.Context(), queue); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- r.Start(ctx) }()
		test(t, r, contents, queue)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestRights_WhatComesWithAnotherClusterIsARightToo(t *testing.T) {
	inBubble(t, func(t *testing.T, r *Rights, contents *fakeContents, _ *woken) {
		contents.set(func() { contents.hides = true })
		r.Change(t.Context(), kymaNamed("k"), stepTo("1.0.0", "1.0.1"))
		<-time.After(5 * time.Second)
		if got, _ := r.Change(t.Context(), kymaNamed("k"), stepTo("1.0.0", "1.0.1")); !got.NewRights {
			t.Errorf("a role that the cluster has not yet is no new right: %+v", got)
		}
	})
}

// jobsOf returns how many changes are being found out.
func jobsOf(r *Rights) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.jobs)
}

func TestRights_AContentIsRenderedOnceForAllKymas(t *testing.T) {
	inBubble(t, func(t *testing.T, r *Rights, contents *fakeContents, queue *woken) {
		for i := range 100 {
			if change, retry := r.Change(t.Context(), kymaNamed(fmt.Sprint("k", i)), stepTo("1.0.0", "1.0.1")); !change.Pending || retry != 0 {
				t.Fatalf("before anything is known: %+v, %s", change, retry)
			}
		}
		<-time.After(5 * time.Second)
		if names := queue.take(); len(names) != 100 {
			t.Errorf("%d Kymas are woken", len(names))
		}
		for i := range 100 {
			change, retry := r.Change(t.Context(), kymaNamed(fmt.Sprint("k", i)), stepTo("1.0.0", "1.0.1"))
			if change.Pending || !change.NewRights || change.Counts.RightsAdded == 0 || len(change.Gravest) == 0 || change.Problem != "" || retry != 0 {
				t.Fatalf("what is known: %+v", change)
			}
		}
		if change, _ := r.Change(t.Context(), kymaNamed("k1"), stepTo("1.0.1", "1.0.0")); !change.Pending {
			t.Errorf("the other way: %+v", change)
		}
		<-time.After(5 * time.Second)
		if change, _ := r.Change(t.Context(), kymaNamed("k1"), stepTo("1.0.1", "1.0.0")); change.NewRights || change.Counts.RightsRemoved == 0 {
			t.Errorf("the other way: %+v", change)
		}
		if contents.count("1.0.0") != 1 || contents.count("1.0.1") != 1 || !slices.Equal(queue.take(), []string{"k1"}) || jobsOf(r) != 0 {
			t.Errorf("rendered %v, %d jobs left", contents.rendered, jobsOf(r))
		}
	})
}

func TestRights_AllIsNewWhereNothingIsInstalled(t *testing.T) {
	inBubble(t, func(t *testing.T, r *Rights, _ *fakeContents, _ *woken) {
		r.Change(t.Context(), kymaNamed("k"), stepTo("", "1.0.1"))
		<-time.After(5 * time.Second)
		if change, _ := r.Change(t.Context(), kymaNamed("k"), stepTo("", "1.0.1")); !change.NewRights || change.FromProblem != "" {
			t.Errorf("got %+v", change)
		}
	})
}

func TestRights_WhatIsBeingFetchedIsAskedForAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, r *Rights, contents *fakeContents, queue *woken) {
		contents.set(func() { contents.pending["1.0.1"] = true })
		r.Change(t.Context(), kymaNamed("k"), stepTo("", "1.0.1"))
		<-time.After(time.Minute)
		if change, _ := r.Change(t.Context(), kymaNamed("k"), stepTo("", "1.0.1")); !change.Pending || len(queue.take()) != 0 {
			t.Errorf("while it is being fetched: %+v", change)
		}
		contents.set(func() { contents.pending["1.0.1"] = false })
		<-time.After(5 * time.Second)
		if change, _ := r.Change(t.Context(), kymaNamed("k"), stepTo("", "1.0.1")); change.Pending || len(queue.take()) != 1 {
			t.Errorf("once it is there: %+v", change)
		}
	})
}

func TestRights_WhatFailsIsTriedAgainForAllWhoWait(t *testing.T) {
	for name, test := range map[string]struct {
		failing, reason string
		want            module.Change
	}{
		"the new version":       {"1.0.1", content.ReasonRegistryUnreachable, module.Change{Problem: content.ReasonRegistryUnreachable}},
		"a program error":       {"1.0.1", "panic", module.Change{Problem: content.ReasonContentInvalid}},
		"the installed version": {"1.1.1", content.ReasonContentNotFound, module.Change{FromProblem: content.ReasonContentNotFound, NewRights: true}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *Rights, contents *fakeContents, queue *woken) {
				contents.set(func() { contents.failing[test.failing] = test.reason })
				ask := func(kyma string) module.Change {
					change, retry := r.Change(t.Context(), kymaNamed(kyma), stepTo("1.1.1", "1.0.1"))
					if retry != 0 {
						t.Errorf("a Kyma has to ask again after %s", retry)
					}
					return change
				}
				ask("a")
				<-time.After(2500 * time.Millisecond)
				if got := ask("a"); got.Problem != test.want.Problem || got.FromProblem != test.want.FromProblem || got.NewRights != test.want.NewRights || got.Pending {
					t.Errorf("what is told of a failure: %+v", got)
				}
				ask("b")
				if names := queue.take(); !slices.Equal(names, []string{"a"}) {
					t.Errorf("%v are woken by the first failure", names)
				}
				<-time.After(30 * time.Minute)
				if names := queue.take(); len(names) != 0 {
					t.Errorf("%v are woken by the same failure", names)
				}
				contents.set(func() { delete(contents.failing, test.failing) })
				<-time.After(time.Minute)
				if names := queue.take(); !slices.Equal(names, []string{"a", "b"}) {
					t.Errorf("%v are woken by the end of the failure", names)
				}
				if got := ask("b"); got.Pending || got.Problem != "" || got.FromProblem != "" || got.NewRights {
					t.Errorf("afterwards: %+v", got)
				}
				if contents.count("1.0.1") != 1 || contents.count("1.1.1") != 1 {
					t.Errorf("rendered %v", contents.rendered)
				}
			})
		})
	}
}

func TestRights_AFailureEndsWhenNoKymaWaits(t *testing.T) {
	inBubble(t, func(t *testing.T, r *Rights, contents *fakeContents, queue *woken) {
		contents.set(func() { contents.failing["1.0.1"] = content.ReasonHooksRefused })
		r.Change(t.Context(), kymaNamed("k"), stepTo("", "1.0.1"))
		<-time.After(2500 * time.Millisecond)
		r.Change(t.Context(), kymaNamed("k"), stepTo("", "1.0.1")) // it was woken, and waits
		queue.take()
		<-time.After(2 * time.Hour)
		if names, jobs := queue.take(), jobsOf(r); len(names) != 1 || jobs != 0 {
			t.Errorf("after hours %v are asked whether they still wait, and %d jobs go on", names, jobs)
		}
	})
}

func TestRights_ChartsAreRenderedForWhatTheySee(t *testing.T) {
	inBubble(t, func(t *testing.T, r *Rights, contents *fakeContents, _ *woken) {
		contents.charts = true
		for range 2 {
			for _, kyma := range []string{"a1", "a2", "b1"} {
				r.Change(t.Context(), kymaNamed(kyma), stepTo("", "1.0.1"))
			}
			<-time.After(5 * time.Second)
		}
		if contents.count("1.0.1a") != 1 || contents.count("1.0.1b") != 1 || len(contents.rendered) != 2 {
			t.Errorf("rendered %v", contents.rendered)
		}
	})
}

// silent are Kymas whose clusters do not say what they serve.
var silent = map[string]error{
	"connecting": &runtimes.Problem{Reason: v1beta2.ReasonRuntimeConnecting},
	"passing":    &runtimes.Problem{Reason: v1beta2.ReasonRuntimeUnreachable, Passing: true},
	"ended":      &runtimes.Problem{Reason: v1beta2.ReasonInternal, Err: context.Canceled},
	"busy":       apierrors.NewTooManyRequests("later", 1),
	"away":       &runtimes.Problem{Reason: v1beta2.ReasonRuntimeUnreachable},
	"secretless": &runtimes.Problem{Reason: v1beta2.ReasonAccessSecretNotFound},
	"forbidden":  apierrors.NewForbidden(schema.GroupResource{}, "version", errors.New("no")),
	"logged out": apierrors.NewUnauthorized("no"),
	"broken":     errors.New("the version of the runtime cannot be read"),
}

func TestRights_AClusterThatDoesNotSayWhatItServesIsTold(t *testing.T) {
	for kyma, problem := range map[string]string{
		"connecting": "", "passing": "", "ended": "", "busy": "",
		"away": v1beta2.ReasonRuntimeUnreachable, "secretless": v1beta2.ReasonAccessSecretNotFound, "forbidden": v1beta2.ReasonRuntimeForbidden,
		"logged out": v1beta2.ReasonRuntimeUnauthorized, "broken": v1beta2.ReasonRuntimeUnreachable,
	} {
		inBubble(t, func(t *testing.T, r *Rights, contents *fakeContents, _ *woken) {
			contents.charts = true
			change, retry := r.Change(t.Context(), kymaNamed(kyma), stepTo("1.0.0", "1.0.1"))
			if change.Problem != problem || change.Pending != (problem == "") || retry != retryCapabilities {
				t.Errorf("%s: %+v, again after %s", kyma, change, retry)
			}
		})
	}
}

func TestContentOf_WhatDecidesAboutTheContentIsTheKey(t *testing.T) {
	r := New(&fakeContents{}, nil)
	key := func(edit func(*v1beta2.Manifest)) contentKey {
		m := manifestOf("1.0.0")
		edit(m)
		found, err := r.contentOf(t.Context(), kymaNamed("k"), m)
		if err != nil {
			t.Fatal(err)
		}
		return found.key
	}
	had := key(func(*v1beta2.Manifest) {})
	for name, test := range map[string]struct {
		edit func(*v1beta2.Manifest)
		same bool
	}{
		"another Kyma's":            {func(m *v1beta2.Manifest) { m.Name, m.OwnerReferences = "other", []metav1.OwnerReference{{UID: "x"}} }, true},
		"what a template adds":      {func(m *v1beta2.Manifest) { m.Spec.Manager = &v1beta2.Manager{Name: "x"} }, true},
		"the logins of a namespace": {func(m *v1beta2.Manifest) { m.Namespace = "other" }, false},
		"the signature":             {func(m *v1beta2.Manifest) { m.Annotations = map[string]string{v1beta2.AnnotationOCMComponentName: "x"} }, false},
		"the name of the release":   {func(m *v1beta2.Manifest) { m.Labels[v1beta2.LabelModuleName] = "x" }, false},
		"values":                    {func(m *v1beta2.Manifest) { m.Spec.Values = &runtime.RawExtension{Raw: []byte(`{"a":1}`)} }, false},
		"images":                    {func(m *v1beta2.Manifest) { m.Spec.LocalizedImages = []string{"a/b:1"} }, false},
	} {
		if same := key(test.edit) == had; same != test.same {
			t.Errorf("%s: the same content: %v", name, same)
		}
	}
}
