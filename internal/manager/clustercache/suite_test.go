package clustercache

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// cluster is the API server that the integration tests share; nil without assets.
var cluster *envtest.Environment

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	echoGrace, echoLimit = 300*time.Millisecond, 5*time.Second // a busy machine takes its time between an answer and what we learn of it
	pendingDeleteTimeout = time.Minute                         // and between a deletion and the event of it
	if os.Getenv("KUBEBUILDER_ASSETS") != "" {
		cluster = &envtest.Environment{}
		if _, err := cluster.Start(); err != nil {
			fmt.Fprintln(os.Stderr, "the API server for the tests does not start:", err)
			os.Exit(1)
		}
	}
	code := m.Run()
	if cluster != nil {
		if err := cluster.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "the API server of the tests does not stop:", err)
		}
	}
	os.Exit(code)
}

// realCluster returns the API server, or skips the test.
func realCluster(t *testing.T) *rest.Config {
	t.Helper()
	if os.Getenv("KUBEBUILDER_ASSETS") == "" { // asked again, because go test does not see what TestMain asks, and would cache the skip
		if os.Getenv("CI") != "" {
			t.Fatal("KUBEBUILDER_ASSETS is not set: in CI, no test of the fleet may be skipped")
		}
		t.Skip("KUBEBUILDER_ASSETS is not set: no API server to test against; set it to the output of hack/controlplane/build.sh")
	}
	return cluster.Config
}

const hubNamespace = "kcp-system"

// fakeSecrets is a fake cache of Secrets.
type fakeSecrets struct {
	client.Reader
	mu      sync.Mutex
	secrets map[string]*corev1.Secret
	err     error
}

func (s *fakeSecrets) put(name, kyma string, kubeconfig []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.secrets == nil {
		s.secrets = map[string]*corev1.Secret{}
	}
	secret := &corev1.Secret{Data: map[string][]byte{v1beta2.AccessSecretKey: kubeconfig}}
	secret.Namespace, secret.Name = hubNamespace, name
	secret.Labels = map[string]string{v1beta2.LabelKymaName: kyma}
	s.secrets[name] = secret
}

func (s *fakeSecrets) remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.secrets, name)
}

func (s *fakeSecrets) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var o client.ListOptions
	o.ApplyOptions(opts)
	for _, secret := range s.secrets {
		byLabel := o.LabelSelector == nil || o.LabelSelector.Matches(labelSet(secret.Labels))
		byField := o.FieldSelector == nil || slices.Contains(IndexSecret(secret), o.FieldSelector.Requirements()[0].Value)
		if byLabel && byField && secret.Namespace == o.Namespace {
			list.(*corev1.SecretList).Items = append(list.(*corev1.SecretList).Items, *secret)
		}
	}
	return s.err
}

type labelSet map[string]string

func (l labelSet) Has(key string) bool              { _, ok := l[key]; return ok }
func (l labelSet) Get(key string) string            { return l[key] }
func (l labelSet) Lookup(key string) (string, bool) { v, ok := l[key]; return v, ok }

// kubeconfigOf renders a client configuration as a kubeconfig.
func kubeconfigOf(t *testing.T, cfg *rest.Config) []byte {
	t.Helper()
	host := cfg.Host
	if !strings.Contains(host, "://") {
		host = "https://" + host
	}
	file := clientcmdapi.NewConfig()
	file.Clusters["c"] = &clientcmdapi.Cluster{Server: host, CertificateAuthorityData: cfg.CAData}
	file.AuthInfos["u"] = &clientcmdapi.AuthInfo{
		Token: cfg.BearerToken, ClientCertificateData: cfg.CertData, ClientKeyData: cfg.KeyData,
	}
	file.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	file.CurrentContext = "x"
	data, err := clientcmd.Write(*file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// calls records the requests on the wire.
type calls struct {
	mu   sync.Mutex
	made []string
}

func (c *calls) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		line := req.Method + " " + req.URL.Path
		if req.URL.Query().Get("watch") != "" {
			line = "WATCH " + req.URL.Path
		}
		c.mu.Lock()
		c.made = append(c.made, line)
		c.mu.Unlock()
		return next.RoundTrip(req)
	})
}

func (c *calls) all() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.made)
}

func (c *calls) count(line string) int {
	n := 0
	for _, made := range c.all() {
		if made == line {
			n++
		}
	}
	return n
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// bench is a cluster cache under test.
type bench struct {
	*Clusters
	secrets *fakeSecrets
	calls   *calls
	queue   workqueue.TypedRateLimitingInterface[reconcile.Request]

	mu    sync.Mutex
	wakes []types.NamespacedName
	stop  func()
}

func newBench(t *testing.T, change func(*Config)) *bench {
	t.Helper()
	b := &bench{secrets: &fakeSecrets{}, calls: &calls{}}
	cfg := Config{Hub: &rest.Config{UserAgent: "fleet-test"}, Secrets: b.secrets, WrapTransport: b.calls.wrap}
	if change != nil {
		change(&cfg)
	}
	b.Clusters = New(cfg)
	ctx, cancel := context.WithCancel(t.Context())
	b.queue = workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	if err := b.Source(Manifests).Start(ctx, b.queue); err != nil {
		t.Fatal(err)
	}
	ended, drained := make(chan struct{}), make(chan struct{})
	go func() { defer close(ended); _ = b.Start(ctx) }()
	go func() { defer close(drained); b.drainQueue() }()
	b.stop = sync.OnceFunc(func() {
		cancel()
		<-ended
		b.queue.ShutDown()
		<-drained
	})
	t.Cleanup(b.stop)
	return b
}

func (b *bench) drainQueue() {
	for {
		request, closed := b.queue.Get()
		if closed {
			return
		}
		b.mu.Lock()
		b.wakes = append(b.wakes, request.NamespacedName)
		b.mu.Unlock()
		b.queue.Done(request)
	}
}

// woken returns the owners enqueued so far, and forgets them.
func (b *bench) woken() []types.NamespacedName {
	b.mu.Lock()
	defer b.mu.Unlock()
	woken := b.wakes
	b.wakes = nil
	return woken
}

// wantWake waits until an owner is enqueued.
func (b *bench) wantWake(t *testing.T, owner types.NamespacedName, why string) {
	t.Helper()
	eventually(t, "wake of "+owner.String()+": "+why, func() bool { return slices.Contains(b.woken(), owner) })
}

// wantQuiet checks that no owner is enqueued for a moment.
func (b *bench) wantQuiet(t *testing.T, why string) {
	t.Helper()
	<-time.After(2*echoGrace + 200*time.Millisecond)
	if woken := b.woken(); len(woken) > 0 {
		t.Fatalf("woke %v, want no one: %s", woken, why)
	}
}

func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	eventuallyWithin(t, 45*time.Second, what, done)
}

func eventuallyWithin(t *testing.T, limit time.Duration, what string, done func() bool) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for !done() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", limit, what)
		}
		<-time.After(5 * time.Millisecond)
	}
}

// remote returns a target whose runtime is the given API server.
func (b *bench) remote(t *testing.T, kyma string, cfg *rest.Config) Target {
	t.Helper()
	b.secrets.put("access-"+kyma, kyma, kubeconfigOf(t, cfg))
	return Target{Namespace: hubNamespace, Name: kyma}
}

func (b *bench) mustGet(t *testing.T, target Target) *Runtime {
	t.Helper()
	r, err := b.Get(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// trackAll tracks kinds for an owner and waits until they are known.
func (b *bench) trackAll(t *testing.T, r *Runtime, owner types.NamespacedName, kinds ...runtimes.Interest) {
	t.Helper()
	r.Track(owner, kinds)
	b.wantWake(t, owner, "its kinds are known")
}

var (
	configMaps  = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	deployments = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	namespaces  = schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}
	definitions = schema.GroupVersionKind{Group: inventory.CRDKind.Group, Version: "v1", Kind: inventory.CRDKind.Kind}
	secrets     = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
	services    = schema.GroupVersionKind{Version: "v1", Kind: "Service"}
)

func ownerNamed(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: hubNamespace, Name: name}
}

// newObject returns an object of a module.
func newObject(gvk schema.GroupVersionKind, namespace, name string, owner types.NamespacedName) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetGroupVersionKind(gvk)
	o.SetNamespace(namespace)
	o.SetName(name)
	o.SetLabels(map[string]string{v1beta2.LabelManagedBy: v1beta2.ManagedByKyma})
	o.SetAnnotations(map[string]string{v1beta2.AnnotationOwnedBy: owner.String()})
	return o
}

func idOf(o *unstructured.Unstructured) inventory.ID { return inventory.IDOf(o) }

// at returns the client for an object.
func at(t *testing.T, r *Runtime, client dynamic.Interface, o *unstructured.Unstructured) dynamic.ResourceInterface {
	t.Helper()
	resource, err := r.Cluster().Resource(t.Context(), o.GroupVersionKind())
	if err != nil {
		t.Fatal(err)
	}
	if resource.Namespaced {
		return client.Resource(resource.GroupVersionResource).Namespace(o.GetNamespace())
	}
	return client.Resource(resource.GroupVersionResource)
}

// own writes an object as pkg/apply does: through the runtime's client, and reports the result.
func own(t *testing.T, r *Runtime, o *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	made, err := at(t, r, r.Cluster().Dynamic, o).Create(t.Context(), o, metav1.CreateOptions{FieldManager: v1beta2.FieldManagerModule})
	if err != nil {
		t.Fatal(err)
	}
	r.Cluster().Learn(made)
	return made
}

// stranger is another client of the same API server.
func stranger(t *testing.T, cfg *rest.Config) dynamic.Interface {
	t.Helper()
	client, err := dynamic.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// newNamespace creates a namespace for one test, bypassing the cluster cache.
func newNamespace(t *testing.T, client dynamic.Interface, name string) string {
	t.Helper()
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetGroupVersionKind(namespaces)
	o.SetGenerateName(name + "-")
	made, err := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).
		Create(t.Context(), o, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return made.GetName()
}

// open counts the connections of both pools.
func (c *connection) open() int { return c.short.sockets.count() + c.streams.sockets.count() }

// labelled gives an object the label of owned objects, which the stub's responses leave out.
func labelled(o *unstructured.Unstructured) *unstructured.Unstructured {
	o.SetLabels(map[string]string{v1beta2.LabelManagedBy: v1beta2.ManagedByKyma})
	return o
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
