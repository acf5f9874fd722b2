package setup

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

// stale returns lists as they were when it was frozen.
type stale struct {
	client.Reader
	mu     sync.Mutex
	frozen map[string]client.ObjectList
	looks  int
}

func (s *stale) List(ctx context.Context, list client.ObjectList, _ ...client.ListOption) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks++
	switch into := list.(type) {
	case *v1beta2.KymaList:
		if old, ok := s.frozen["kymas"].(*v1beta2.KymaList); ok {
			old.DeepCopyInto(into)
			return nil
		}
	case *v1beta2.ManifestList:
		if old, ok := s.frozen["manifests"].(*v1beta2.ManifestList); ok {
			old.DeepCopyInto(into)
			return nil
		}
	}
	return s.Reader.List(ctx, list, client.HasLabels(nil))
}

// freeze keeps the lists as they are now.
func (s *stale) freeze(t *testing.T) {
	t.Helper()
	kymas, manifests := &v1beta2.KymaList{}, &v1beta2.ManifestList{}
	for _, list := range []client.ObjectList{kymas, manifests} {
		if err := s.Reader.List(t.Context(), list); err != nil {
			t.Fatal(err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frozen = map[string]client.ObjectList{"kymas": kymas, "manifests": manifests}
}

func (s *stale) thaw() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frozen = nil
}

func TestView_WhoTakesOverWaitsUntilHisCacheIsNotOlderThanTheHub(t *testing.T) {
	apiserver.Need(t)
	hub := apiserver.Client(t)
	place := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "default", Name: name} }
	kyma := &v1beta2.Kyma{ObjectMeta: place("taken-over"), Spec: v1beta2.KymaSpec{Channel: "regular"}}
	manifest := func(name string) *v1beta2.Manifest {
		made := testkit.Manifest(name, v1beta2.ImageSpec{Repo: "registry.example.com", Name: "m", Ref: "sha256:0", Type: v1beta2.RefTypeOCI})
		made.Namespace, made.Labels = "default", map[string]string{v1beta2.LabelKymaName: kyma.Name}
		return made
	}
	secret := &corev1.Secret{ObjectMeta: place("access")}
	secret.Labels = map[string]string{v1beta2.LabelKymaName: kyma.Name}
	for _, object := range []client.Object{kyma, manifest("of-it"), secret} {
		if err := hub.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	bucket := sharding.Bucket(kyma.Namespace, kyma.Name)
	mine := func(other int) bool { return other == bucket }
	cached := &stale{Reader: hub}
	v := &view{cached: cached, live: hub, namespace: "default"}
	if err := v.fresh(t.Context(), mine); err != nil {
		t.Fatalf("a cache that shows everything is not fresh: %v", err)
	}
	for name, change := range map[string]func() error{
		"a Kyma was changed": func() error {
			patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"changed":"yes"}}}`))
			return hub.Patch(context.Background(), kyma, patch)
		},
		"a Manifest was created": func() error {
			return hub.Create(context.Background(), manifest("made-meanwhile"))
		},
		"a Manifest is gone": func() error {
			gone := manifest("gone-meanwhile")
			if err := hub.Create(context.Background(), gone); err != nil {
				return err
			}
			cached.freeze(t)
			return hub.Delete(context.Background(), gone)
		},
	} {
		t.Run(name, func(t *testing.T) {
			cached.freeze(t)
			if err := change(); err != nil {
				t.Fatal(err)
			}
			short, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if err := v.fresh(short, mine); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("with an old cache: %v", err)
			}
			if err := v.fresh(t.Context(), func(other int) bool { return other == (bucket+1)%sharding.Buckets }); err != nil {
				t.Errorf("what was changed in another bucket is waited for: %v", err)
			}
			answer := make(chan error, 1)
			go func() { answer <- v.fresh(t.Context(), mine) }()
			cached.thaw()
			if err := <-answer; err != nil {
				t.Errorf("after the cache has caught up: %v", err)
			}
		})
	}
}
