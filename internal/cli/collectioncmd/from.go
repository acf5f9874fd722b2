package collectioncmd

import (
	"context"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
	"github.com/kyma-project/lifecycle-manager/internal/collection"
	"github.com/kyma-project/lifecycle-manager/internal/userfile"
	"github.com/kyma-project/lifecycle-manager/internal/view"
)

// From is a catalog that a command of another package reads: one that shows what can be had without a cluster, or takes a template of it.
type From struct {
	call

	address, digest, key string
	// read is what was read last, with the digest that it had.
	read view.Origin
}

// NewFrom is for one call of a command.
func NewFrom(c *console.Console, t *target.Target) *From {
	return &From{call: call{console: c, target: t}}
}

// AddFlags adds --from with words for what it does, and the flags that say what the catalog must look like.
func (f *From) AddFlags(flags *pflag.FlagSet, usage string) {
	flags.StringVar(&f.address, "from", "", usage)
	flags.StringVar(&f.digest, "digest", "", "digest that the catalog of --from must have: sha256:...")
	flags.StringVar(&f.key, "key", "", "PEM file with the public key that the catalog of --from must be signed with")
	f.webFlags(flags)
}

// Given says whether there is a catalog to look into.
func (f *From) Given() bool { return f.address != "" }

// Address is what --from says.
func (f *From) Address() string { return f.address }

// File says whether --from is a file, which the command reads itself: nothing is there that could vouch for it.
func (f *From) File() (bool, error) {
	if strings.Contains(f.address, "://") {
		return false, nil
	}
	if f.digest != "" || f.key != "" {
		return true, console.Usage("--digest and --key are of catalogs that are fetched, and --from=%s is a file: leave them away", f.address)
	}
	return true, nil
}

// Read fetches the catalog: with the limits of package collection, and from public addresses only unless a flag allows others.
func (f *From) Read(ctx context.Context) (view.Inputs, error) {
	source, err := unnamed(ctx, f.address, f.digest, f.key)
	if err != nil {
		return view.Inputs{}, told(err)
	}
	found, digest, err := f.fetch(ctx, source)
	f.read = view.Origin{
		URL: source.URL, Digest: digest, Pinned: source.Digest != "", Key: source.Key, Version: source.Seen(found),
	}
	return view.Inputs{Templates: found.Templates, Releases: found.Releases}, told(err)
}

// Origin is the catalog that was read; nil for a file, which nobody can ask again.
func (f *From) Origin() *view.Origin {
	if f.read.URL == "" {
		return nil
	}
	return &f.read
}

// unnamed is a source that nobody keeps; key is a file.
func unnamed(ctx context.Context, address, digest, key string) (collection.Source, error) {
	source := collection.Source{Name: "unnamed", URL: address, Digest: digest}
	if key != "" {
		text, err := userfile.Read(ctx, key)
		if err != nil {
			return source, err
		}
		source.Key = string(text)
	}
	return source.Complete()
}
