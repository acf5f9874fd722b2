package setup

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/hubsecret"
	"github.com/kyma-project/lifecycle-manager/internal/manager/modulecontent"
	"github.com/kyma-project/lifecycle-manager/internal/manager/priority"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// deployer is the module that may take data from Secrets of the hub.
const deployer = "deployer"

// secrets are the Secrets of the hub that the manager depends on beside access Secrets. Each is nil when no flag names it.
type secrets struct {
	login, pull *hubsecret.Named
	deployer    *hubsecret.Watched
}

// watchSecrets watches the Secrets that the flags name.
func watchSecrets(mgr ctrl.Manager, c *Config) (found secrets, err error) {
	if found.deployer, err = hubsecret.Labelled(mgr, c.Namespace, v1beta2.LabelModuleName, deployer); err != nil {
		return found, err
	}
	if c.RegistrySecret != "" {
		if found.login, err = hubsecret.NewNamed(mgr, c.OperatorNamespace, c.RegistrySecret); err != nil {
			return found, err
		}
	}
	if c.PullSecret != "" {
		found.pull, err = hubsecret.NewNamed(mgr, c.OperatorNamespace, c.PullSecret)
	}
	return found, err
}

// follow applies a changed login at once: refused requests are tried again, and components are read again when the Secret is for another
// registry now.
func (r *registries) follow(login *hubsecret.Named, components *componentsPort, contents *modulecontent.Contents) {
	if login == nil {
		return
	}
	login.OnChange(func() {
		changed, moved, err := r.take(login.Get(context.Background())) // it is cached
		switch {
		case err != nil && changed:
			r.log.Error(err, "Registry Secret cannot be used")
		case moved:
			host, _ := r.where()
			r.log.Info("Registry Secret is for another registry", "host", host)
			components.renew()
			contents.TryAgain()
		case changed:
			r.log.Info("Registry Secret changed")
			components.tryAgain()
			contents.TryAgain()
		}
	})
}

// componentsPort reads components from the current registry.
type componentsPort struct {
	// open creates a reader for that registry.
	open func() *modulecontent.Components

	mu    sync.RWMutex
	known *modulecontent.Components
}

func newComponents(open func() *modulecontent.Components) *componentsPort {
	return &componentsPort{open: open, known: open()}
}

func (p *componentsPort) now() *modulecontent.Components {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.known
}

func (p *componentsPort) tryAgain() { p.now().TryAgain() }

// renew drops the cached components: they are from another registry.
func (p *componentsPort) renew() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known = p.open()
}

// Describe returns what a component version can install.
func (p *componentsPort) Describe(ctx context.Context, key module.ComponentKey) (module.Component, time.Duration) {
	return p.now().Describe(ctx, key)
}

// MarkSuspect records that the content of a component version cannot be installed.
func (p *componentsPort) MarkSuspect(key module.ComponentKey) time.Duration {
	return p.now().MarkSuspect(key)
}

// everyKyma enqueues Kymas when one Secret changes.
type everyKyma struct {
	secret *hubsecret.Named
	kymas  client.Reader
	// remote reports whether only Kymas with a runtime of their own are enqueued.
	remote bool
}

// Name returns the name of the Secret.
func (p *everyKyma) Name() string { return p.secret.Key().Name }

// Get reads the Secret; nil when it does not exist.
func (p *everyKyma) Get(ctx context.Context) (*corev1.Secret, error) { return p.secret.Get(ctx), nil }

// Source enqueues the Kymas when the Secret has changed.
func (p *everyKyma) Source() source.Source {
	all := func(ctx context.Context, _ client.Object) []reconcile.Request {
		list := &v1beta2.KymaList{}
		if err := p.kymas.List(ctx, list, client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency); err != nil {
			return nil // the cache is shutting down; nothing is left to enqueue
		}
		requests := make([]reconcile.Request, 0, len(list.Items))
		for i := range list.Items {
			kyma := &list.Items[i]
			if p.remote && !module.Synced(kyma) {
				continue
			}
			requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: kyma.Namespace, Name: kyma.Name}})
		}
		return requests
	}
	known := func(client.Object) bool { return true } // every Kyma is reconciled when the manager starts
	return p.secret.Source(priority.Enqueue(all, priority.Always(priority.Later), known))
}
