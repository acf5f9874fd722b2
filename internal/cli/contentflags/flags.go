package contentflags

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/directinstall"
	"github.com/kyma-project/lifecycle-manager/internal/client/hubsettings"
	"github.com/kyma-project/lifecycle-manager/internal/client/registryauth"
	"github.com/kyma-project/lifecycle-manager/internal/client/userfile"
	"github.com/kyma-project/lifecycle-manager/internal/client/versioncontent"
	"github.com/kyma-project/lifecycle-manager/internal/policy"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// Flags are the values of the flags. The zero value is ready for use.
type Flags struct {
	// Registry is flag --registry.
	Registry string
	// Login are the flags with the prefix --registry-.
	Login registryauth.Options
}

// Add adds the flags to a command.
func (f *Flags) Add(flags *pflag.FlagSet) {
	flags.StringVar(&f.Registry, "registry", "",
		"registry with the modules' components: [oci://|http://]HOST[:PORT][/PATH] (default: the one that the lifecycle manager reads)")
	f.Login.ReadRegistries = readRegistries
	f.Login.AddFlagsFor(flags, "registry-")
}

// readRegistries reads the file once: no command lasts long enough to watch it.
func readRegistries(file string) (func(host string) content.HostPolicy, error) {
	read, err := policy.Registries(file, logr.Discard())
	if err != nil {
		return nil, err
	}
	return read.Host, nil
}

// Loader returns a Loader for versions of a module in a namespace of a hub, with the logins of the flags. Close it.
func (f *Flags) Loader(
	ctx context.Context, c *console.Console, from client.Reader, namespace, module string,
) (*versioncontent.Loader, error) {
	settings, err := hubsettings.Read(ctx, from, hubsettings.Files{ReadFile: userfile.Read})
	if err != nil {
		return nil, err
	}
	return f.LoaderFor(c, from, settings.FindPlace(ctx, from, namespace, module))
}

// LoaderFor is Loader where the place is known from which the lifecycle manager reads components.
func (f *Flags) LoaderFor(c *console.Console, from client.Reader, hub versioncontent.Place) (*versioncontent.Loader, error) {
	access, err := f.Login.Access(c.In, cmp.Or(f.Registry, hub.Registry))
	if err != nil {
		return nil, console.Usage("%w", err)
	}
	return &versioncontent.Loader{
		Access: directinstall.Access(access), Registry: strings.TrimPrefix(f.Registry, "oci://"), Hub: hub, HubReader: from,
	}, nil
}

// Explain turns an error of a Loader into a failure of the command, with a hint.
func (f *Flags) Explain(err error) error {
	var typed *versioncontent.Error
	if !errors.As(err, &typed) {
		return err
	}
	code := console.CodeError
	if typed.Reason == versioncontent.ReasonTimeout {
		code = console.CodeTimeout
	}
	failure := &console.Failure{Code: code, Err: err, Hint: typed.Remedy}
	if known, ok := errors.AsType[*registryauth.Refusal](f.Login.Explain(err, typed.Host)); ok {
		failure.Err, failure.Hint = known, ""
	}
	return failure
}
