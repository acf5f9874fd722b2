package modulecmd

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/login"
	"github.com/kyma-project/lifecycle-manager/internal/packaging"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
)

func (a *author) build() *cobra.Command {
	var s sources
	var signs signing
	var logins login.Options
	var output string
	var overwrite bool
	command := &cobra.Command{
		Use:   "build [DIR]",
		Short: "Pack a module into an archive, without a registry",
		Long: "build writes a component version into an archive: a directory, or a file that ends in .tar, .tgz " +
			"or .tar.gz. The same input gives the\n" +
			"same bytes on every machine. Versions that are in the archive already stay. The digest of the component version is written to\n" +
			"standard output.",
		Example: "  kyma module build notes -o notes.tgz\n  kyma module build -c notes -o archive.ctf --sign-key private.pem\n" +
			"  kyma module build --from ghcr.io/example/notes:1.0.0 --name example.com/module/notes --version 1.0.0 -o notes.tgz",
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			access, err := logins.Access(a.console.In, hosts(s.from)...)
			if err != nil {
				return told(err)
			}
			version, _, err := a.prepared(command.Context(), &s, &signs, args, access)
			if err != nil {
				return told(logins.Explain(err, s.from))
			}
			if output == "" {
				output = short(version.Name, version.Version) + ".tgz"
			}
			before, _ := digestThere(command.Context(), component.Ref{Path: output, Name: version.Name, Version: version.Version})
			digest, err := component.Build(command.Context(), output, version, options(overwrite)...)
			if err != nil {
				return told(logins.Explain(err, ""))
			}
			a.sayChanged(published{Ref: filepath.Clean(output) + "//" + version.Name + ":" + version.Version, Changed: before != digest})
			_, err = fmt.Fprintln(a.console.Out, digest)
			return err
		},
	}
	s.addFlags(command)
	signs.addFlags(command.Flags(), "sign-key", "")
	logins.AddFlags(command.Flags())
	command.Flags().StringVarP(&output, "output", "o", "", "archive to write (default NAME-VERSION.tgz)")
	command.Flags().BoolVar(&overwrite, "overwrite", false, "replace other content under the same version")
	return command
}

// prepared is the component version that flags and arguments describe, with who signs it.
func (a *author) prepared(
	ctx context.Context, s *sources, signs *signing, args []string, access component.Access,
) (version component.Version, source *packaging.Source, err error) {
	file, err := s.configFile(args)
	if err != nil {
		return version, nil, err
	}
	if file != "" {
		if source, err = a.load(ctx, file); err != nil {
			return version, nil, err
		}
	}
	if version, err = a.componentVersion(ctx, s, source, access); err != nil {
		return version, nil, err
	}
	if version.Version == "" {
		return version, nil, console.Usage("which version of %s?", version.Name).With("say --version")
	}
	version.Access = access
	version.Signer, err = signs.signer()
	return version, source, err
}
