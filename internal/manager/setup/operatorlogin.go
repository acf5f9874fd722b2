package setup

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/controller/manifest"
	"github.com/kyma-project/lifecycle-manager/internal/manager/modulecontent"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// loginGuard decides the scope of the operator's own registry login for a Manifest, whose author chooses what is read with it:
//
//  1. In a namespace that the operator's flags name (its own, the one that it watches, those that may install into the hub), it reads
//     everything that the Manifest names.
//  2. Elsewhere, it reads the layers of the component for a Manifest of a Kyma, since it is the operator's task to install those.
//  3. Every other Manifest needs a login of its own.
type loginGuard struct {
	config *Config
	kymas  client.Reader
	// host returns the current registry.
	host func() (host string, plainHTTP bool)
}

func (g *loginGuard) of(ctx context.Context, m *v1beta2.Manifest) (modulecontent.OperatorLogin, error) {
	if g.config.trustsAuthors(m.Namespace) {
		return modulecontent.OperatorLogin{Any: true}, nil
	}
	owner := manifest.KymaOf(m)
	if owner == nil {
		return modulecontent.OperatorLogin{}, nil
	}
	kyma := &v1beta2.Kyma{}
	err := g.kymas.Get(ctx, client.ObjectKey{Namespace: m.Namespace, Name: owner.Name}, kyma)
	if apierrors.IsNotFound(err) || err == nil && kyma.UID != owner.UID {
		return modulecontent.OperatorLogin{}, nil
	}
	if err != nil {
		return modulecontent.OperatorLogin{}, err
	}
	return modulecontent.OperatorLogin{Repository: g.repository(m)}, nil
}

// repository returns the repository of the component that a Manifest names; empty when it names none.
func (g *loginGuard) repository(m *v1beta2.Manifest) string {
	name := m.Annotations[v1beta2.AnnotationOCMComponentName]
	path, _, err := descriptor.Locate(g.config.RegistrySubPath, descriptor.Mapping(g.config.NameMapping), name, m.Spec.Version)
	if err != nil {
		return ""
	}
	host, _ := g.host()
	return host + "/" + path
}
