package catalogcmd

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/communitycatalog"
	"github.com/kyma-project/lifecycle-manager/pkg/diagnostics"
)

// trying is one call of `kyma catalog source test`.
type trying struct {
	*call

	digest, key string
}

// tried is the output of test for programs.
type tried struct {
	console.Versioned
	URL      string                    `json:"url"`
	Digest   string                    `json:"digest,omitempty"`
	Vouched  bool                      `json:"vouched"`
	Version  int64                     `json:"version,omitempty"`
	Expires  *time.Time                `json:"expires,omitempty"`
	Warning  string                    `json:"warning,omitempty"`
	Modules  []communitycatalog.Module `json:"modules"`
	Problems []diagnostics.Finding     `json:"problems"`
}

func sourceTest(c *call) *cobra.Command {
	t := &trying{call: c}
	command := &cobra.Command{
		Use:   "test NAME|ADDRESS",
		Short: "Read a catalog: which modules it has, and what is wrong with it",
		Long: "test reads a catalog that is kept (NAME), or any other (ADDRESS), with digest and signature where they are given.\n" +
			"What it finds with one that is kept is noted there. Problems are what kyma catalog lint says of such a catalog; they do\n" +
			"not fail the test.",
		Example: "  kyma catalog source test ours\n" +
			"  kyma catalog source test https://kyma-project.github.io/community-modules/all-modules.yaml -o json",
		Args: cobra.ExactArgs(1), ValidArgsFunction: c.completeSources,
		RunE: func(command *cobra.Command, args []string) error {
			return withExitCode(t.run(command.Context(), args[0]))
		},
	}
	flags := command.Flags()
	flags.StringVar(&t.digest, "digest", "", "digest that the catalog must have: sha256:...")
	flags.StringVar(&t.key, "key", "", "PEM file with the public key that the catalog must be signed with")
	c.webFlags(flags)
	c.outputFlag(flags, console.Table, console.JSON, console.YAML, console.Name)
	return command
}

func (t *trying) run(ctx context.Context, arg string) error {
	if strings.Contains(arg, "://") {
		source, err := unnamed(ctx, arg, t.digest, t.key)
		if err != nil {
			return err
		}
		found, digest, err := t.fetch(ctx, source)
		if err != nil {
			return err
		}
		return t.tell(ctx, source, found, digest)
	}
	if t.digest != "" || t.key != "" {
		return console.Usage("source %s is kept with its digest and key: omit --digest and --key", arg)
	}
	return t.kept(ctx, arg)
}

// kept tests a stored source, and records the result on it. Users who may not write that may still test.
func (t *trying) kept(ctx context.Context, name string) error {
	shelf, err := t.sourceStore(ctx, false)
	if err != nil {
		return err
	}
	source, err := shelf.Get(ctx, name)
	if err != nil {
		return err
	}
	if source.URL == "" {
		return errors.New(source.Error)
	}
	found, digest, trouble := t.fetch(ctx, source)
	if trouble == nil {
		if err := t.keepSeen(ctx, shelf, source, found); err != nil {
			return err
		}
	}
	noted := shelf.Note(ctx, name, len(found.Modules()), trouble, time.Now())
	switch {
	case trouble != nil:
		return trouble
	case apierrors.IsForbidden(noted):
		t.console.Sayf("You may not note that at the source: %v", noted)
	case noted != nil:
		return noted
	}
	return t.tell(ctx, source, found, digest)
}

func (t *trying) tell(ctx context.Context, source communitycatalog.Source, found communitycatalog.Catalog, digest string) error {
	problems := communitycatalog.Check(ctx, found, communitycatalog.Options{})
	made := tried{
		Versioned: console.Kind("CatalogTest"), URL: source.URL, Digest: digest, Vouched: source.Pinned(),
		Version: found.Freshness.Version, Warning: found.Warning,
		Modules: found.Modules(), Problems: append([]diagnostics.Finding{}, problems...),
	}
	if expires := found.Freshness.Expires; !expires.IsZero() {
		made.Expires = &expires
	}
	document := console.Document{
		Data:    made,
		Columns: []console.Column{{Name: "MODULE"}, {Name: "VERSIONS"}},
		Empty:   "The catalog has no modules.",
	}
	for _, m := range found.Modules() {
		document.Names = append(document.Names, "module/"+m.Name)
		document.Rows = append(document.Rows, []string{m.Name, strings.Join(m.Versions, ", ")})
	}
	if t.output.Format == console.Table {
		for _, p := range problems {
			t.console.Sayf("%s", p)
		}
		if digest != "" {
			t.console.Sayf("Digest: %s", digest)
		}
		if made.Version > 0 {
			t.console.Sayf("Version: %d", made.Version)
		}
		if made.Expires != nil {
			t.console.Sayf("Expires: %s", made.Expires.Format(time.RFC3339))
		}
	}
	return t.console.Print(t.output.Format, document)
}
