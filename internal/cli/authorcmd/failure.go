package authorcmd

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/packaging"
	"github.com/kyma-project/lifecycle-manager/internal/client/registryauth"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// withExitCode gives an error its exit code, and a hint if one helps.
func withExitCode(err error) error {
	var failure *console.Failure
	var flags *registryauth.FlagError
	var conflict *component.ConflictError
	var verify *component.VerifyError
	switch {
	case err == nil || errors.As(err, &failure):
		return err
	case errors.As(err, &flags):
		return console.Usage("%s", flags.Message).With("%s", flags.Hint)
	case errors.As(err, &conflict):
		return (&console.Failure{Code: console.CodeError, Err: fmt.Errorf(
			"%s is already published as %s with other content: it has %s; %s would have %s",
			conflict.Component, conflict.Digest, conflict.Existing, conflict.OfferedDigest, conflict.Offered)}).
			With("a published version should stay what it is: raise the version; --overwrite replaces it anyway")
	case errors.As(err, &verify):
		return &console.Failure{Code: console.CodeError, Err: fmt.Errorf("%s: %w", verify.Reason, err)}
	case errors.Is(err, packaging.ErrExists):
		return (&console.Failure{Code: console.CodeError, Err: err}).With("--overwrite replaces the configuration and keeps the rest")
	case descriptor.ReasonOf(err) == descriptor.ReasonNotFound, errors.Is(err, fs.ErrNotExist):
		return &console.Failure{Code: console.CodeNotFound, Err: err}
	}
	return err
}
