package target

import (
	"net/http"
	"slices"
	"sync/atomic"

	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// Target is the cluster that a command was pointed at. The zero value is not usable; create it with New.
type Target struct {
	flags    *genericclioptions.ConfigFlags
	config   *rest.Config
	client   client.WithWatch
	requests atomic.Int64
	// given reports whether the connection does not come from the flags.
	given bool
	// rejected reports whether the cluster has answered Unauthorized.
	rejected atomic.Bool
}

// New returns a target without a connection yet.
func New() *Target {
	flags := genericclioptions.NewConfigFlags(true)
	flags.CacheDir = nil // nothing is cached between two commands
	flags.DisableCompression = nil
	return &Target{flags: flags}
}

// Of returns a target with a given connection, for programs and tests that have one.
func Of(config *rest.Config) *Target {
	t := New()
	t.config, t.given = t.counted(config), true
	return t
}

// shown are the flags that help texts list. The others of kubectl work as well.
var shown = []string{"kubeconfig", "context", "namespace"}

// AddFlags adds the flags that select the cluster: --kubeconfig, --context, --namespace and the others of kubectl.
func (t *Target) AddFlags(flags *pflag.FlagSet) {
	own := pflag.NewFlagSet("target", pflag.ContinueOnError)
	t.flags.AddFlags(own)
	own.VisitAll(func(flag *pflag.Flag) {
		flag.Hidden = !slices.Contains(shown, flag.Name)
		flags.AddFlag(flag)
	})
}

// Config returns the connection. It has no client-side rate limit: API servers have their own. The error is ErrNoCluster if no kubeconfig
// names a cluster.
func (t *Target) Config() (*rest.Config, error) {
	if t.config != nil {
		return t.config, nil
	}
	if err := t.checkFiles(); err != nil {
		return nil, err
	}
	config, err := t.flags.ToRESTConfig()
	if err != nil {
		return nil, t.unusable(err)
	}
	if err := t.nowhere(config); err != nil {
		return nil, err
	}
	t.config = t.counted(config)
	return t.config, nil
}

// counted returns a copy of a connection that counts its requests, and records whether the credentials are rejected.
func (t *Target) counted(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.QPS = -1
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			t.requests.Add(1)
			answer, err := next.RoundTrip(request)
			if err == nil && answer.StatusCode == http.StatusUnauthorized {
				t.rejected.Store(true)
			}
			return answer, err
		})
	})
	return config
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// Requests returns how many requests were sent so far.
func (t *Target) Requests() int { return int(t.requests.Load()) }

// Client returns a client that reads, writes and watches without a cache. The kinds of mapper.go need no discovery; others do.
func (t *Target) Client() (client.WithWatch, error) {
	if t.client != nil {
		return t.client, nil
	}
	config, err := t.Config()
	if err != nil {
		return nil, err
	}
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	discovered, err := apiutil.NewDynamicRESTMapper(config, httpClient)
	if err != nil {
		return nil, err
	}
	t.client, err = client.NewWithWatch(config, client.Options{
		HTTPClient: httpClient, Scheme: Scheme(), Mapper: known(discovered),
	})
	return t.client, err
}

// Namespace returns the namespace of --namespace or of the kubeconfig's context; explicit reports whether it was the flag.
func (t *Target) Namespace() (namespace string, explicit bool, err error) {
	if err = t.checkFiles(); err == nil {
		if namespace, _, err = t.flags.ToRawKubeConfigLoader().Namespace(); err != nil {
			err = t.unusable(err)
		}
	}
	return namespace, t.flags.Namespace != nil && *t.flags.Namespace != "", err
}
