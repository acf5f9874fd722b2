package clustercache

import (
	"errors"
	"net/http"
	"slices"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache/h2stream"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

func wantReason(t *testing.T, err error, reason string) *runtimes.Problem {
	t.Helper()
	var p *runtimes.Problem
	if !errors.As(err, &p) {
		t.Fatalf("error %v, want a Problem with reason %s", err, reason)
	}
	if p.Reason != reason {
		t.Fatalf("reason %s (%s), want %s", p.Reason, p.Message, reason)
	}
	return p
}

func TestInvalidateAccess_ConnectsAgainAfterSecretRotation(t *testing.T) {
	cfg := realCluster(t)
	user, err := cluster.AddUser(envtest.User{Name: "rotated", Groups: []string{"system:masters"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, foreign := newBench(t, nil), stranger(t, cfg)
	target := b.remote(t, "rotation", cfg)
	r := b.mustGet(t, target)
	owner := ownerNamed("rotation")
	b.trackAll(t, r, owner, runtimes.Interest{GroupVersionKind: configMaps})

	b.InvalidateAccess(target.Namespace, target.Name)
	b.remote(t, "rotation", cfg)
	b.InvalidateAccess(target.Namespace, target.Name)
	if again := b.mustGet(t, target); again != r {
		t.Fatal("a Secret of equal content made a new connection")
	}
	b.wantQuiet(t, "the content is equal")

	b.remote(t, "rotation", user.Config())
	b.InvalidateAccess(target.Namespace, target.Name)
	b.wantWake(t, owner, "its connection is gone")
	eventuallyWithin(t, h2stream.IdleTimeout/2, "the old connection is closed", func() bool { return r.conn.open() == 0 })
	if live := r.Live(inventory.ID{Kind: "ConfigMap", Namespace: "a", Name: "b"}); live.Presence != inventory.Unknown {
		t.Errorf("Live of the old connection = %+v, want unknown", live)
	}
	renewed := b.mustGet(t, target)
	if renewed == r {
		t.Fatal("the old connection was handed out again")
	}
	ns := newNamespace(t, foreign, "rotation")
	b.trackAll(t, renewed, owner, runtimes.Interest{GroupVersionKind: configMaps})
	o := newObject(configMaps, ns, "one", owner)
	own(t, renewed, o)
	if _, err := at(t, r, r.Cluster().Dynamic, o).Get(t.Context(), "one", metav1.GetOptions{}); apply.Classify(err) != apply.ClassUnreachable {
		t.Errorf("a call through the old connection: %v, want none to be made", err)
	}

	b.secrets.put("another", "rotation", nil)
	_, err = b.Get(t.Context(), target)
	wantReason(t, err, v1beta2.ReasonAccessSecretAmbiguous)
	if live := renewed.Live(idOf(o)); live.Presence != inventory.Present {
		t.Error("a second Secret ended the streams of the first")
	}
	b.secrets.remove("another")

	b.secrets.remove("access-rotation")
	b.InvalidateAccess(target.Namespace, target.Name)
	b.wantWake(t, owner, "the Secret is gone")
	_, err = b.Get(t.Context(), target)
	wantReason(t, err, v1beta2.ReasonAccessSecretNotFound)
}

func TestGet_DetectsChangedSecretWithoutInvalidateAccess(t *testing.T) {
	cfg := realCluster(t)
	b := newBench(t, func(c *Config) { c.SecretIndexed = true })
	target := b.remote(t, "unannounced", cfg)
	r := b.mustGet(t, target)
	b.trackAll(t, r, ownerNamed("unannounced"), runtimes.Interest{GroupVersionKind: configMaps})
	b.secrets.put("access-unannounced", "unannounced", []byte("nonsense: ["))
	_, err := b.Get(t.Context(), target)
	wantReason(t, err, v1beta2.ReasonKubeconfigInvalid)
	b.wantWake(t, ownerNamed("unannounced"), "its connection is gone")
	eventuallyWithin(t, h2stream.IdleTimeout/2, "no connection is left with credentials that are no longer there", func() bool { return r.conn.open() == 0 })
}

func TestGet_ReportsRefusedCredentials(t *testing.T) {
	cfg := realCluster(t)
	bad := rest.AnonymousClientConfig(cfg)
	bad.BearerToken = "nobody-knows-this-token"
	b := newBench(t, nil)
	target := b.remote(t, "unauthorized", bad)
	_, err := b.Get(t.Context(), target)
	wantReason(t, err, v1beta2.ReasonRuntimeUnauthorized)
	target.Owner = ownerNamed("unauthorized")
	before := len(b.calls.all())
	for range 20 {
		_, err = b.Get(t.Context(), target)
		if p := wantReason(t, err, v1beta2.ReasonRuntimeUnauthorized); p.Retry < firstRefusal/2 {
			t.Fatalf("RetryAfter = %s", p.Retry)
		}
	}
	if n := len(b.calls.all()) - before; n != 0 {
		t.Errorf("%d calls while the credentials are known to be refused", n)
	}
	b.remote(t, "unauthorized", cfg)
	b.InvalidateAccess(target.Namespace, target.Name)
	b.wantWake(t, target.Owner, "the Secret changed")
	eventually(t, "the new credentials work", func() bool {
		_, err := b.Get(t.Context(), target)
		return err == nil
	})
}

func TestGet_LocalTargetImpersonatesServiceAccount(t *testing.T) {
	cfg := realCluster(t)
	b := newBench(t, func(c *Config) { c.Hub = cfg })
	for _, account := range []string{"", "x", "/x", "x/", "a/b/c", "a/b:c"} {
		_, err := b.Get(t.Context(), Target{Local: true, ServiceAccount: account})
		wantReason(t, err, v1beta2.ReasonLocalAccessMissing)
	}
	r := b.mustGet(t, Target{Local: true, ServiceAccount: "kcp-system/installer"})
	if other := b.mustGet(t, Target{Local: true, ServiceAccount: "kcp-system/other"}); other == r {
		t.Fatal("two service accounts share a connection")
	}
	review := &unstructured.Unstructured{Object: map[string]any{}}
	review.SetGroupVersionKind(schema.GroupVersionKind{Group: "authentication.k8s.io", Version: "v1", Kind: "SelfSubjectReview"})
	resource := schema.GroupVersionResource{Group: "authentication.k8s.io", Version: "v1", Resource: "selfsubjectreviews"}
	answer, err := r.Cluster().Dynamic.Resource(resource).Create(t.Context(), review, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	name, _, _ := unstructured.NestedString(answer.Object, "status", "userInfo", "username")
	groups, _, _ := unstructured.NestedStringSlice(answer.Object, "status", "userInfo", "groups")
	if name != "system:serviceaccount:kcp-system:installer" || slices.Contains(groups, "system:masters") {
		t.Fatalf("acts as %s in %v", name, groups)
	}

	r.Track(ownerNamed("local"), []runtimes.Interest{{GroupVersionKind: configMaps}})
	b.wantWake(t, ownerNamed("local"), "its kind cannot be listed")
	synced, problem := r.Synced(ownerNamed("local"))
	if synced || problem == nil || problem.Reason != v1beta2.ReasonRuntimeForbidden {
		t.Fatalf("Synced = %v, %v, want forbidden: no one has given the account a right", synced, problem)
	}
}

func TestAs_NamesTheAccountInEachCallOfOneConnection(t *testing.T) {
	hub := newStub(t)
	var mu sync.Mutex
	var asked []string
	hub.on("GET /api/v1/namespaces/ns/configmaps/a", func(w http.ResponseWriter, req *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, req.Header.Get("Authorization")+" "+req.Header.Get("Impersonate-User"))
		jsonAnswer(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`)(w, req)
	})
	for name, test := range map[string]struct {
		target func(b *bench) Target
		own    string
	}{
		"of a runtime": {func(b *bench) Target { return b.remote(t, "as", hub.config()) }, ""},
		"of the hub itself": {
			func(*bench) Target { return Target{Local: true, ServiceAccount: "kcp-system/installer"} },
			"system:serviceaccount:kcp-system:installer",
		},
	} {
		t.Run(name, func(t *testing.T) {
			asked = nil
			b := newBench(t, func(c *Config) { c.Hub = hub.config() })
			r := b.mustGet(t, test.target(b))
			tenant, other := types.NamespacedName{Namespace: "kyma-system", Name: "tenant"}, types.NamespacedName{Namespace: "kyma-system", Name: "other"}
			for _, account := range []types.NamespacedName{tenant, {}, other} {
				acting, err := r.As(account)
				if err != nil {
					t.Fatal(err)
				}
				maps := acting.Dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"})
				if _, err := maps.Namespace("ns").Get(t.Context(), "a", metav1.GetOptions{}); err != nil {
					t.Fatal(err)
				}
				if again, _ := r.As(account); again != acting {
					t.Errorf("%s has two clients", account)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			const prefix = "Bearer t system:serviceaccount:kyma-system:"
			if want := []string{prefix + "tenant", "Bearer t " + test.own, prefix + "other"}; !slices.Equal(asked, want) {
				t.Errorf("asked as %q, want %q", asked, want)
			}
			if opened := r.conn.short.sockets.count(); opened != 1 {
				t.Errorf("%d connections for calls", opened)
			}
		})
	}
}

func TestGet_ReportsForbiddenImpersonation(t *testing.T) {
	realCluster(t)
	user, err := cluster.AddUser(envtest.User{Name: "operator-without-rights"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, func(c *Config) { c.Hub = user.Config() })
	_, err = b.Get(t.Context(), Target{Local: true, ServiceAccount: "kcp-system/installer"})
	wantReason(t, err, v1beta2.ReasonLocalAccessMissing)
}
