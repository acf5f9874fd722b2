package clustercache

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
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// Config configures Clusters. Hub and Secrets are required; everything else has a default.
type Config struct {
	// Hub is the manager's own access; copied with an impersonation for local targets, and the source of the user agent.
	Hub *rest.Config
	// Secrets reads access Secrets. It should be a cache: every Get reads it.
	Secrets client.Reader
	// SecretIndexed means that Secrets has the field index SecretIndex, registered with IndexSecret. Without it Get selects by label,
	// which costs a walk over all Secrets of the namespace each time.
	SecretIndexed bool
	// QPS and Burst limit the calls to one runtime (default 50 and 100).
	QPS   float32
	Burst int
	// MaxStreams is the number of kinds that are watched per runtime (default 24); the other kinds are only listed, every AuditInterval.
	MaxStreams int
	// AuditInterval is how often every kind is listed, watched or not (default 1 h, spread over a fifth of it).
	AuditInterval time.Duration
	// StandardStreams uses net/http for the streams, at three times the memory, in place of the HTTP/2 client of this package.
	StandardStreams bool
	// FieldManager is the field manager whose fields are watched for drift (default: the field manager of module objects).
	FieldManager string
	// OwnerKey is the annotation with the owning Manifest (default: the API's owned-by annotation).
	OwnerKey string
	// Selector selects owned objects (default: managed-by=kyma).
	Selector labels.Selector
	// Pinned, when set, returns the recorded identity (Runtime.ID) of a Kyma's runtime, empty when none is recorded: a cluster with
	// another identity is refused. Every Get calls it, and it must not make API calls.
	Pinned func(namespace, kyma string) string
	// Claims, when set, returns how far the claim on the runtime of a Kyma binds: Get refuses a runtime that HubID may not write to by that
	// rule, and no write is sent there. Every Get and every write calls it, and it must not make API calls.
	Claims func(namespace, kyma string) module.ClaimRule
	// HubID is the identity of this hub.
	HubID string
	// WrapTransport, when set, wraps the transport of every runtime, outermost: tests and metrics count calls with it.
	WrapTransport func(http.RoundTripper) http.RoundTripper
	// Fence, when set, wraps the transport of every runtime, innermost: a request that it refuses is not sent.
	Fence func(http.RoundTripper) http.RoundTripper
	// Log receives what operators should know and no condition reports.
	Log logr.Logger
}

// patientWorkers is how many callers of Get may wait for a first response at a time. The others are turned away and enqueued later, so
// that many runtimes that do not respond cannot hold all workers.
const patientWorkers = 4

// defaulted returns the configuration with defaults for the fields that were left out.
func (c Config) defaulted() *Config {
	setDefault(&c.QPS, 50)
	setDefault(&c.Burst, 100)
	setDefault(&c.MaxStreams, 24)
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

// Clusters holds the connections to all runtimes. Create it with New, and run Start, which closes everything when its context ends.
type Clusters struct {
	cfg       *Config
	ctx       context.Context //nolint:containedctx // of everything that continues in the background
	cancel    context.CancelCauseFunc
	patience  chan struct{}
	admission *prioritySemaphore
	tempo     latencyTracker
	queues    queues

	mu       sync.Mutex
	runtimes map[key]*Runtime

	life   sync.Mutex // guards closed against running.Go
	closed bool
	// running counts the goroutines of all connections.
	running sync.WaitGroup
}

// key identifies a connection. A local one is per service account: none acts with the rights of another.
type key struct {
	local           bool
	namespace, name string
}

var errClosed = errors.New("the fleet is closed")

// New returns Clusters without connections; no call is made before Get.
func New(cfg Config) *Clusters {
	ctx, cancel := context.WithCancelCause(context.Background())
	return &Clusters{
		cfg: cfg.defaulted(), ctx: ctx, cancel: cancel,
		patience: make(chan struct{}, patientWorkers), admission: newPrioritySemaphore(admissionLimit()), runtimes: make(map[key]*Runtime),
	}
}

// Start implements manager.Runnable: it waits until the context ends, then ends all streams and closes all connections. The context must
// outlive all users of Clusters: calls in progress then fail as if the runtime did not respond.
func (f *Clusters) Start(ctx context.Context) error {
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
func (f *Clusters) spawn(do func()) {
	f.life.Lock()
	defer f.life.Unlock()
	if f.closed {
		return
	}
	f.running.Go(do)
}
