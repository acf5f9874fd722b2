package operations

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/internal/client/communitycatalog"
	"github.com/kyma-project/lifecycle-manager/internal/client/directinstall"
	"github.com/kyma-project/lifecycle-manager/internal/client/runtimeaccess"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// Options of an Engine. The zero value keeps operations in memory only.
type Options struct {
	// Records reaches the cluster that operations are recorded in, as the dashboard's own account or as the only user
	// that it serves. nil means that they are kept in memory only.
	Records *rest.Config
	// Namespace holds the records; empty means HistoryNamespace, which all dashboards of a cluster share.
	Namespace string
	// Sources is the namespace that the sources of modules are kept in; empty means that of package communitycatalog.
	Sources string
	// Access configures the access to the registries and web servers of modules that are installed directly.
	Access directinstall.Access
	// Signatures returns the requirements for the signatures of a component, and, for "", of content that is part of none; nil requires
	// nothing.
	Signatures func(component string) *descriptor.SignaturePolicy
	// Registry holds the components of such modules if their templates do not name one: host[:port][/path].
	Registry string
	// Store is a folder for fetched content; empty means one for each call.
	Store string
	// Catalogs limits how sources of modules may be read.
	Catalogs communitycatalog.Limits
	// Shared reports whether users on other machines use the server: the content of modules is then fetched only from addresses that
	// catalogs may be read from.
	Shared bool
	// Patience is how long an operation waits for its result; 0 means ten minutes.
	Patience time.Duration
	Log      logr.Logger
}

// The times of an Engine.
const (
	defaultPatience = 10 * time.Minute
	// renewal is how often a record is renewed while nothing else is written, lapse the age at which an operation counts
	// as interrupted.
	renewal = 15 * time.Second
	lapse   = 45 * time.Second
	// collected is how long changes are collected before they are written.
	collected = time.Second
	// farewell is how long recording the end of an operation may take.
	farewell = 10 * time.Second
)

// Bounds of the operations that are under way at once.
const (
	mostRunning       = 64
	mostRunningByUser = 16
)

// Engine carries out requests. Create it with New, and call Run.
type Engine struct {
	options Options
	holder  string
	now     func() time.Time
	lapse   time.Duration
	renewal time.Duration

	// base is what operations run under: it ends with the Engine.
	base context.Context //nolint:containedctx // operations outlive the request that starts them
	stop context.CancelCauseFunc
	runs sync.WaitGroup

	mutex   sync.Mutex
	own     map[string]*activeOperation
	changed chan struct{}
	records *records
}

// New returns an Engine.
func New(options Options) (*Engine, error) {
	if options.Patience == 0 {
		options.Patience = defaultPatience
	}
	name, err := os.Hostname()
	if err != nil {
		name = "dashboard"
	}
	e := &Engine{
		options: options, holder: name + "-" + rand.Text()[:10], now: time.Now, lapse: lapse, renewal: renewal,
		own: map[string]*activeOperation{}, changed: make(chan struct{}, 1),
	}
	base := context.Background()
	if options.Shared {
		base = runtimeaccess.Shared(base)
	}
	e.base, e.stop = context.WithCancelCause(base)
	if options.Records != nil {
		if e.records, err = newRecords(options.Records, cmp.Or(options.Namespace, HistoryNamespace), e.notify); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// Reasons why an operation ended early.
var (
	errCancelled = errors.New("it was cancelled")
	errStopping  = errors.New("the dashboard that carried it out has ended")
	errTaken     = errors.New("another dashboard carries it out now")
)

// Run watches what other servers record until the context ends. Then it interrupts the operations under way, records that, and returns.
func (e *Engine) Run(ctx context.Context) error {
	if e.records != nil {
		e.records.run(ctx, e.now, e.lapse, e.options.Log)
	}
	<-ctx.Done()
	e.stop(errStopping)
	e.runs.Wait()
	return nil
}

// Changed receives a value whenever an operation may have changed. There is one channel: it is for one reader.
func (e *Engine) Changed() <-chan struct{} { return e.changed }

func (e *Engine) notify() {
	select {
	case e.changed <- struct{}{}:
	default: // the value that waits covers this change, too
	}
}

// Preview returns what a request would change, by dry runs on the API server.
func (e *Engine) Preview(ctx context.Context, as Actor, deed Request) (Preview, error) {
	if err := deed.Validate(); err != nil {
		return Preview{}, err
	}
	p, err := e.plan(ctx, as, &deed, false)
	if err != nil {
		return Preview{}, err
	}
	return p.preview(ctx)
}

// Start begins to carry out a request, and returns when the operation is recorded. An error means that nothing was begun. Users without
// the permissions that Resume needs start nothing: the operation would fail, and wait for a user who has them.
func (e *Engine) Start(ctx context.Context, as Actor, deed Request) (Operation, error) {
	if err := deed.Validate(); err != nil {
		return Operation{}, err
	}
	if err := as.needs(ctx, &deed, deed.Title()); err != nil {
		return Operation{}, err
	}
	p, err := e.plan(ctx, as, &deed, true)
	if err != nil {
		return Operation{}, err
	}
	if err := p.check(&deed); err != nil {
		return Operation{}, err
	}
	l := e.newLive(as, deed, p)
	before, err := e.claim(l)
	if err != nil {
		return Operation{}, err
	}
	if err := e.record(ctx, l); err != nil {
		e.drop(l, before)
		return Operation{}, err
	}
	e.launch(l, p)
	return e.redactedFor(ctx, as, entry{Operation: l.operation(), elsewhere: p.elsewhere}), nil
}
