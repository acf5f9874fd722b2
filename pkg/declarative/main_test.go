package declarative

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/kyma-project/lifecycle-manager/pkg/installer"
)

// environment is the API server that all tests of this package share. The first test that needs it starts it.
var environment envtest.Environment

var server = sync.OnceValues(func() (*rest.Config, error) {
	environment.BinaryAssetsDirectory = os.Getenv("KUBEBUILDER_ASSETS")
	environment.CRDInstallOptions.MaxTime = time.Minute
	environment.CRDs = []*apiextensionsv1.CustomResourceDefinition{widgetDefinition()}
	return environment.Start()
})

func TestMain(m *testing.M) {
	logf.SetLogger(zap.New(zap.WriteTo(os.Stderr)))
	code := m.Run()
	if environment.Config != nil {
		if err := environment.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stop the API server:", err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// widget requires a ConfigMap for each of its texts.
type widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec   widgetSpec   `json:"spec"`
	Status widgetStatus `json:"status,omitzero"`
}

type widgetSpec struct {
	Texts map[string]string `json:"texts,omitempty"`
}

type widgetStatus struct {
	Status `json:",inline"`

	Note string `json:"note,omitempty"`
}

func (w *widget) GetStatus() *Status { return &w.Status.Status }

func (w *widget) DeepCopyObject() runtime.Object {
	out := &widget{TypeMeta: w.TypeMeta, Spec: widgetSpec{Texts: maps.Clone(w.Spec.Texts)}, Status: w.Status}
	w.DeepCopyInto(&out.ObjectMeta)
	w.Status.DeepCopyInto(&out.Status.Status)
	return out
}

type widgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	Items []widget `json:"items"`
}

func (l *widgetList) DeepCopyObject() runtime.Object {
	out := &widgetList{TypeMeta: l.TypeMeta, ListMeta: *l.ListMeta.DeepCopy()}
	for i := range l.Items {
		out.Items = append(out.Items, *l.Items[i].DeepCopyObject().(*widget))
	}
	return out
}

var tests = schema.GroupVersion{Group: "tests.kyma-project.io", Version: "v1"}

func widgetDefinition() *apiextensionsv1.CustomResourceDefinition {
	open := &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: new(true)}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets." + tests.Group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: tests.Group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: "Widget", ListKind: "WidgetList", Plural: "widgets", Singular: "widget"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: tests.Version, Served: true, Storage: true,
				Schema:       &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: open},
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
			}},
		},
	}
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	_ = clientgoscheme.AddToScheme(scheme)
	scheme.AddKnownTypeWithName(tests.WithKind("Widget"), &widget{})
	scheme.AddKnownTypeWithName(tests.WithKind("WidgetList"), &widgetList{})
	metav1.AddToGroupVersion(scheme, tests)
	return scheme
}

// texts returns the installation that most tests use.
func texts(_ context.Context, w *widget) (installer.Installation, error) {
	var objects []*unstructured.Unstructured
	for _, name := range slices.Sorted(maps.Keys(w.Spec.Texts)) {
		objects = append(objects, configMap(name, w.Spec.Texts[name]))
	}
	return installer.Installation{Sources: []installer.Source{installer.Objects("texts", objects...)}}, nil
}

func configMap(name, text string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}, "data": map[string]any{"text": text},
	}}
}

// calls records the requests of a client.
type calls struct {
	mu   sync.Mutex
	list []string
}

func (c *calls) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		c.mu.Lock()
		c.list = append(c.list, request.Method+" "+request.URL.Path+"?"+request.URL.RawQuery)
		c.mu.Unlock()
		return next.RoundTrip(request)
	})
}

// since returns the calls after the first n.
func (c *calls) since(n int) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.list[n:])
}

func (c *calls) count(match ...string) int {
	n := 0
	for _, call := range c.since(0) {
		if !slices.ContainsFunc(match, func(part string) bool { return !strings.Contains(call, part) }) {
			n++
		}
	}
	return n
}

// writes counts the requests that are not reads.
func (c *calls) writes(part string) int { return c.count(part) - c.count("GET ", part) }

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// bench is a separate namespace with a running operator.
type bench struct {
	t         *testing.T
	client    client.Client
	config    *rest.Config
	namespace string
	calls     *calls
	operator  *Reconciler[*widget]
	stop      func()
}

// newBench starts an operator that installs texts, after edit has changed it.
func newBench(t *testing.T, edit func(*bench)) *bench {
	t.Helper()
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("KUBEBUILDER_ASSETS is not set: in CI, no test of the reconciler may be skipped")
		}
		t.Skip("no API server: KUBEBUILDER_ASSETS is not set; run \"make test\"")
	}
	config, err := server()
	must(t, err)
	b := &bench{t: t, calls: &calls{}, config: rest.CopyConfig(config)}
	b.config.QPS = -1
	b.client, err = client.New(b.config, client.Options{Scheme: newScheme()})
	must(t, err)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "bench-"}}
	must(t, b.client.Create(t.Context(), namespace))
	b.namespace = namespace.Name
	b.operator = &Reconciler[*widget]{Prototype: &widget{}, Installation: texts, Name: "widget-" + namespace.Name}
	if edit != nil {
		edit(b)
	}
	b.start()
	return b
}

func (b *bench) start() {
	b.t.Helper()
	config := rest.CopyConfig(b.config)
	config.Wrap(b.calls.wrap)
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: newScheme(), Metrics: metricsserver.Options{BindAddress: "0"},
		Cache: cache.Options{DefaultNamespaces: map[string]cache.Config{b.namespace: {}}},
	})
	must(b.t, err)
	must(b.t, b.operator.SetupWithManager(manager))
	ctx, cancel := context.WithCancel(context.WithoutCancel(b.t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	b.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			b.t.Error("the manager ended with", err)
		}
	})
	b.t.Cleanup(b.stop)
}

func (b *bench) create(name string, texts map[string]string) *widget {
	b.t.Helper()
	w := &widget{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: name}, Spec: widgetSpec{Texts: texts}}
	must(b.t, b.client.Create(b.t.Context(), w))
	return w
}

// change edits the latest state of a widget.
func (b *bench) change(w *widget, edit func()) {
	b.t.Helper()
	must(b.t, b.client.Get(b.t.Context(), client.ObjectKeyFromObject(w), w))
	before := w.DeepCopyObject().(client.Object)
	edit()
	must(b.t, b.client.Patch(b.t.Context(), w, client.MergeFrom(before)))
}

// eventually waits until said returns "".
func (b *bench) eventually(said func() string) {
	b.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(2 * time.Minute); ; {
		last := said()
		if last == "" {
			return
		}
		select {
		case <-tick.C:
		case <-end:
			b.t.Fatal(last)
		}
	}
}

// becomes waits for a state of the current generation, and for its reason if one is given.
func (b *bench) becomes(w *widget, state State, reason string) {
	b.t.Helper()
	b.eventually(func() string {
		if err := b.client.Get(b.t.Context(), client.ObjectKeyFromObject(w), w); err != nil {
			return err.Error()
		}
		status := &w.Status.Status
		if status.State == state && status.ObservedGeneration == w.Generation && (reason == "" || status.Conditions[0].Reason == reason) {
			return ""
		}
		return fmt.Sprintf("the status is %+v, want %s %s", *status, state, reason)
	})
}

func (b *bench) gone(object client.Object) {
	b.t.Helper()
	b.eventually(func() string {
		err := b.client.Get(b.t.Context(), client.ObjectKeyFromObject(object), object)
		if client.IgnoreNotFound(err) == nil && err != nil {
			return ""
		}
		return fmt.Sprintf("%T %s is still there (%v)", object, object.GetName(), err)
	})
}

// text returns the content of the ConfigMap; "" when there is none.
func (b *bench) text(name string) string {
	found := &corev1.ConfigMap{}
	if err := b.client.Get(b.t.Context(), client.ObjectKey{Namespace: b.namespace, Name: name}, found); err != nil {
		return ""
	}
	return found.Data["text"]
}

// rests waits until there are no requests for a while, and then fails for any request in another while.
func (b *bench) rests() {
	b.t.Helper()
	const settle, quiet = 2500 * time.Millisecond, 2 * time.Second // settling: longer than the second truce of a fight
	for end := time.Now().Add(time.Minute); ; {
		n := len(b.calls.since(0))
		<-time.After(settle)
		if len(b.calls.since(n)) == 0 {
			break
		}
		if time.Now().After(end) {
			b.t.Fatalf("the operator does not come to rest: %v", b.calls.since(n))
		}
	}
	n := len(b.calls.since(0))
	<-time.After(quiet)
	if more := b.calls.since(n); len(more) > 0 {
		b.t.Errorf("at rest %d calls were made: %v", len(more), more)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
