package fleet

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// Config is what a Fleet needs. Hub and Secrets are required; everything else has a default.
type Config struct {
	// Hub is the operator's own access; copied with an impersonation for local targets, and the source of the user agent.
	Hub *rest.Config
	// Secrets reads access Secrets. It should be a cache: it is asked at every Get.
	Secrets client.Reader
	// SecretIndexed says that Secrets has the field index SecretIndex, registered with IndexSecret. Without it the label is selected on,
	// which costs a walk over all Secrets of the namespace at every Get.
	SecretIndexed bool
	// QPS and Burst limit the calls to one runtime (default 50 and 100).
	QPS   float32
	Burst int
	// MaxStreams is the number of kinds that are watched per runtime (default 8); the other kinds are only listed, every AuditInterval.
	MaxStreams int
	// AuditInterval is how often every kind is listed, watched or not (default 1 h, spread over a fifth of it).
	AuditInterval time.Duration
	// StandardStreams has net/http carry the streams, at three times the memory, in place of the fleet's own HTTP/2 client.
	StandardStreams bool
	// FieldManager is the one whose fields are watched for drift (default: the field manager of module objects).
	FieldManager string
	// OwnerKey is the annotation with the owning Manifest (default: the API's owned-by annotation).
	OwnerKey string
	// Selector selects owned objects (default: managed-by=kyma).
	Selector labels.Selector
	// Pinned, when set, tells the identity (Runtime.ID) that the runtime of a Kyma is known by, empty when none is: a cluster with another
	// one is refused. It is asked at every Get and must not call anything.
	Pinned func(namespace, kyma string) string
	// WrapTransport, when set, is put around the transport of every runtime, outermost: tests and metrics count calls with it.
	WrapTransport func(http.RoundTripper) http.RoundTripper
	// Fence, when set, is put around the transport of every runtime, innermost: what it refuses is not sent.
	Fence func(http.RoundTripper) http.RoundTripper
	// Log gets what people should know and no condition tells.
	Log logr.Logger
}

// patientWorkers is how many callers of Get may wait for a first answer at a time. The others are turned away and enqueued later, so
// that half a fleet that does not answer cannot hold all workers.
const patientWorkers = 4

// defaulted fills in what was left out.
func (c Config) defaulted() *Config {
	setDefault(&c.QPS, 50)
	setDefault(&c.Burst, 100)
	setDefault(&c.MaxStreams, 8)
	setDefault(&c.AuditInterval, time.Hour)
	setDefault(&c.FieldManager, v1beta2.FieldManagerModule)
	setDefault(&c.OwnerKey, v1beta2.AnnotationOwnedBy)
	if c.Selector == nil {
		c.Selector = labels.SelectorFromSet(labels.Set{v1beta2.LabelManagedBy: v1beta2.ManagedByKyma})
	}
	if c.Log.GetSink() == nil {
		c.Log = logr.Discard()
	}
	return &c
}

func setDefault[T comparable](value *T, otherwise T) {
	var zero T
	if *value == zero {
		*value = otherwise
	}
}

// Fleet holds the connections to all runtimes. Make it with New, and run Start: it ends everything.
type Fleet struct {
	cfg      *Config
	ctx      context.Context //nolint:containedctx // of everything that goes on in the background
	cancel   context.CancelCauseFunc
	patience chan struct{}
	entrance *entrance
	tempo    tempo
	queues   queues

	mu       sync.Mutex
	runtimes map[key]*Runtime

	life   sync.Mutex // guards closed against running.Go
	closed bool
	// running counts the goroutines of all connections.
	running sync.WaitGroup
}

// key tells connections apart. A local one is one per service account: nobody acts with the rights of another.
type key struct {
	local           bool
	namespace, name string
}

var errClosed = errors.New("the fleet is closed")

// New makes a Fleet; nothing is called before Get.
func New(cfg Config) *Fleet {
	ctx, cancel := context.WithCancelCause(context.Background())
	return &Fleet{
		cfg: cfg.defaulted(), ctx: ctx, cancel: cancel,
		patience: make(chan struct{}, patientWorkers), entrance: newEntrance(room()), runtimes: make(map[key]*Runtime),
	}
}

// Start implements manager.Runnable: it waits until the context ends, then ends all streams and closes all connections. The context must
// outlive whatever uses the fleet: what is under way then fails as if the runtime did not answer.
func (f *Fleet) Start(ctx context.Context) error {
	<-ctx.Done()
	f.life.Lock()
	f.closed = true
	f.life.Unlock()
	f.cancel(errClosed)
	f.mu.Lock()
	open := f.runtimes
	f.runtimes = make(map[key]*Runtime)
	f.mu.Unlock()
	for _, r := range open {
		r.close()
	}
	f.running.Wait()
	return nil
}

// spawn runs a goroutine that Start waits for.
func (f *Fleet) spawn(do func()) {
	f.life.Lock()
	defer f.life.Unlock()
	if f.closed {
		return
	}
	f.running.Go(do)
}
