package installer

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
)

// Cluster is a connection to a cluster. Several calls may share one, also at once: it remembers what the cluster serves. Make it by
// Connect.
type Cluster struct {
	// Config is a copy of the one that it was made with.
	Config *rest.Config
	// Client reads and writes without a cache.
	Client client.Client
	// Dynamic reads and writes objects of any kind.
	Dynamic dynamic.Interface

	secrets corev1client.SecretsGetter
	served  *served
}

// silent is not the zero Logger, in whose place the client takes controller-runtime's global one: that writes a complaint and a stack to
// standard error where a program sets none. The client itself logs nothing that its errors do not say.
var silent = logr.New(logf.NullLogSink{})

// Connect prepares a connection, without a call. Where config sets no rate limit, none holds: at most eight calls are under way at once.
func Connect(config *rest.Config) (*Cluster, error) {
	if config == nil {
		return nil, errors.New("there is no rest.Config: set one that reaches the cluster")
	}
	config = rest.CopyConfig(config)
	if config.QPS == 0 && config.RateLimiter == nil {
		config.QPS = -1
	}
	if config.WarningHandler == nil && config.WarningHandlerWithContext == nil {
		config.WarningHandlerWithContext = rest.WarningLogger{} // client-go's own; that of controller-runtime needs the global logger too
	}
	cluster := &Cluster{Config: config}
	if err := cluster.prepare(); err != nil {
		return nil, fmt.Errorf("the rest.Config cannot be used: %w", err)
	}
	return cluster, nil
}

func (c *Cluster) prepare() error {
	httpClient, err := rest.HTTPClientFor(c.Config)
	if err != nil {
		return err
	}
	if c.Client, err = client.New(c.Config, client.Options{HTTPClient: httpClient, Log: silent}); err != nil {
		return err
	}
	if c.Dynamic, err = dynamic.NewForConfigAndClient(c.Config, httpClient); err != nil {
		return err
	}
	if c.secrets, err = corev1client.NewForConfigAndClient(c.Config, httpClient); err != nil {
		return err
	}
	asked, err := discovery.NewDiscoveryClientForConfigAndClient(c.Config, httpClient)
	if err == nil {
		c.served = newServed(asked)
	}
	return err
}

// Capabilities returns what charts may ask about the cluster: the version of its API server, the versions of groups, and the kinds in them.
func (c *Cluster) Capabilities() (version string, apis []string, err error) { return c.served.capabilities() }

// engine returns the connection as pkg/apply wants it; learn is told what writes return.
func (c *Cluster) engine(learn func(*unstructured.Unstructured)) *apply.Cluster {
	return &apply.Cluster{
		Dynamic: c.Dynamic, Resource: c.served.resource, Kinds: c.served.kinds, Versions: c.served.versions,
		Learn: func(object *unstructured.Unstructured) {
			c.served.learn(object)
			learn(object)
		},
	}
}

// objects returns where objects of a kind are read and written.
func (c *Cluster) objects(ctx context.Context, gvk schema.GroupVersionKind, namespace string) (dynamic.ResourceInterface, error) {
	resource, err := c.served.resource(ctx, gvk)
	if err != nil {
		return nil, err
	}
	return c.in(resource, namespace), nil
}

// in returns where the objects of a resource are; those of a namespace where they have one.
func (c *Cluster) in(resource apply.Resource, namespace string) dynamic.ResourceInterface {
	if resource.Namespaced {
		return c.Dynamic.Resource(resource.GroupVersionResource).Namespace(namespace)
	}
	return c.Dynamic.Resource(resource.GroupVersionResource)
}
