package editcmd

import (
	"context"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
	"github.com/kyma-project/lifecycle-manager/internal/client/directinstall"
	"github.com/kyma-project/lifecycle-manager/internal/client/runtimeaccess"
)

// lookThere is how long a runtime may take to list its installed modules: the lifecycle manager will find out as well.
const lookThere = 15 * time.Second

// directThere returns the names of the modules that are installed without the lifecycle manager in the cluster of the Kyma's modules:
//
//  1. for a local Kyma, and for the copy in a runtime, in this cluster
//  2. for a remote Kyma, in its runtime, by the access Secret; modules of this cluster itself do not matter
//  3. if nothing leads to a runtime yet, none
//
// If a runtime cannot be read, a message says so, and no modules are returned.
func (c *change) directThere(ctx context.Context, s *session) []string {
	if s.Here() {
		return directModules(ctx, s)
	}
	ctx, cancel := context.WithTimeout(ctx, lookThere)
	defer cancel()
	names, err := c.directIn(ctx, s)
	if err != nil && runtimeaccess.ReasonOf(err) != v1beta2.ReasonAccessSecretNotFound {
		c.console.Sayf("It cannot be seen which modules are installed directly in the cluster of Kyma %s: %v", s.Key(), err)
	}
	return names
}

// directHere returns the names of the modules of this cluster itself that are installed without the lifecycle manager, as far as a
// command may mean them: none if --kyma names the Kyma of another cluster. s is nil if there is no Kyma.
func (c *change) directHere(ctx context.Context, cluster client.Reader, s *session) []string {
	if s != nil && c.kyma != "" && !s.Here() {
		return nil
	}
	return directModules(ctx, cluster)
}

// clusterOf returns the connection to the cluster of a Kyma's modules.
func (c *change) clusterOf(ctx context.Context, s *session) (*rest.Config, error) {
	here, err := c.target.Config()
	if err != nil || s.Here() {
		return here, err
	}
	return runtimeaccess.Cluster(ctx, s.WithWatch, here, s.Kyma)
}

// directIn queries the runtime of a remote Kyma.
func (c *change) directIn(ctx context.Context, s *session) ([]string, error) {
	config, err := c.clusterOf(ctx, s)
	if err != nil {
		return nil, err
	}
	runtime, err := target.Of(config).Client()
	if err != nil {
		return nil, err
	}
	installed, err := directinstall.List(ctx, runtime)
	var names []string
	for i := range installed {
		names = append(names, installed[i].Module)
	}
	return names, err
}

// absent returns the error for a module that the Kyma does not have; it may be installed directly.
func (c *change) absent(s *session, name string, isDirect bool) error {
	failure := console.NotFound("Kyma %s has no module %s", s.Key(), name)
	switch {
	case !isDirect:
		return failure.With("kyma add %s enables it", name)
	case s.Here():
		return failure.With("it is installed directly: kyma add %s --adopt hands it over", name)
	}
	return failure.With("it is installed directly in the cluster of the Kyma: call kyma there")
}
