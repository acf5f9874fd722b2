package authorcmd

import (
	"github.com/go-logr/logr"

	"github.com/kyma-project/lifecycle-manager/internal/client/registryauth"
	"github.com/kyma-project/lifecycle-manager/internal/policy"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// logins returns the flags about registries, with support for the operator's registries file.
func logins() registryauth.Options { return registryauth.Options{ReadRegistries: readRegistries} }

// readRegistries reads the file once: no command lasts long enough to watch it.
func readRegistries(file string) (func(host string) content.HostPolicy, error) {
	read, err := policy.Registries(file, logr.Discard())
	if err != nil {
		return nil, err
	}
	return read.Host, nil
}
