package target

import (
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// Scheme holds the kinds of Kubernetes and our own. It is made when a command first needs a cluster: most starts do not.
var Scheme = sync.OnceValue(func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(apiextensionsv1.AddToScheme(scheme))
	utilruntime.Must(v1beta2.AddToScheme(scheme))
	return scheme
})

// known maps the kinds that commands use without discovery, and leaves the rest to the other mapper.
func known(others meta.RESTMapper) meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper(nil)
	add := func(gv schema.GroupVersion, scope meta.RESTScope, kinds ...string) {
		for _, kind := range kinds {
			mapper.Add(gv.WithKind(kind), scope)
		}
	}
	add(corev1.SchemeGroupVersion, meta.RESTScopeNamespace, "Secret", "ConfigMap", "Event", "Pod", "ServiceAccount", "Service")
	add(corev1.SchemeGroupVersion, meta.RESTScopeRoot, "Namespace", "Node")
	add(appsv1.SchemeGroupVersion, meta.RESTScopeNamespace, "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet")
	add(apiextensionsv1.SchemeGroupVersion, meta.RESTScopeRoot, "CustomResourceDefinition")
	add(authorizationv1.SchemeGroupVersion, meta.RESTScopeRoot, "SelfSubjectAccessReview")
	add(authenticationv1.SchemeGroupVersion, meta.RESTScopeRoot, "SelfSubjectReview")
	add(v1beta2.GroupVersion, meta.RESTScopeNamespace, "Manifest", "ModuleTemplate", "ModuleReleaseMeta", "ModuleRollout", "KymaRelease")
	kyma := v1beta2.GroupVersion.WithKind("Kyma")
	mapper.AddSpecific(kyma, v1beta2.GroupVersion.WithResource("kymas"), v1beta2.GroupVersion.WithResource("kyma"), meta.RESTScopeNamespace)
	return meta.FirstHitRESTMapper{MultiRESTMapper: meta.MultiRESTMapper{mapper, others}}
}
