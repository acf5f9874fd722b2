package catalogcmd

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/communitycatalog"
	"github.com/kyma-project/lifecycle-manager/internal/client/userfile"
)

// sourceListed is the output of source list for programs.
type sourceListed struct {
	console.Versioned
	Items []communitycatalog.Source `json:"items"`
}

// sourceStore returns the store of this cluster's sources: in the namespace of --namespace, or else in the usual one.
func (c *call) sourceStore(ctx context.Context, dry bool) (communitycatalog.SourceStore, error) {
	cluster, err := c.target.Client()
	if err != nil {
		return communitycatalog.SourceStore{}, err
	}
	namespace, explicit, err := c.target.Namespace()
	if err == nil && !explicit {
		namespace, err = communitycatalog.Home(ctx, cluster)
	}
	return communitycatalog.SourceStore{Client: cluster, Namespace: namespace, DryRun: dry}, err
}

// adding is one call of `kyma catalog source add`.
type adding struct {
	*call

	digest, key          string
	test, force, require bool
	dryRun               string
}

func sourceAdd(c *call) *cobra.Command {
	a := &adding{call: c}
	command := &cobra.Command{
		Use:   "add NAME ADDRESS",
		Short: "Keep the address of a catalog",
		Long: "ADDRESS is a file on a web server (https://HOST/PATH), an artifact of a registry (oci://HOST/PATH:TAG) or a namespace\n" +
			"of the cluster (cluster://NAMESPACE). With --digest the catalog must not change; with --key it must be signed: by\n" +
			"ADDRESS.sig of a file, by cosign beside an artifact. It is read once before it is kept; --test=false leaves that away.\n" +
			"A signed catalog that has expired is refused, and so is one that is older than one that was seen of the source; with\n" +
			"--require-freshness also one that does not say its version and its expiry.",
		Example: "  kyma catalog source add kyma https://kyma-project.github.io/community-modules/all-modules.yaml\n" +
			"  kyma catalog source add ours oci://ghcr.io/example/catalog:latest --key cosign.pub",
		Args: cobra.ExactArgs(2), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(command *cobra.Command, args []string) error {
			return withExitCode(a.run(command.Context(), args[0], args[1]))
		},
	}
	flags := command.Flags()
	flags.StringVar(&a.digest, "digest", "", "digest that the catalog must have: sha256:...")
	flags.StringVar(&a.key, "key", "", "PEM file with the public key that the catalog must be signed with")
	flags.BoolVar(&a.require, "require-freshness", false, "refuse a signed catalog without a version or an expiry")
	flags.BoolVar(&a.test, "test", true, "read the catalog before it is kept")
	flags.BoolVar(&a.force, "force", false, "put it in place of another one of its name")
	flags.StringVar(&a.dryRun, "dry-run", "none", "none, client (only print what would happen) or server (let the API server check it too)")
	c.webFlags(flags)
	c.outputFlag(flags, console.Table, console.JSON, console.YAML, console.Name)
	return command
}

func (a *adding) run(ctx context.Context, name, address string) error {
	if a.dryRun != "none" && a.dryRun != "client" && a.dryRun != "server" {
		return console.Usage("--dry-run=%s is unknown", a.dryRun).With("use one of none, client and server")
	}
	source := communitycatalog.Source{Name: name, URL: address, Digest: a.digest, RequireFreshness: a.require}
	if a.key != "" {
		text, err := userfile.Read(ctx, a.key)
		if err != nil {
			return err
		}
		source.Key = strings.TrimSpace(string(text)) + "\n"
	}
	source, err := source.Complete()
	if err != nil {
		return err
	}
	var found communitycatalog.Catalog
	if a.test {
		var digest string
		if found, digest, err = a.fetch(ctx, source); err != nil {
			return err
		}
		now := time.Now().UTC().Truncate(time.Second)
		source.Modules, source.Checked = len(found.Modules()), &now
		if !source.Pinned() && digest != "" {
			a.console.Sayf("Neither a digest nor a key vouches for what %s serves. It has the digest %s now: "+
				"--digest keeps to it, --key asks for a signature.",
				source.URL, digest)
		}
	}
	if a.dryRun != "client" {
		if err := a.keep(ctx, source, found); err != nil {
			return err
		}
	}
	source.Version = source.Seen(found)
	return a.print([]communitycatalog.Source{source})
}

// keep stores a source, and the result of reading it.
func (a *adding) keep(ctx context.Context, source communitycatalog.Source, found communitycatalog.Catalog) error {
	shelf, err := a.sourceStore(ctx, a.dryRun == "server")
	if err != nil {
		return err
	}
	if err := shelf.Add(ctx, source, a.force); err != nil || source.Checked == nil || shelf.DryRun {
		return err
	}
	if err := shelf.Saw(ctx, source, found); err != nil {
		return err
	}
	return shelf.Note(ctx, source.Name, source.Modules, nil, *source.Checked)
}

// fetch reads a catalog with the limits of the flags, and prints what a user should know about it.
func (c *call) fetch(ctx context.Context, source communitycatalog.Source) (communitycatalog.Catalog, string, error) {
	limits, err := c.limits(source.URL)
	if err != nil {
		return communitycatalog.Catalog{}, "", err
	}
	if source.Kind == communitycatalog.Cluster {
		if limits.Cluster, err = c.target.Client(); err != nil {
			return communitycatalog.Catalog{}, "", err
		}
	}
	found, digest, err := communitycatalog.Fetch(ctx, source, limits)
	if found.Warning != "" {
		c.console.Sayf("Warning: %s.", found.Warning)
	}
	return found, digest, err
}

func sourceList(c *call) *cobra.Command {
	command := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the catalogs whose addresses are kept",
		Example: "  kyma catalog source list\n  kyma catalog source list -o json",
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			shelf, err := c.sourceStore(command.Context(), false)
			if err != nil {
				return withExitCode(err)
			}
			sources, err := shelf.List(command.Context())
			if err != nil {
				return withExitCode(err)
			}
			return c.print(sources)
		},
	}
	c.outputFlag(command.Flags())
	return command
}

// print writes sources.
func (c *call) print(sources []communitycatalog.Source) error {
	document := console.Document{
		Data: sourceListed{Versioned: console.Kind("CatalogSourceList"), Items: append([]communitycatalog.Source{}, sources...)},
		Columns: []console.Column{
			{Name: "NAME"}, {Name: "ADDRESS"}, {Name: "MODULES"}, {Name: "CHECKED"}, {Name: "VOUCHED"}, {Name: "ERROR"},
			{Name: "VERSION", Wide: true}, {Name: "DIGEST", Wide: true},
		},
		Empty: "There are no sources. kyma catalog source add keeps one.",
	}
	for _, s := range sources {
		checked, modules, version := "", "", ""
		if s.Version > 0 {
			version = strconv.FormatInt(s.Version, 10)
		}
		if s.Checked != nil {
			checked, modules = s.Checked.Format(time.RFC3339), strconv.Itoa(s.Modules)
		}
		document.Names = append(document.Names, "source/"+s.Name)
		document.Rows = append(document.Rows, []string{s.Name, s.URL, modules, checked, provenance(s), s.Error, version, s.Digest})
	}
	return c.console.Print(c.output.Format, document)
}

// provenance returns what vouches for a source.
func provenance(s communitycatalog.Source) string {
	switch {
	case s.Kind == communitycatalog.Cluster:
		return "by the cluster"
	case s.Key != "" && s.Digest != "":
		return "by digest and key"
	case s.Key != "":
		return "by key"
	case s.Digest != "":
		return "by digest"
	}
	return "no"
}

func sourceRemove(c *call) *cobra.Command {
	command := &cobra.Command{
		Use:   "remove NAME",
		Short: "Forget the address of a catalog; modules that came from it stay",
		Example: "  kyma catalog source remove ours\n" +
			"  kyma catalog source remove ours -n kyma-system",
		Args: cobra.ExactArgs(1), ValidArgsFunction: c.completeSources,
		RunE: func(command *cobra.Command, args []string) error {
			shelf, err := c.sourceStore(command.Context(), false)
			if err == nil {
				err = shelf.Remove(command.Context(), args[0])
			}
			if err != nil {
				return withExitCode(err)
			}
			_, err = fmt.Fprintf(c.console.Out, "source/%s removed\n", args[0])
			return err
		},
	}
	return command
}

// completeSources offers the names of sources.
func (c *call) completeSources(command *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	shelf, err := c.sourceStore(command.Context(), false)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	sources, err := shelf.List(command.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, s := range sources {
		names = append(names, s.Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
