package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/runtimeaccess"
	"github.com/kyma-project/lifecycle-manager/internal/client/versioncontent"
	"github.com/kyma-project/lifecycle-manager/internal/dashboard/operations"
)

// Mode is where the dashboard runs.
type Mode string

// The modes.
const (
	// ModeLocal runs on a workstation: everything is done as its user, who logs in with the code.
	ModeLocal Mode = "local"
	// ModeCluster runs in a cluster: users log in, and everything is done as the logged-in user.
	ModeCluster Mode = "cluster"
)

// streamPath is the only path that cannot be a query of a stream.
const streamPath = "/api/v1/stream"

// healthPath reports, without a login, that the server runs.
const healthPath = "/healthz"

// Options configure a Server.
type Options struct {
	Mode Mode
	// Config reaches the hub: as the user locally, as the dashboard's ServiceAccount in a cluster.
	Config *rest.Config
	// Cluster is the name of the hub on pages, such as a kubeconfig's context.
	Cluster string
	// Version is the version of the dashboard.
	Version string
	// Namespaces are read, besides those of Kyma, if the user may not list all.
	Namespaces []string
	// Hosts are the names that the dashboard answers to. Empty: loopback with the server's port locally, every name in a cluster.
	Hosts []string
	// PlainHTTP reports whether neither the server nor a proxy before it terminates TLS: cookies are sent without Secure, as they always are
	// locally.
	PlainHTTP bool
	// OIDC is the identity provider; nil if there is none.
	OIDC *OIDC
	// Assets is the front end; nil if there is none.
	Assets fs.FS
	// Contents returns how versions of modules are read that a hub reads from a place; nil: they are not.
	Contents func(hub versioncontent.Place) *versioncontent.Loader
	// AllowPrivate reports whether versions may be read from private addresses in a cluster, too.
	AllowPrivate bool
	// Tasks carries out the operations of users. The server runs it.
	Tasks *operations.Engine
	Log   logr.Logger
	// Now returns the current time; tests replace it.
	Now func() time.Time
	// readTimeout is how long a request may take to arrive; zero means a minute.
	readTimeout time.Duration
	// glance is how often data that no watch covers is read again; zero means the default.
	glance time.Duration
	// linkCA holds PEM certificates that are trusted for the links of templates, for tests.
	linkCA []byte
}

func (o *Options) secure() bool { return o.Mode == ModeCluster && !o.PlainHTTP }

// ReachFunc returns a connection to the cluster of a Kyma, read with a user's client and connection to the hub. For a local Kyma, that
// cluster is the hub. An error says why there is no access, most often because the access Secret may not be read.
type ReachFunc func(ctx context.Context, hub client.Client, hubConfig *rest.Config, kyma *v1beta2.Kyma) (*rest.Config, error)

// Server is the dashboard's server. Create it with New, and call Run once.
type Server struct {
	options  Options
	log      logr.Logger
	mux      *http.ServeMux
	patterns []string
	static   *static
	// code logs users in locally; port is the port of the server.
	code, port string

	self     *User
	mapper   meta.RESTMapper
	watches  *watches
	pulse    *debouncer
	sessions *sessions
	provider *provider
	// revocations is nil without a provider.
	revocations *revocations
	attempts    *attempts
	signers     *signers
	computing   chan struct{}
	living      atomic.Int64
	previews    *concurrency
	links       *concurrency
	jobs        *jobs
	sourceReads *sourceReads
	contents    *contents
	// life ends with the server; halting ends the streams before that, so that requests in flight can finish.
	life, halting context.Context //nolint:containedctx // what is begun by a request and outlives it needs it
	end, halt     context.CancelFunc
	tasks         *operations.Engine
	reach         ReachFunc

	mutex sync.Mutex
	kept  []*snapshot
}

// New returns a server. It makes no calls yet.
func New(options Options) (*Server, error) {
	if options.Config == nil {
		return nil, errors.New("the dashboard needs a cluster: set KUBECONFIG, or use --kubeconfig")
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	config := rest.CopyConfig(options.Config)
	config.QPS = -1
	mapper, err := mapperOf(config)
	if err != nil {
		return nil, err
	}
	c, err := connect(config, mapper)
	if err != nil {
		return nil, err
	}
	files, err := readStatic(options.Assets)
	if err != nil {
		return nil, fmt.Errorf("the front end cannot be read: %w", err)
	}
	s := &Server{
		options: options, log: options.Log, mux: http.NewServeMux(), static: files, code: random(32), mapper: mapper,
		self: newUser("", nil, config, c), pulse: newPulse(), sessions: newSessions(options.Now),
		attempts: newAttempts(), signers: &signers{cluster: config, now: options.Now}, computing: make(chan struct{}, 1),
		previews: newTurns(mostPreviews, mostPreviewsOfOne, "previews are made"), links: newTurns(mostLinked, mostLinkedOfOne, "links are read"),
		tasks: options.Tasks, reach: runtimeaccess.Cluster, contents: &contents{make: options.Contents},
	}
	life := context.Background()
	if options.Mode == ModeCluster {
		life = runtimeaccess.Shared(life)
	}
	s.life, s.end = context.WithCancel(life)
	s.halting, s.halt = context.WithCancel(s.life)
	if options.OIDC != nil {
		s.provider = newProvider(*options.OIDC, options.Now)
		s.revocations = newRevocations(s.provider.revoke, func(why string) { s.log.Info("a refresh token is not revoked", "why", why) })
	}
	s.watches = &watches{
		life: s.life, mapper: mapper, self: s.self, changed: s.pulse.note, streams: map[place]*watchStore{},
		unknown: map[schema.GroupKind]time.Time{},
		usual:   append([]string{v1beta2.DefaultNamespace, v1beta2.RuntimeNamespace, "default"}, options.Namespaces...),
		shared:  func(kind schema.GroupKind) bool { return options.Mode == ModeCluster && sharedInCluster(kind) },
	}
	s.jobs = newJobs(s.life, s.wake, newTurns(mostReadings, mostReadingsOfOne, "versions are read"))
	s.sourceReads = newSourceReads(s.life, s.wake)
	s.sessions.gone = s.leave
	s.route()
	return s, nil
}

// route registers all routes.
func (s *Server) route() {
	s.routeSession()
	s.routeOIDC()
	s.open("GET "+streamPath, s.stream)
	s.open("GET /api/v1/openapi.json", s.openAPI)
	s.routeReads()
	s.routeActs()
}

// wake makes every stream read again: something that no watch covers has changed.
func (s *Server) wake() { s.pulse.note() }

// Code returns the login code of the local mode. It belongs in the fragment of a link, which browsers never send.
func (s *Server) Code() string { return s.code }

// api answers requests to the API, and returns errors as JSON where there is no route.
func (s *Server) api(w http.ResponseWriter, r *http.Request) {
	handler, pattern := s.mux.Handler(r)
	if pattern != "" {
		s.mux.ServeHTTP(w, r)
		return
	}
	probe := &kept{header: http.Header{}, status: http.StatusOK}
	handler.ServeHTTP(probe, r)
	if probe.status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", probe.header.Get("Allow"))
		s.answerProblem(w, r, fail(http.StatusMethodNotAllowed, WhyInvalid, "%s cannot be done with %s", r.Method, clip(r.URL.Path, 200)))
		return
	}
	s.answerProblem(w, r, fail(http.StatusNotFound, WhyNotFound, "there is nothing at %s", clip(r.URL.Path, 200)))
}

// Handler answers requests: the API below /api and /auth, and the front end everywhere else.
func (s *Server) Handler() http.Handler {
	pages := s.guarded(s.withSession(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/api/"), strings.HasPrefix(r.URL.Path, "/auth/"):
			s.api(w, r)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			s.answerProblem(w, r, fail(http.StatusMethodNotAllowed, WhyInvalid, "pages are read with GET"))
		default:
			s.static.serve(w, r)
		}
	})))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == healthPath { // the kubelet uses the pod's address
			answer(w, http.StatusOK, map[string]string{"status": "ok"})
			return
		}
		pages.ServeHTTP(w, r)
	})
}
