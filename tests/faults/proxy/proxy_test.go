package proxy

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

func TestLogTellsWhatWasSaid(t *testing.T) {
	p, clients := start(t)
	maps, ctx := clients.CoreV1().ConfigMaps("default"), within(t, patience)
	made, err := maps.Create(ctx, configMap("told"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	apply := []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"told","uid":"` + string(made.UID) + `"},"data":{"b":"2"}}`)
	options := metav1.PatchOptions{FieldManager: "me", Force: new(true)}
	if _, err := maps.Patch(ctx, "told", types.ApplyPatchType, apply, options); err != nil {
		t.Fatal(err)
	}
	if _, err := maps.Get(ctx, "absent", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Fatal("get of what is not there:", err)
	}
	version := "1"
	err = maps.Delete(ctx, "told", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &made.UID, ResourceVersion: &version}})
	if !apierrors.IsConflict(err) {
		t.Fatal("delete of an old version:", err)
	}
	if err := maps.Delete(ctx, "told", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &made.UID}}); err != nil {
		t.Fatal(err)
	}

	uid := string(made.UID)
	want := []Call{
		{N: 1, Verb: "create", Mutating: true, Status: 201, Name: "told"},
		{N: 2, Verb: "patch", Mutating: true, Status: 200, Name: "told", UID: uid, FieldManager: "me", Force: true},
		{N: 3, Verb: "get", Status: 404, Name: "absent"},
		{N: 4, Verb: "delete", Mutating: true, Status: 409, Name: "told", UID: uid, ResourceVersion: "1"},
		{N: 5, Verb: "delete", Mutating: true, Status: 200, Name: "told", UID: uid},
	}
	for i := range want {
		want[i].Server, want[i].Version, want[i].Resource, want[i].Namespace = "hub", "v1", "configmaps", "default"
		want[i].Upstream = want[i].Status
	}
	ignored := cmpopts.IgnoreFields(Call{}, "Query", "ContentType", "Digest", "Body", "Agent", "At", "Took")
	if diff := cmp.Diff(want, p.Log(), ignored); diff != "" {
		t.Error("log (-want +got):\n" + diff)
	}
	if call := p.Since(1)[0]; !call.Apply() || string(call.Body) != string(apply) || len(call.Digest) != 64 {
		t.Errorf("the body of the apply is %q with digest %q, want what was sent", call.Body, call.Digest)
	}
}

func TestLogForgetsTheOldest(t *testing.T) {
	j := newJournal(3)
	for range 5 {
		j.begin(Call{})
	}
	var numbers []uint64
	for _, call := range j.since(0) {
		numbers = append(numbers, call.N)
	}
	if diff := cmp.Diff([]uint64{3, 4, 5}, numbers); diff != "" || j.lost() != 2 {
		t.Errorf("lost %d, want 2; numbers (-want +got):\n%s", j.lost(), diff)
	}
	if rest := j.since(4); len(rest) != 1 || rest[0].N != 5 {
		t.Errorf("since(4) = %v, want call 5", rest)
	}
}

func TestTokensStandForUsers(t *testing.T) {
	p, clients := start(t)
	ctx := within(t, patience)
	kubeconfig, err := p.Kubeconfig()
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	version := func(clients kubernetes.Interface) error {
		_, err := clients.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
		return err
	}
	if err := version(clientOf(t, config)); err != nil {
		t.Error("the kubeconfig does not work:", err)
	}
	other, err := p.Grant(p.options.Upstream)
	if err != nil {
		t.Fatal(err)
	}
	rotated := clientOf(t, p.ConfigOf(other))
	if err := version(rotated); err != nil {
		t.Error("a token that was granted:", err)
	}
	p.Revoke(other)
	if err := version(rotated); !apierrors.IsUnauthorized(err) {
		t.Error("a token that was revoked: want 401, got", err)
	}
	if err := version(clientOf(t, p.ConfigOf("made-up"))); !apierrors.IsUnauthorized(err) {
		t.Error("a token that no one knows: want the server's own 401, got", err)
	}
	if err := version(clients); err != nil {
		t.Error("another user's token went with it:", err)
	}
}

func TestConnectionsCanBeCutRefusedAndHeld(t *testing.T) {
	p, clients := start(t)
	get := func(limit time.Duration) error {
		_, err := clients.CoreV1().Namespaces().Get(within(t, limit), "default", metav1.GetOptions{})
		return err
	}
	if err := get(patience); err != nil {
		t.Fatal(err)
	}
	p.Reach(Refused)
	if err := get(patience); err == nil {
		t.Error("an answer came from a server that refuses connections")
	}
	p.Reach(Open)
	if err := get(patience); err != nil {
		t.Error("it does not serve again:", err)
	}
	p.Reach(BlackHole)
	if err := get(200 * time.Millisecond); err == nil {
		t.Error("an answer came out of a black hole")
	}
	p.Reach(Open)
	if err := get(patience); err != nil {
		t.Error("what was held does not go on:", err)
	}
	before, _ := p.Connections()
	p.Cut()
	if err := get(patience); err != nil {
		// The transport may have written to the connection before it noticed the reset.
		err = get(patience)
		if err != nil {
			t.Error("no new connection after a cut:", err)
		}
	}
	if after, standing := p.Connections(); after <= before || standing == 0 {
		t.Errorf("connections opened: %d before the cut, %d after, %d stand", before, after, standing)
	}
}

func TestCertificateCanChange(t *testing.T) {
	p, _ := start(t)
	get := func(config *rest.Config) error {
		_, err := clientOf(t, config).CoreV1().Namespaces().Get(within(t, patience), "default", metav1.GetOptions{})
		return err
	}
	old := p.Config()
	if err := p.Renew(time.Hour); err != nil {
		t.Fatal(err)
	}
	p.Cut()
	if err := get(old); err == nil {
		t.Error("who knows only the authority before connects nevertheless")
	}
	if err := get(p.Config()); err != nil {
		t.Error("who knows the new authority:", err)
	}
	if err := p.Renew(-time.Hour); err != nil {
		t.Fatal(err)
	}
	p.Cut()
	if err := get(p.Config()); err == nil {
		t.Error("an expired certificate is taken")
	}
}

func TestMiddlewares(t *testing.T) {
	p, clients := start(t)
	maps, ctx := clients.CoreV1().ConfigMaps("default"), within(t, patience)
	create := func(name string) error {
		_, err := maps.Create(ctx, configMap(name), metav1.CreateOptions{})
		return err
	}
	exists := func(name string) bool {
		_, err := maps.Get(ctx, name, metav1.GetOptions{})
		return err == nil
	}
	for _, c := range []struct {
		name, object string
		mw           Middleware
		fails        func(error) bool
		arrives      bool
	}{
		{"an answer replaces the server's", "answered",
			Answer(apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "answered", nil).Status(), 0), apierrors.IsForbidden, false},
		{"an aborted call does not arrive", "aborted", Abort, func(err error) bool { return err != nil }, false},
		{"an unanswered call arrives", "unanswered", Unanswered, func(err error) bool { return err != nil }, true},
		{"a slow call arrives", "slow", Slow(time.Millisecond), func(err error) bool { return err == nil }, true},
		{"calls that do not match pass", "passed", Only(func(c Call) bool { return c.Name == "other" }, Abort),
			func(err error) bool { return err == nil }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			remove := p.Use(c.name, Only(Writes, c.mw))
			defer remove()
			if err := create(c.object); !c.fails(err) {
				t.Error("the client was told:", err)
			}
			if got := exists(c.object); got != c.arrives {
				t.Errorf("it is there: %v, want %v", got, c.arrives)
			}
		})
	}
	if left := p.Using(); len(left) > 0 {
		t.Error("these middlewares were not removed:", left)
	}
	for _, call := range p.Log() {
		if call.Verb == "create" && call.Name == "unanswered" && (call.Upstream != http.StatusCreated || call.Status != 0) {
			t.Errorf("the log says of the unanswered call: upstream %d, client %d; want 201 and 0", call.Upstream, call.Status)
		}
	}
}
