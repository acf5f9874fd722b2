package server

import (
	"sync"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// scheme holds the kinds of Kubernetes and our own. It is made when first needed: every command of kyma links this package.
var scheme = sync.OnceValue(func() *runtime.Scheme {
	all := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(all))
	utilruntime.Must(apiextensionsv1.AddToScheme(all))
	utilruntime.Must(metav1.AddMetaToScheme(all))
	utilruntime.Must(v1beta2.AddToScheme(all))
	return all
})

// mapperOf discovers what a cluster serves when that is first needed. Access reviews need no discovery.
func mapperOf(config *rest.Config) (meta.RESTMapper, error) {
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	found, err := apiutil.NewDynamicRESTMapper(config, httpClient)
	if err != nil {
		return nil, err
	}
	known := meta.NewDefaultRESTMapper(nil)
	for _, kind := range []string{"SelfSubjectAccessReview", "SelfSubjectRulesReview"} {
		known.Add(authorizationv1.SchemeGroupVersion.WithKind(kind), meta.RESTScopeRoot)
	}
	known.Add(authenticationv1.SchemeGroupVersion.WithKind("SelfSubjectReview"), meta.RESTScopeRoot)
	return meta.FirstHitRESTMapper{MultiRESTMapper: meta.MultiRESTMapper{known, found}}, nil
}

// connect returns a client without a cache and without a rate limit.
func connect(config *rest.Config, mapper meta.RESTMapper) (client.WithWatch, error) {
	return client.NewWithWatch(config, client.Options{Scheme: scheme(), Mapper: mapper})
}

// asSomebody returns a copy of a connection with a token in place of its credentials.
func asSomebody(base *rest.Config, token string) *rest.Config {
	config := rest.AnonymousClientConfig(base)
	config.BearerToken = token
	config.QPS = -1
	return config
}
