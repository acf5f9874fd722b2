package operations

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/runtimeaccess"
)

// scheme holds the kinds of Kubernetes and our own. It is made when first needed: every command of kyma links this package.
var scheme = sync.OnceValue(func() *runtime.Scheme {
	made := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(made))
	utilruntime.Must(v1beta2.AddToScheme(made))
	return made
})

// cluster is one cluster as one user reaches it.
type cluster struct {
	client.WithWatch
	config *rest.Config
}

func connect(config *rest.Config) (*cluster, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1 // the API server has limits of its own
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	mapper, err := apiutil.NewDynamicRESTMapper(config, httpClient)
	if err != nil {
		return nil, err
	}
	c, err := client.NewWithWatch(config, client.Options{HTTPClient: httpClient, Scheme: scheme(), Mapper: mapper})
	return &cluster{c, config}, err
}

// hubContext is a hub with the Kyma that a request is about, and the modules that are available for it.
type hubContext struct {
	*cluster
	kymaedit.KymaContext
}

// open reads a Kyma and its catalog, as the user.
func (p *planner) open(ctx context.Context, kyma string) (*hubContext, error) {
	c, err := connect(p.as.Config)
	if err != nil {
		return nil, err
	}
	namespace, name, _ := strings.Cut(kyma, "/")
	found := &v1beta2.Kyma{}
	err = c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, found)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil, refuse(WhyNotFound, "there is no Kyma %s", kyma)
	}
	if err != nil {
		return nil, err
	}
	s := &hubContext{c, kymaedit.StandOf(found)}
	if s.Here() {
		p.here = append(p.here, kyma)
	}
	return s, s.Load(ctx, c)
}

// unserved reports whether a cluster does not have a kind or an object at all.
func unserved(err error) bool { return meta.IsNoMatchError(err) || apierrors.IsNotFound(err) }

// modules returns the cluster that the modules of the Kyma are in.
func (s *hubContext) modules(ctx context.Context) (*cluster, error) {
	if s.Here() {
		return s.cluster, nil
	}
	config, err := runtimeaccess.Cluster(ctx, s.WithWatch, s.config, s.Kyma)
	if err != nil {
		return nil, err
	}
	return connect(config)
}

// check gives an error of Check a reason of this package.
func (s *hubContext) check(spec *v1beta2.KymaSpec, wish kymaedit.ModuleRequest) error {
	return judged(s.Check(spec, wish))
}

// judged gives an error of package kymaedit a reason of this package.
func judged(err error) error {
	var unknown *kymaedit.UnknownError
	var lower *kymaedit.LowerError
	var absent *modulestatus.AbsentError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &absent):
		return refuse(WhyNotFound, "%s", absent)
	case errors.As(err, &unknown):
		return refuse(WhyNotFound, "%s", unknown)
	case errors.As(err, &lower):
		return refuse(WhyRefused, "%s: delete the module, and add it again", lower)
	}
	return refuse(WhyRefused, "%s", err)
}

// absent returns the error for a module that a Kyma does not have.
func (s *hubContext) absent(name string) error {
	var have []string
	for i := range s.Asked.Modules {
		have = append(have, s.Asked.Modules[i].Name)
	}
	if len(have) == 0 {
		return refuse(WhyNotFound, "Kyma %s has no module %s: it has none at all", s.Key(), name)
	}
	return refuse(WhyNotFound, "Kyma %s has no module %s: it has %s", s.Key(), name, strings.Join(have, ", "))
}

// explain returns an error of the API server about a Kyma as a sentence.
func (s *hubContext) explain(err error) error {
	switch {
	case apierrors.IsNotFound(err):
		return refuse(WhyNotFound, "the Kyma %s is gone", s.Key())
	case apierrors.IsForbidden(err):
		return fmt.Errorf("you may not change Kyma %s: %w", s.Key(), err)
	}
	return err
}
