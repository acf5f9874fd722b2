package manifest

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/flowcontrol"
	"sigs.k8s.io/controller-runtime/pkg/client"
	clientfake "sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
	"github.com/kyma-project/lifecycle-manager/pkg/health"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

var (
	testTime = metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))

	deploymentID = inventory.ID{Group: "apps", Kind: "Deployment", Namespace: "default", Name: "operator"}
	accountID    = inventory.ID{Kind: "ServiceAccount", Namespace: "default", Name: "operator"}
)

// cluster is a Runtime with the state that a test sets.
type cluster struct {
	live     map[inventory.ID]inventory.Live
	health   map[inventory.ID]health.Result
	crs      []runtimes.ModuleCRStatus
	unsynced bool // nothing is known of custom resources
	scopes   map[string]bool
	versions map[string]string // in which kinds are served; all are when it names none
	hidden   *runtimes.Problem
	dynamic  dynamic.Interface
	objects  map[inventory.ID]*unstructured.Unstructured

	reported []error
	tracked  []runtimes.Interest
	again    []string
}

func (c *cluster) Cluster() *apply.Cluster {
	return &apply.Cluster{Dynamic: c.dynamic, Resource: func(_ context.Context, gvk schema.GroupVersionKind) (apply.Resource, error) {
		namespaced, known := c.scopes[gvk.Kind]
		if !known {
			return apply.Resource{}, &apply.UnknownKindError{GroupVersionKind: gvk}
		}
		if version := c.versions[gvk.Kind]; version != "" && version != gvk.Version {
			return apply.Resource{}, &apply.UnknownKindError{GroupVersionKind: gvk, Served: []string{version}}
		}
		plural := map[string]string{"ConfigMap": "configmaps", "Sample": "samples", "Job": "jobs", "Secret": "secrets", "Namespace": "namespaces"}[gvk.Kind]
		return apply.Resource{GroupVersionResource: gvk.GroupVersion().WithResource(plural), Namespaced: namespaced}, nil
	}}
}

func (c *cluster) Own() *apply.Cluster { return c.Cluster() }

func (c *cluster) Track(_ types.NamespacedName, interests []runtimes.Interest) { c.tracked = interests }
func (c *cluster) Untrack(types.NamespacedName)                                {}
func (c *cluster) Hidden(types.NamespacedName) *runtimes.Problem               { return c.hidden }
func (c *cluster) Live(id inventory.ID) inventory.Live                         { return c.live[id] }
func (c *cluster) Once(_ context.Context, _ string, do func() error) error     { return do() }
func (c *cluster) ResetOnce(key string)                                        { c.again = append(c.again, key) }
func (c *cluster) Report(err error)                                            { c.reported = append(c.reported, err) }

func (c *cluster) Capabilities(context.Context) (runtimes.Capabilities, error) {
	return runtimes.Capabilities{KubeVersion: "v1.36.3"}, nil
}

func (c *cluster) Kept(inventory.ID) bool { return false }

func (c *cluster) Object(id inventory.ID) (*unstructured.Unstructured, bool) {
	object, kept := c.objects[id]
	return object, kept
}

func (c *cluster) Health(id inventory.ID) (health.Result, bool) {
	result, kept := c.health[id]
	return result, kept
}

func (c *cluster) ModuleCRs(schema.GroupKind) ([]runtimes.ModuleCRStatus, bool) {
	return c.crs, !c.unsynced
}

func (c *cluster) Namespaced(gvk schema.GroupVersionKind) (namespaced, known bool) {
	namespaced, known = c.scopes[gvk.Kind]
	return namespaced, known
}

// contents is a Content that has what a test puts in.
type contents struct {
	parts   []Part
	current map[string]string
	asked   atomic.Int64
	broken  string // a Manifest whose login is refused
	// references are what the specs name, by Manifest.
	references map[string]string
	// policy names the requirement for Manifests, and signed is its verdict; judged counts the calls.
	policy string
	signed Signed
	judged int
	// interrupt, when set, is called when the sources are requested; its result is returned.
	interrupt func() error
}

func (c *contents) Policy(*v1beta2.Manifest) string { return c.policy }

func (c *contents) Judge(context.Context, *v1beta2.Manifest, func(context.Context) (runtimes.Capabilities, error)) Signed {
	c.judged++
	return c.signed
}

func (c *contents) Sources(m *v1beta2.Manifest) ([]v1beta2.ResolvedSource, error) {
	if c.interrupt != nil {
		return nil, c.interrupt()
	}
	reference := cmp.Or(c.references[m.Name], "registry.example.com/components/sample@"+digest)
	return []v1beta2.ResolvedSource{{Name: m.Spec.Install.Name, Reference: reference}}, nil
}

func (c *contents) Parts(context.Context, *v1beta2.Manifest, func(context.Context) (runtimes.Capabilities, error)) ([]Part, error) {
	return c.parts, nil
}

func (c *contents) Current(_ context.Context, m *v1beta2.Manifest, name string) (string, error) {
	c.asked.Add(1)
	if c.broken == m.Name {
		return "", errors.New("the login is refused")
	}
	return c.current[m.Name+"/"+name], nil
}

func (c *contents) URL(*v1beta2.Manifest, string) string { return "" }

// seen returns what is known of an object that is as it was recorded.
func seen(entry inventory.Entry) inventory.Live {
	return inventory.Live{Presence: inventory.Present, UID: entry.UID, Fields: entry.Fields}
}

func entryOf(id inventory.ID) inventory.Entry {
	return inventory.Entry{ID: id, Version: "v1", UID: types.UID("uid-" + id.Name), Hash: "hash", Fields: "a:fields"}
}

// newManifest returns a stand-alone Manifest.
func newManifest(change ...func(*v1beta2.Manifest)) *v1beta2.Manifest {
	manifest := &v1beta2.Manifest{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "kcp-system", Name: "sample", UID: "uid-1", Generation: 3, Finalizers: []string{v1beta2.FinalizerManifest},
		},
		Spec: v1beta2.ManifestSpec{Install: v1beta2.InstallInfo{
			Name:   "raw-manifest",
			Source: runtime.RawExtension{Raw: []byte(`{"repo":"registry.example.com/components","name":"sample","ref":"` + digest + `","type":"oci-ref"}`)},
		}},
	}
	for _, c := range change {
		c(manifest)
	}
	return manifest
}

func ofKyma(name, uid string) func(*v1beta2.Manifest) {
	return func(m *v1beta2.Manifest) {
		yes := true
		m.OwnerReferences = []metav1.OwnerReference{{
			APIVersion: v1beta2.GroupVersion.String(), Kind: "Kyma", Name: name, UID: types.UID(uid), Controller: &yes,
		}}
		m.Labels = map[string]string{v1beta2.LabelKymaName: name}
	}
}

// installed reports that the spec of that generation was ready once.
func installed(generation int64) func(*v1beta2.Manifest) {
	return func(m *v1beta2.Manifest) {
		conditions.Set(&m.Status.Conditions, v1beta2.ConditionInstallation, metav1.ConditionTrue, v1beta2.ReasonReady,
			v1beta2.MessageInstallationReady, generation, testTime)
	}
}

func withResource(policy v1beta2.CustomResourcePolicy) func(*v1beta2.Manifest) {
	return func(m *v1beta2.Manifest) {
		m.Spec.CustomResourcePolicy = policy
		m.Spec.Resource = &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "example.com/v1", "kind": "Sample", "metadata": map[string]any{"name": "default", "namespace": "default"},
		}}
	}
}

func scheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1beta2.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// newReconciler works on a hub that holds the objects.
func newReconciler(t *testing.T, objects ...client.Object) *Reconciler {
	t.Helper()
	hub := clientfake.NewClientBuilder().WithScheme(scheme(t)).WithObjects(objects...).WithStatusSubresource(&v1beta2.Manifest{}).
		WithIndex(&v1beta2.Manifest{}, indexKyma, func(o client.Object) []string { return []string{o.GetLabels()[v1beta2.LabelKymaName]} }).
		Build()
	return &Reconciler{
		Client: hub, Reader: hub, Content: &contents{}, Shard: sharding.All{}, Events: &events.FakeRecorder{},
		InstallsLocally: func(namespace, account string) bool { return namespace == "kcp-system" || account != "" },
		Backoff:         flowcontrol.NewBackOff(time.Second, time.Minute), Now: func() metav1.Time { return testTime },
	}
}

// stored reads a Manifest as the hub has it.
func stored(t *testing.T, r *Reconciler, manifest *v1beta2.Manifest) *v1beta2.Manifest {
	t.Helper()
	found := &v1beta2.Manifest{}
	if err := r.Client.Get(t.Context(), client.ObjectKeyFromObject(manifest), found); err != nil {
		t.Fatal(err)
	}
	return found
}

// settledWork returns a Manifest that is installed and in order.
func settledWork(change ...func(*v1beta2.Manifest)) (*scope, *cluster) {
	manifest := newManifest(change...)
	manifest.Status.ObservedGeneration = manifest.Generation
	manifest.Status.State = v1beta2.StateReady
	w := newScope(manifest, testTime)
	w.sources = []v1beta2.ResolvedSource{{Name: "raw-manifest", Reference: "registry.example.com/components/sample@" + digest}}
	w.recorded = []inventory.Entry{entryOf(deploymentID), entryOf(accountID)}
	known := &cluster{
		live:   map[inventory.ID]inventory.Live{deploymentID: seen(w.recorded[0]), accountID: seen(w.recorded[1])},
		health: map[inventory.ID]health.Result{deploymentID: {Status: health.Ready}},
	}
	w.runtime = known
	w.manifest.Status.Resolved = []v1beta2.ResolvedSource{{Name: "raw-manifest", Reference: w.sources[0].Reference, Digest: digest}}
	w.setCondition(v1beta2.ConditionResources, metav1.ConditionTrue, v1beta2.ReasonParsed, v1beta2.MessageResourcesParsed)
	return w, known
}
