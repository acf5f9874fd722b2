package catalogcmd

import (
	"context"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
	"github.com/kyma-project/lifecycle-manager/internal/client/communitycatalog"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/userfile"
)

// From is a catalog that a command of another package reads: one that shows available modules without a cluster, or takes a template from
// it.
type From struct {
	call

	address, digest, key string
	// read is the origin that was read last, with its digest.
	read modulestatus.Origin
}

// NewFrom returns a From for one call of a command.
func NewFrom(c *console.Console, t *target.Target) *From {
	return &From{call: call{console: c, target: t}}
}

// AddFlags adds --from with a text for its use, and the flags with requirements for the catalog.
func (f *From) AddFlags(flags *pflag.FlagSet, usage string) {
	flags.StringVar(&f.address, "from", "", usage)
	flags.StringVar(&f.digest, "digest", "", "digest that the catalog of --from must have: sha256:...")
	flags.StringVar(&f.key, "key", "", "PEM file with the public key that the catalog of --from must be signed with")
	f.webFlags(flags)
}

// Given reports whether a catalog is given.
func (f *From) Given() bool { return f.address != "" }

// Address returns the value of --from.
func (f *From) Address() string { return f.address }

// File reports whether --from is a file, which the command reads itself: nothing can vouch for it.
func (f *From) File() (bool, error) {
	if strings.Contains(f.address, "://") {
		return false, nil
	}
	if f.digest != "" || f.key != "" {
		return true, console.Usage("--digest and --key are of catalogs that are fetched, and --from=%s is a file: omit them", f.address)
	}
	return true, nil
}

// Read fetches the catalog: with the limits of package communitycatalog, and from public addresses only unless a flag allows others.
func (f *From) Read(ctx context.Context) (modulestatus.Inputs, error) {
	source, err := unnamed(ctx, f.address, f.digest, f.key)
	if err != nil {
		return modulestatus.Inputs{}, withExitCode(err)
	}
	found, digest, err := f.fetch(ctx, source)
	f.read = modulestatus.Origin{
		URL: source.URL, Digest: digest, Pinned: source.Digest != "", Key: source.Key, Version: source.Seen(found),
	}
	return modulestatus.Inputs{Templates: found.Templates, Releases: found.Releases}, withExitCode(err)
}

// Origin returns the catalog that was read; nil for a file, which cannot be read again.
func (f *From) Origin() *modulestatus.Origin {
	if f.read.URL == "" {
		return nil
	}
	return &f.read
}

// unnamed returns a source that is not stored; key is a file.
func unnamed(ctx context.Context, address, digest, key string) (communitycatalog.Source, error) {
	source := communitycatalog.Source{Name: "unnamed", URL: address, Digest: digest}
	if key != "" {
		text, err := userfile.Read(ctx, key)
		if err != nil {
			return source, err
		}
		source.Key = string(text)
	}
	return source.Complete()
}
