package modulecmd

import (
	"github.com/go-logr/logr"

	"github.com/kyma-project/lifecycle-manager/internal/login"
	"github.com/kyma-project/lifecycle-manager/internal/policy"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// logins are the flags about registries, with the file that the operator takes as well.
func logins() login.Options { return login.Options{ReadRegistries: readRegistries} }

// readRegistries reads the file once: no command lasts long enough to follow it.
func readRegistries(file string) (func(host string) content.HostPolicy, error) {
	read, err := policy.Registries(file, logr.Discard())
	if err != nil {
		return nil, err
	}
	return read.Host, nil
}
