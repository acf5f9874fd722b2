package manifest

import (
	"context"
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// defaultCR returns the custom resource of withResource in a cluster.
func defaultCR(change ...func(*unstructured.Unstructured)) *unstructured.Unstructured {
	made := object("example.com/v1", "Sample", "default")
	made.SetNamespace("default")
	made.SetUID("uid-cr")
	for _, c := range change {
		c(made)
	}
	return made
}

func TestModuleCRHeir_KeepsDefaultCRForAnotherManifest(t *testing.T) {
	byPolicy := withResource(v1beta2.CustomResourcePolicyCreateAndDelete)
	for name, test := range map[string]struct {
		other  func(*v1beta2.Manifest)
		stays  bool
		owners string
	}{
		"a module that was renamed keeps its custom resource":       {byPolicy, true, "uid-kyma"},
		"one that is being deleted itself keeps nothing":            {func(m *v1beta2.Manifest) { byPolicy(m); m.DeletionTimestamp = &testTime }, false, "uid-kyma"},
		"one that does not want the custom resource keeps nothing":  {withResource(v1beta2.CustomResourcePolicyIgnore), false, "uid-kyma"},
		"one with a custom resource of another name keeps its own":  {func(m *v1beta2.Manifest) { byPolicy(m); m.Spec.Resource.SetName("other") }, false, "uid-kyma"},
		"one of another Kyma has another runtime, or is no sibling": {byPolicy, false, "uid-other"},
	} {
		t.Run(name, func(t *testing.T) {
			mine := newManifest(ofKyma("kyma", "uid-kyma"), byPolicy)
			other := newManifest(ofKyma("kyma", test.owners), test.other)
			other.Name, other.UID = "renamed", "uid-2"
			users := object("example.com/v1", "Sample", "mine")
			users.SetNamespace("default")
			c := filled(defaultCR())
			if test.stays {
				c = filled(defaultCR(), users) // which the other one serves from now on
			}
			w := newScope(mine, testTime)
			w.runtime = c
			if err := newReconciler(t, mine, other).removeModuleCRs(t.Context(), w); err != nil {
				t.Fatalf("waits or fails: %v", err)
			}
			_, err := c.dynamic.Resource(samplesResource).Namespace("default").Get(t.Context(), "default", metav1.GetOptions{})
			if stays := !apierrors.IsNotFound(err); stays != test.stays {
				t.Errorf("there: %t, error %v", stays, err)
			}
		})
	}
}

func TestCreateModuleCR_RecreatesDefaultCRAfterItsDeletion(t *testing.T) {
	terminating := defaultCR(func(cr *unstructured.Unstructured) {
		cr.SetDeletionTimestamp(&testTime)
		cr.SetFinalizers([]string{"example.com/cleanup"})
	})
	c := filled(terminating)
	w := newScope(newManifest(withResource(v1beta2.CustomResourcePolicyCreateAndDelete)), testTime)
	w.runtime = c
	r := newReconciler(t, w.manifest)
	problem := problemOf(r.createModuleCR(t.Context(), w))
	if problem == nil || !problem.Passing || problem.Retry == 0 || w.moduleCRCreated() {
		t.Fatalf("problem %+v, created %t", problem, w.moduleCRCreated())
	}
	samples := c.dynamic.Resource(samplesResource).Namespace("default")
	if err := samples.Delete(t.Context(), "default", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := r.createModuleCR(t.Context(), w); err != nil || !w.moduleCRCreated() {
		t.Fatalf("created %t, error %v", w.moduleCRCreated(), err)
	}
	made, err := samples.Get(t.Context(), "default", metav1.GetOptions{})
	if err != nil || made.GetDeletionTimestamp() != nil {
		t.Errorf("made %v, error %v", made, err)
	}
}

// sharing are two Manifests of one Kyma that list an object, which carries the mark of the first.
type sharing struct {
	*testing.T
	r        *Reconciler
	c        *cluster
	one, two *scope
	entries  []inventory.Entry
}

func share(t *testing.T) *sharing {
	t.Helper()
	s := &sharing{T: t}
	first, second := newManifest(ofKyma("kyma", "uid-kyma")), newManifest(ofKyma("kyma", "uid-kyma"))
	second.Name, second.UID = "second", "uid-2"
	_, s.entries = configMaps("shared")
	first.Status.Synced, second.Status.Synced = toStatus(s.entries), toStatus(s.entries)
	object := marked("shared", "kcp-system/sample")
	object.SetUID(s.entries[0].UID)
	s.c = filled(object)
	s.r = newReconciler(t, first, second)
	s.one, s.two = s.work(first), s.work(second)
	return s
}

// work returns a new pass over a Manifest.
func (s *sharing) work(of *v1beta2.Manifest) *scope {
	s.Helper()
	w := newScope(stored(s.T, s.r, of), testTime)
	w.runtime, w.recorded = s.c, fromStatus(w.manifest.Status.Synced)
	w.stored = w.recorded
	return w
}

// drops is a pass that prunes the object, up to its last write.
func (s *sharing) drops(w *scope) {
	s.Helper()
	if err := s.r.prune(s.Context(), w, s.entries, s.r.options(s.Context(), w)); err != nil {
		s.Fatal(err)
	}
	if len(w.recorded) != 0 {
		s.Errorf("%s still lists %v", w.key.Name, w.recorded)
	}
}

func (s *sharing) flush(works ...*scope) {
	s.Helper()
	for _, w := range works {
		if err := s.r.flush(s.Context(), w); err != nil {
			s.Fatal(err)
		}
	}
}

func (s *sharing) owner() string {
	s.Helper()
	live, err := s.c.dynamic.Resource(mapsResource).Namespace("default").Get(s.Context(), "shared", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "gone"
	}
	if err != nil {
		s.Fatal(err)
	}
	return live.GetAnnotations()[v1beta2.AnnotationOwnedBy]
}

func TestSharedObject_IsHandedOverWhenOneDropsIt(t *testing.T) {
	s := share(t)
	s.drops(s.one)
	if owner := s.owner(); owner != "kcp-system/second" {
		t.Errorf("the object is %s's, not the one's that still lists it", owner)
	}
	s.flush(s.one)
	s.drops(s.work(s.two.manifest))
	if owner := s.owner(); owner != "gone" {
		t.Errorf("no Manifest lists the object of %s", owner)
	}
}

func TestSharedObject_IsDeletedWhenTwoDropItAtOnce(t *testing.T) {
	for name, interleaved := range map[string]func(*sharing){
		"the one looked for a successor before the other said that it drops it, and hands it over after that one looked": func(s *sharing) {
			s.one.runtime = &handing{cluster: s.c, before: func() { s.drops(s.two) }}
			s.drops(s.one)
			s.flush(s.two, s.one)
		},
		"the one looks for a successor after the other looked and before that one has written it down": func(s *sharing) {
			s.drops(s.two)
			s.drops(s.one)
			s.flush(s.one, s.two)
		},
		"the one died after it had handed the object over, and the other dropped it before": func(s *sharing) {
			if outcome := s.c.Cluster().Delete(s.Context(), s.entries, nil, s.r.options(s.Context(), s.one))[0]; outcome.Successor == "" {
				s.Fatalf("was not handed over: %+v", outcome)
			}
			second := s.two.manifest
			second.Status.Synced = nil
			if err := s.r.Client.Status().Update(s.Context(), second); err != nil {
				s.Fatal(err)
			}
			s.drops(s.work(s.one.manifest))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := share(t)
			interleaved(s)
			if owner := s.owner(); owner != "gone" {
				t.Errorf("no Manifest lists the object of %s", owner)
			}
		})
	}
}

// A Manifest that cannot be read may list the object: it is tried again.
func TestSharedObject_RetriesUnreadableClaim(t *testing.T) {
	s := share(t)
	s.r.Reader = unreadableHub{s.r.Client}
	err := s.r.prune(s.Context(), s.one, s.entries, s.r.options(s.Context(), s.one))
	if problemOf(err) == nil || len(s.one.recorded) != 1 {
		t.Errorf("error %v, recorded %v", err, s.one.recorded)
	}
}

type unreadableHub struct{ client.Reader }

func (unreadableHub) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return errors.New("no answer")
}

// handing is a cluster in which something happens just before an object is handed over.
type handing struct {
	*cluster
	before func()
}

func (h *handing) Cluster() *apply.Cluster {
	made := h.cluster.Cluster()
	made.Dynamic = handingClient{made.Dynamic, h}
	return made
}

type handingClient struct {
	dynamic.Interface
	h *handing
}

func (c handingClient) Resource(resource schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	return handingKind{c.Interface.Resource(resource), c.h}
}

type handingKind struct {
	dynamic.NamespaceableResourceInterface
	h *handing
}

func (k handingKind) Namespace(namespace string) dynamic.ResourceInterface {
	return handingObjects{k.NamespaceableResourceInterface.Namespace(namespace), k.h}
}

type handingObjects struct {
	dynamic.ResourceInterface
	h *handing
}

func (o handingObjects) Patch(
	ctx context.Context, name string, kind types.PatchType, data []byte, options metav1.PatchOptions, sub ...string,
) (*unstructured.Unstructured, error) {
	if before := o.h.before; before != nil {
		o.h.before = nil
		before()
	}
	return o.ResourceInterface.Patch(ctx, name, kind, data, options, sub...)
}
