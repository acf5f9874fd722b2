package authorcmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/registryauth"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
)

// moving is a command that copies a component version from one place to another.
type moving struct {
	from, to registryauth.Options
	how      component.CopyOptions
	dryRun   bool
}

func (m *moving) addFlags(command *cobra.Command) {
	m.from.AddFlags(command.Flags())
	command.Flags().BoolVar(&m.how.Images, "images", false, "take the images of the component along")
	command.Flags().BoolVar(&m.how.Overwrite, "overwrite", false, "replace other content under the same version")
	command.Flags().BoolVar(&m.dryRun, "dry-run", false, "write nothing, and report whether it would succeed")
}

func (a *author) copy() *cobra.Command {
	m := moving{from: logins(), to: logins()}
	command := &cobra.Command{
		Use:   "copy FROM TO",
		Short: "Copy a component version between registries and archives",
		Long: "copy copies a component version as it is: its digest and its signatures stay. TO may leave out " +
			"the component's name. With --images\n" +
			"the images go along, and the references to them are rewritten, as an air gap needs it; signatures stay valid, since they cover\n" +
			"what the images are and not where they lie.",
		Example: "  kyma module copy oci://ghcr.io/example//example.com/module/notes:0.1.0 oci://registry.example.com/modules\n" +
			"  kyma module copy oci://ghcr.io/example//example.com/module/notes:0.1.0 notes.tgz --images\n" +
			"  kyma module copy notes.tgz oci://registry.internal --images --to-username me --to-password-stdin < password",
		Args: cobra.ExactArgs(2),
	}
	output := outputs(command)
	m.addFlags(command)
	m.to.AddFlagsFor(command.Flags(), "to-")
	command.Flags().StringVar(&m.how.ImagePrefix, "image-prefix", "", "path below TO that images go to")
	command.RunE = func(command *cobra.Command, args []string) error {
		from, err := a.reference(args[0], &m.from)
		if err != nil {
			return err
		}
		to, err := a.destination(args[1], &m.to)
		if err != nil {
			return err
		}
		return a.move(command.Context(), output.Format, from, to, &m)
	}
	return command
}

func (a *author) pull() *cobra.Command {
	m := moving{from: logins(), to: logins()}
	command := &cobra.Command{
		Use:   "pull REF [PATH]",
		Short: "Fetch a component version from a registry into an archive",
		Long: "pull copies a component version into an archive: a directory, or a file that ends in .tar, .tgz " +
			"or .tar.gz (NAME-VERSION.tgz when\n" +
			"PATH is left out). unpack writes its content as files.",
		Example: "  kyma module pull oci://ghcr.io/example//example.com/module/notes:0.1.0\n" +
			"  kyma module pull http://localhost:5000//example.com/module/notes:0.1.0 notes.ctf --images",
		Args: cobra.RangeArgs(1, 2),
	}
	output := outputs(command)
	m.addFlags(command)
	command.RunE = func(command *cobra.Command, args []string) error {
		from, err := a.reference(args[0], &m.from)
		if err != nil {
			return err
		}
		to := component.Ref{Path: short(from.Name, from.Version) + ".tgz"}
		if len(args) == 2 {
			if to, err = component.ParseRef(args[1], component.Access{}); err != nil || to.Registry != nil {
				return console.Usage("%s is no path of an archive", args[1]).With("kyma module copy goes from one registry to another")
			}
		}
		return a.move(command.Context(), output.Format, from, to, &m)
	}
	return command
}

// destination returns where a copy goes: a registry, with or without the component, or an archive.
func (a *author) destination(text string, options *registryauth.Options) (component.Ref, error) {
	access, err := options.Access(a.console.In, hosts(text)...)
	if err != nil {
		return component.Ref{}, withExitCode(err)
	}
	scheme, rest, remote := strings.Cut(text, "://")
	if !remote || strings.Contains(rest, "//") {
		ref, err := component.ParseRef(text, access)
		if err != nil {
			return ref, console.Usage("%w", err)
		}
		return ref, nil
	}
	// The component's name is filled in later; the reference requires one.
	ref, err := component.ParseRef(scheme+"://"+strings.TrimRight(rest, "/")+"//example.com/module", access)
	if err != nil {
		return ref, console.Usage("%w", err)
	}
	ref.Name = ""
	return ref, nil
}

// move copies a component version and prints the result.
func (a *author) move(ctx context.Context, format console.Format, from, to component.Ref, m *moving) error {
	var done published
	err := opened(ctx, from, func(found *component.Opened) error {
		if to.Name == "" {
			to.Name, to.Version = found.Component.Name, found.Component.Version
		}
		if to.Version == "" {
			to.Version = found.Component.Version
		}
		report, err := copied(ctx, found.Ref, to, m.how, m.dryRun)
		if err != nil {
			return err
		}
		done = published{
			Name: to.Name, Version: to.Version, Ref: to.String(), Digest: report.Digest, Changed: report.Changed, DryRun: m.dryRun,
		}
		for _, image := range report.Images {
			done.Images = append(done.Images, copiedImage{Resource: image.Resource, From: image.From, To: image.To, Digest: image.Digest})
		}
		return nil
	})
	if err != nil {
		host := ""
		if to.Registry != nil {
			host = to.Registry.Host
		}
		return withExitCode(m.from.Explain(m.to.Explain(err, host), ""))
	}
	return a.printPublished(format, done)
}

func (a *author) unpack() *cobra.Command {
	logins := logins()
	command := &cobra.Command{
		Use:   "unpack REF [DIR]",
		Short: "Write the content of a component version as files",
		Long: "unpack writes the descriptor and the content of each resource into a directory (NAME-VERSION when " +
			"DIR is left out). Digests are\n" +
			"checked on the way, and nothing is written outside the directory.",
		Example: "  kyma module unpack notes.tgz\n  kyma module unpack oci://ghcr.io/example//example.com/module/notes:0.1.0 notes",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(command *cobra.Command, args []string) error {
			ref, err := a.reference(args[0], &logins)
			if err != nil {
				return err
			}
			err = opened(command.Context(), ref, func(found *component.Opened) error {
				dir := short(found.Component.Name, found.Component.Version)
				if len(args) == 2 {
					dir = args[1]
				}
				if err := component.Unpack(command.Context(), found.Ref, dir); err != nil {
					return err
				}
				_, err := fmt.Fprintln(a.console.Out, dir)
				return err
			})
			return withExitCode(logins.Explain(err, ""))
		},
	}
	logins.AddFlags(command.Flags())
	return command
}
