package operations

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// LabelTask is on the ConfigMap of every operation; its value is the kind of the request.
const LabelTask = v1beta2.OperatorPrefix + "dashboard-task"

const (
	recordPrefix = "kyma-task-"
	recordKey    = "operation.json"
	// maxRecord is below the size that an API server accepts for a ConfigMap.
	maxRecord = 900 << 10
	// kept is how many operations that have ended are remembered.
	kept = 100
)

// record is the content of a ConfigMap. It holds no token, and only the names of custom resources.
type record struct {
	Operation
	// Holder is the server that carries it out, and Renewed is when that server last renewed the record.
	Holder  string    `json:"holder"`
	Renewed time.Time `json:"renewed"`
	// Elsewhere reports whether the objects are those of a runtime.
	Elsewhere bool `json:"elsewhere,omitempty"`
	// Here lists the Kymas of the request whose modules are in the cluster of the hub.
	Here []string `json:"here,omitempty"`

	version string
}

// lapsed reports whether an operation is running by its record, but has no live server.
func (r *record) lapsed(now time.Time, lapse time.Duration) bool {
	return r.State == Running && now.Sub(r.Renewed) > lapse
}

// read returns the operation in its current state: one without a live server is interrupted.
func (r *record) read(now time.Time, lapse time.Duration) Operation {
	op := r.Operation
	if r.lapsed(now, lapse) {
		op.State, op.Message = Interrupted, errStopping.Error()
	}
	return op
}

// encode returns the ConfigMap of a record.
func (r *record) encode(namespace string) (*corev1.ConfigMap, error) {
	r.Access, r.Deed = Access{}, r.Deed.bare() // the access is that of the requesting user
	text, err := json.Marshal(r)
	if err == nil && len(text) > maxRecord {
		err = fmt.Errorf("the operation has %d bytes, at most %d can be recorded: ask for less at once", len(text), maxRecord)
	}
	if err != nil {
		return nil, err
	}
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: recordPrefix + r.ID, Labels: map[string]string{LabelTask: string(r.Deed.Kind)}, ResourceVersion: r.version,
		},
		Data: map[string]string{recordKey: string(text)},
	}, nil
}

// decode reads a record. Other clients can write to it, so only a valid record of ours is accepted.
func decode(from *corev1.ConfigMap) (*record, error) {
	r := &record{version: from.ResourceVersion}
	if err := json.Unmarshal([]byte(from.Data[recordKey]), r); err != nil {
		return nil, fmt.Errorf("ConfigMap %s/%s is no record of an operation: %w", from.Namespace, from.Name, err)
	}
	if from.Name != recordPrefix+r.ID || r.Deed.Validate() != nil {
		return nil, fmt.Errorf("ConfigMap %s/%s is no record of an operation", from.Namespace, from.Name)
	}
	r.Deed = r.Deed.bare()
	r.Title = r.Deed.Title() // the title shown before resuming is derived from the request, not read from the record
	if r.Steps == nil {
		r.Steps = []Step{}
	}
	if r.Objects == nil {
		r.Objects = []Object{}
	}
	return r, nil
}

// records holds the records of all operations, of this server and of others.
type records struct {
	maps   corev1client.ConfigMapInterface
	spaces corev1client.NamespaceInterface
	space  string
	store  cache.SharedInformer
	notify func()

	mutex sync.Mutex
	known map[string]reading
}

// reading is a ConfigMap that was decoded in a version; the record is nil if it is invalid.
type reading struct {
	version string
	record  *record
}

func newRecords(config *rest.Config, namespace string, notify func()) (*records, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1
	core, err := corev1client.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	r := &records{maps: core.ConfigMaps(namespace), spaces: core.Namespaces(), space: namespace, notify: notify}
	watched := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			options.LabelSelector = LabelTask
			return r.maps.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.LabelSelector = LabelTask
			return r.maps.Watch(ctx, options)
		},
	}
	r.store = cache.NewSharedInformer(watched, &corev1.ConfigMap{}, 0)
	return r, nil
}

// run watches the records until the context ends, and also notifies when a record lapses, for which there is no event.
func (r *records) run(ctx context.Context, now func() time.Time, lapse time.Duration, log logr.Logger) {
	_ = r.store.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) {
		if !apierrors.IsForbidden(err) { // users without the permission see those of this server
			log.V(1).Info("the records of operations cannot be watched", "error", err.Error())
		}
	})
	timer := time.NewTimer(lapse)
	changed := make(chan struct{}, 1)
	tell := func(any) {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	_, _ = r.store.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: tell, UpdateFunc: func(_, next any) { tell(next) }, DeleteFunc: tell,
	})
	go r.store.RunWithContext(ctx)
	go func() {
		defer timer.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-changed:
			case <-timer.C:
			}
			r.notify()
			timer.Reset(r.nextLapse(now(), lapse))
		}
	}()
}

// nextLapse returns the time until the next record lapses, unless it is renewed.
func (r *records) nextLapse(now time.Time, lapse time.Duration) time.Duration {
	next := time.Hour
	for _, known := range r.all() {
		if known.State == Running && !known.lapsed(now, lapse) {
			next = min(next, known.Renewed.Add(lapse).Sub(now)+time.Second)
		}
	}
	return next
}

// all returns the records that were seen last. Each version is decoded once: they must not be changed.
func (r *records) all() []*record {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	var all []*record
	known := map[string]reading{}
	for _, object := range r.store.GetStore().List() {
		found, ok := object.(*corev1.ConfigMap)
		if !ok {
			continue
		}
		read := r.known[found.Name]
		if read.version != found.ResourceVersion {
			read = reading{version: found.ResourceVersion}
			if made, err := decode(found); err == nil {
				read.record = made
			}
		}
		known[found.Name] = read
		if read.record != nil {
			all = append(all, read.record)
		}
	}
	r.known = known
	return all
}

// get reads one record from the cluster; nil if there is none.
func (r *records) get(ctx context.Context, id string) (*record, error) {
	found, err := r.maps.Get(ctx, recordPrefix+id, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return decode(found)
}

// forget deletes old records of operations that have ended: the newest hundred stay.
func (r *records) forget(ctx context.Context, now time.Time, lapse time.Duration) error {
	list, err := r.maps.List(ctx, metav1.ListOptions{LabelSelector: LabelTask})
	if err != nil {
		return err
	}
	var ended []*record
	for i := range list.Items {
		if known, err := decode(&list.Items[i]); err == nil && (known.State != Running || known.lapsed(now, lapse)) {
			ended = append(ended, known)
		}
	}
	slices.SortFunc(ended, func(a, b *record) int { return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(a.ID, b.ID)) })
	for _, old := range ended[min(kept, len(ended)):] {
		if err := r.delete(ctx, old); err != nil {
			return err
		}
	}
	return nil
}

// delete deletes a record in the version that was read: one that was resumed meanwhile stays.
func (r *records) delete(ctx context.Context, old *record) error {
	err := r.maps.Delete(ctx, recordPrefix+old.ID, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &old.version}})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
