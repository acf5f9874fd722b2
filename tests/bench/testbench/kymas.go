package testbench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// creators is how many objects are created at once. The hub, not they, is the limit.
const creators = 16

// Batch is what was created together.
type Batch struct {
	// Names of the Kymas, in the order of their runtimes.
	Names []string
	// Begun is when the creation of each Kyma was sent; First is the first of them.
	Begun map[string]time.Time
	First time.Time
}

// KymaName returns the Kyma of the runtime with that number.
func KymaName(i int) string { return fmt.Sprintf("kyma-%05d", i) }

// NewKyma returns a Kyma on channel regular with modules.
func NewKyma(name string, modules ...string) *v1beta2.Kyma {
	kyma := &v1beta2.Kyma{
		ObjectMeta: metav1.ObjectMeta{Namespace: v1beta2.DefaultNamespace, Name: name},
		Spec:       v1beta2.KymaSpec{Channel: v1beta2.DefaultChannel},
	}
	for _, module := range modules {
		kyma.Spec.Modules = append(kyma.Spec.Modules, v1beta2.Module{Name: module})
	}
	return kyma
}

// GiveAccess creates the access Secrets of the Kymas first to first+count-1: each leads to the runtime of its number.
func (w *Bench) GiveAccess(ctx context.Context, first, count int) error {
	return many(ctx, first, count, func(ctx context.Context, i int) error {
		return w.GiveAccessTo(ctx, KymaName(i), w.Runtimes[i%len(w.Runtimes)])
	})
}

// GiveAccessTo creates the access Secret of one Kyma.
func (w *Bench) GiveAccessTo(ctx context.Context, kyma string, runtime *Runtime) error {
	return w.Hub.Client.Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: v1beta2.DefaultNamespace, Name: kyma, Labels: map[string]string{v1beta2.LabelKymaName: kyma},
		},
		Data: map[string][]byte{v1beta2.AccessSecretKey: runtime.Kubeconfig},
	})
}

// CreateKymas creates the Kymas first to first+count-1 with modules, as fast as the hub takes them.
func (w *Bench) CreateKymas(ctx context.Context, first, count int, modules ...string) (*Batch, error) {
	batch := &Batch{Names: make([]string, count), Begun: make(map[string]time.Time, count), First: time.Now()}
	for i := range count {
		batch.Names[i] = KymaName(first + i)
	}
	var mutex sync.Mutex
	err := many(ctx, first, count, func(ctx context.Context, i int) error {
		kyma := NewKyma(KymaName(i), modules...)
		mutex.Lock()
		batch.Begun[kyma.Name] = time.Now()
		mutex.Unlock()
		return w.Hub.Client.Create(ctx, kyma)
	})
	return batch, err
}

// ChangeKyma changes a Kyma as it was seen last, and returns the generation that this made and when it was sent.
func (w *Bench) ChangeKyma(ctx context.Context, name string, change func(*v1beta2.Kyma)) (generation int64, sent time.Time, err error) {
	seen := w.Kymas.Get(name)
	if seen == nil {
		return 0, sent, fmt.Errorf("there is no Kyma %s", name)
	}
	changed := seen.DeepCopy()
	change(changed)
	sent = time.Now()
	err = w.Hub.Client.Patch(ctx, changed, client.MergeFrom(seen))
	return changed.Generation, sent, err
}

// CreateKyma creates one Kyma, and returns when that was sent.
func (w *Bench) CreateKyma(ctx context.Context, kyma *v1beta2.Kyma) (time.Time, error) {
	sent := time.Now()
	return sent, w.Hub.Client.Create(ctx, kyma)
}

// ForgetKymas removes Kymas and their Manifests from the hub while no manager runs that would: their finalizers first. What they brought
// into runtimes stays.
func (w *Bench) ForgetKymas(ctx context.Context, names ...string) error {
	manifests := &v1beta2.ManifestList{}
	if err := w.Hub.Client.List(ctx, manifests, client.InNamespace(v1beta2.DefaultNamespace)); err != nil {
		return err
	}
	var all []client.Object
	for i := range manifests.Items {
		if slices.Contains(names, manifests.Items[i].Labels[v1beta2.LabelKymaName]) {
			all = append(all, &manifests.Items[i])
		}
	}
	for _, name := range names {
		all = append(all, NewKyma(name))
	}
	release := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
	return many(ctx, 0, len(all), func(ctx context.Context, i int) error {
		return errors.Join(w.Hub.Client.Patch(ctx, all[i], release), w.Hub.Client.Delete(ctx, all[i]))
	})
}

// many calls do for first to first+count-1, several at once, and stops at the first error.
func many(ctx context.Context, first, count int, do func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(creators)
	for i := first; i < first+count && ctx.Err() == nil; i++ {
		group.Go(func() error { return do(ctx, i) })
	}
	return group.Wait()
}
