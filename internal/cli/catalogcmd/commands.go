package catalogcmd

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
	"github.com/kyma-project/lifecycle-manager/internal/client/communitycatalog"
	"github.com/kyma-project/lifecycle-manager/internal/client/registryauth"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// Commands returns the verbs of this package, for the root command: all are below `kyma catalog`.
func Commands(c *console.Console, t *target.Target) []*cobra.Command {
	call := func() *call { return &call{console: c, target: t} }
	catalog := &cobra.Command{Use: "catalog", Short: "See and make catalogs of modules"}
	source := &cobra.Command{
		Use:   "source",
		Short: "Keep the addresses of community catalogs",
		Long: "A source is the address of a catalog of community modules, with what it must look like: its digest, or the key that signs it.\n" +
			"Sources are ConfigMaps in the namespace of the hub (kcp-system, else kyma-system), which the dashboard reads too.",
	}
	source.AddCommand(sourceAdd(call()), sourceList(call()), sourceRemove(call()), sourceTest(call()))
	catalog.AddCommand(lint(call()), build(call()), export(call()), source)
	return []*cobra.Command{catalog}
}

// call is one call of a command.
type call struct {
	console *console.Console
	target  *target.Target
	output  *console.Formats

	allowPrivate bool
	login        registryauth.Options
}

func (c *call) outputFlag(flags *pflag.FlagSet, formats ...console.Format) {
	c.output = console.OutputFlag(formats...)
	flags.VarP(c.output, "output", "o", "how to write it: "+c.output.Words())
}

// webFlags adds the flags of commands that read from the web or from a registry.
func (c *call) webFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&c.allowPrivate, "allow-private-catalogs", false, "read from addresses of private networks and of this machine too")
	flags.StringVar(&c.login.CAFile, "ca-file", "", "PEM file with certificates that servers may be signed by")
	flags.BoolVar(&c.login.PlainHTTP, "plain-http", false, "speak http to the registry of an oci:// address")
}

// limits returns the limits of a fetch from an address.
func (c *call) limits(address string) (communitycatalog.Limits, error) {
	access, err := c.login.Access(c.console.In, address)
	if err != nil {
		return communitycatalog.Limits{}, console.Usage("%w", err)
	}
	return communitycatalog.Limits{
		AllowPrivate: c.allowPrivate, Registries: content.Registries{Credentials: access.Credentials, Policy: access.Policy},
	}, nil
}

// folder returns the folder that an argument names, or the current one.
func folder(args []string) string {
	if len(args) > 0 {
		return args[0]
	}
	return "."
}

// vouching lists the reasons that are printed before the message: other programs look for them.
var vouching = []string{
	v1beta2.ReasonSignatureMissing, v1beta2.ReasonSignatureInvalid, content.ReasonDigestMismatch,
	communitycatalog.WhyExpired, communitycatalog.WhyOutdated,
}

// withExitCode gives an error its exit code, and a hint if one helps.
func withExitCode(err error) error {
	var failure *console.Failure
	switch reason := content.ReasonOf(err); {
	case err == nil || errors.As(err, &failure):
		return err
	case apierrors.IsNotFound(err), errors.Is(err, fs.ErrNotExist), reason == content.ReasonContentNotFound:
		return &console.Failure{Code: console.CodeNotFound, Err: err}
	case apierrors.IsAlreadyExists(err):
		return (&console.Failure{Code: console.CodeError, Err: err}).With("--force replaces it")
	case reason == content.ReasonSourceInvalid:
		return &console.Failure{Code: console.CodeUsage, Err: err}
	case slices.Contains(vouching, reason):
		return &console.Failure{Code: console.CodeError, Err: fmt.Errorf("%s: %w", reason, err)}
	}
	return err
}
