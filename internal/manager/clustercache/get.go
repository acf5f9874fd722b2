package clustercache

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/utils/lru"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/priority"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
)

// Get returns the connection to a runtime, created at the first call. The error is always a *Problem. Get itself never dials: a probe in
// the background does, and for a Target with an Owner only a few callers at a time wait for its first response, a second at most.
func (f *Clusters) Get(ctx context.Context, t Target) (*Runtime, error) {
	r, p := f.runtime(ctx, t)
	if p != nil {
		return nil, p
	}
	if t.Urgent {
		f.admission.prioritize(r.conn)
	}
	if p := r.conn.admit(ctx, t.Owner, f.patience); p != nil {
		return nil, p
	}
	if p := f.checkIdentity(r, t); p != nil {
		return nil, p
	}
	if p := f.checkClaim(r, t); p != nil {
		return nil, p
	}
	return r, nil
}

// InvalidateAccess handles a changed or deleted access Secret of a Kyma. When its content is no longer what the connection was made
// from, the streams of the old connection end, its sockets are closed, all Manifests that track it are enqueued, and the next Get connects
// again. When the content is equal, nothing happens. It makes no API call, so an event handler may use it.
func (f *Clusters) InvalidateAccess(namespace, name string) {
	id := key{namespace: namespace, name: name}
	f.mu.Lock()
	r := f.runtimes[id]
	f.mu.Unlock()
	if r == nil {
		return
	}
	found, p := f.findAccess(f.ctx, namespace, name)
	if p == nil && found.digest == r.access.digest || p != nil && p.Reason == v1beta2.ReasonInternal {
		return // equal, or not to be told now: Get looks again
	}
	f.discard(id, r)
}

// CloseWhere closes the connections to the runtimes of Kymas that another replica owns now. The next Get creates a new one.
func (f *Clusters) CloseWhere(gone func(namespace, name string) bool) {
	f.mu.Lock()
	left := make(map[key]*Runtime)
	for id, r := range f.runtimes {
		if !id.local && gone(id.namespace, id.name) {
			left[id] = r
		}
	}
	f.mu.Unlock()
	for id, r := range left {
		f.discard(id, r)
	}
}

// runtime returns the connection of a target, and creates it if needed.
func (f *Clusters) runtime(ctx context.Context, t Target) (*Runtime, *runtimes.Problem) {
	if f.ctx.Err() != nil {
		return nil, &runtimes.Problem{Reason: v1beta2.ReasonInternal, Message: "the operator is shutting down", Err: context.Cause(f.ctx)}
	}
	if t.Local {
		return f.localRuntime(t)
	}
	id := key{namespace: t.Namespace, name: t.Name}
	found, p := f.findAccess(ctx, t.Namespace, t.Name)
	r := f.find(id)
	if r != nil && p == nil && found.digest == r.access.digest {
		return r, nil
	}
	if r != nil && (p == nil || isAccessWithdrawn(p)) {
		f.discard(id, r)
	}
	if p != nil {
		return nil, p
	}
	cfg, p := parseKubeconfig(found.kubeconfig)
	if p != nil {
		return nil, p
	}
	cfg.UserAgent = f.userAgent()
	if cfg.Insecure {
		f.cfg.Log.Info("the kubeconfig switches the check of the server's certificate off", "runtime", t.String())
	}
	return f.adopt(id, t, cfg, found)
}

// isAccessWithdrawn reports whether the access of a connection is no longer granted. Two Secrets at a time are a mistake, not a withdrawal.
func isAccessWithdrawn(p *runtimes.Problem) bool {
	return p.Reason != v1beta2.ReasonInternal && p.Reason != v1beta2.ReasonAccessSecretAmbiguous
}

// localRuntime returns the connection to the hub as a service account, never as the operator itself.
func (f *Clusters) localRuntime(t Target) (*Runtime, *runtimes.Problem) {
	namespace, name, ok := t.serviceAccount()
	if !ok {
		return nil, &runtimes.Problem{
			Reason:  v1beta2.ReasonLocalAccessMissing,
			Message: "no service account is set to act as in the hub; install the component \"local\"",
		}
	}
	id := key{local: true, namespace: namespace, name: name}
	if r := f.find(id); r != nil {
		return r, nil
	}
	cfg := rest.CopyConfig(f.cfg.Hub)
	cfg.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + namespace + ":" + name}
	cfg.UserAgent = f.userAgent()
	return f.adopt(id, t, cfg, access{})
}

func (f *Clusters) userAgent() string {
	if f.cfg.Hub != nil && f.cfg.Hub.UserAgent != "" {
		return f.cfg.Hub.UserAgent
	}
	return rest.DefaultKubernetesUserAgent()
}

// adopt creates a connection and keeps it, unless another caller was faster.
func (f *Clusters) adopt(id key, t Target, cfg *rest.Config, from access) (*Runtime, *runtimes.Problem) {
	made, err := f.newRuntime(t, cfg, from)
	if err != nil {
		return nil, invalidKubeconfig("it cannot be used:  %s", cause(err))
	}
	f.mu.Lock()
	r := f.runtimes[id]
	if r == nil {
		f.keepConnectionLocked(id, made)
	}
	f.mu.Unlock()
	if r != nil { // should it be of other content, the next Get will find out
		made.close()
		return r, nil
	}
	if f.ctx.Err() != nil { // Start may have passed by already
		made.close()
	}
	made.conn.probe()
	return made, nil
}

// discard closes a connection that must no longer be used, and enqueues its owners so that they get another.
func (f *Clusters) discard(id key, r *Runtime) {
	f.mu.Lock()
	if f.runtimes[id] == r {
		delete(f.runtimes, id)
	}
	f.mu.Unlock()
	told := append(r.allOwners(), r.conn.takeWaitingOwners()...)
	r.close()
	f.queues.add(priority.Soon, told...)
}

// newRuntime builds a connection and everything around it, and makes no calls.
func (f *Clusters) newRuntime(t Target, cfg *rest.Config, from access) (*Runtime, error) {
	cfg.QPS, cfg.Burst = f.cfg.QPS, f.cfg.Burst
	cfg.WarningHandler = rest.NoWarnings{} // what a runtime warns of is not ours to log
	ctx, cancel := context.WithCancel(f.ctx)
	from.kubeconfig = nil // parsed; no copy of credentials is kept
	t.Owner = types.NamespacedName{}
	r := &Runtime{
		cfg: f.cfg, ctx: ctx, cancel: cancel, access: from,
		owners: make(map[types.NamespacedName]*tracker), kinds: make(map[schema.GroupKind]*kind),
		echoes: make(map[subject]selfWriteEvent), reads: make(map[subject]*read), listing: make(chan struct{}, listsAtATime),
		accounts: lru.New(keptAccounts),
	}
	r.conn = &connection{
		target: t, asksIdentity: f.cfg.Pinned != nil && !t.Local, asksClaim: f.cfg.Claims != nil && !t.Local,
		ctx: ctx, spawn: f.spawn, admission: f.admission, tempo: &f.tempo, tell: f.queues.add, concerned: r.allOwners, recovered: r.retryKinds,
		upgraded: r.reportUpgrade,
	}
	r.conn.writes.removed = r.noteDeleted
	r.discoveryCache.calling = r.conn.newMutex()
	r.served = &resources{
		discover: r.discovery, calling: r.conn.newMutex(),
		defined: make(map[string]definition), listed: make(map[schema.GroupVersion]*discovered),
	}
	if err := r.conn.connect(cfg, f.cfg.WrapTransport, f.cfg.StandardStreams); err != nil {
		cancel()
		return nil, err
	}
	if f.cfg.Fence != nil {
		r.conn.short.RoundTripper = f.cfg.Fence(r.conn.short.RoundTripper)
	}
	if r.conn.asksClaim {
		r.conn.short.RoundTripper = claimFence{next: r.conn.short.RoundTripper, runtime: r}
	}
	calls := rest.CopyConfig(cfg)
	calls.RateLimiter = r.conn.limiter
	client, err := dynamic.NewForConfigAndClient(calls, r.conn.client())
	if err != nil {
		cancel()
		return nil, err
	}
	r.cluster = &apply.Cluster{Dynamic: client, Resource: r.served.find, Learn: r.observeWrite, Kinds: r.Kinds, Versions: r.Versions}
	return r, nil
}
