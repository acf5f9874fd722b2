package authorcmd

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/packaging"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
)

func (a *author) build() *cobra.Command {
	var s sources
	var signs signing
	logins := logins()
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
				return withExitCode(err)
			}
			source, err := a.source(command.Context(), &s, args)
			if err != nil {
				return withExitCode(err)
			}
			version, err := a.prepared(command.Context(), &s, &signs, source, access)
			if err != nil {
				return withExitCode(logins.Explain(err, s.from))
			}
			if output == "" {
				output = short(version.Name, version.Version) + ".tgz"
			}
			done, err := built(command.Context(), output, version, overwrite)
			if err != nil {
				return withExitCode(logins.Explain(err, ""))
			}
			a.sayChanged(done)
			_, err = fmt.Fprintln(a.console.Out, done.Digest)
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

// built writes an archive.
func built(ctx context.Context, archive string, version component.Version, overwrite bool) (done published, err error) {
	done = published{Name: version.Name, Version: version.Version, Ref: filepath.Clean(archive) + "//" + version.Name + ":" + version.Version}
	before, err := digestThere(ctx, component.Ref{Path: archive, Name: version.Name, Version: version.Version})
	if err != nil {
		return done, err
	}
	done.Digest, err = component.Build(ctx, archive, version, options(overwrite)...)
	done.Changed = before != done.Digest
	return done, err
}

// source returns the module that flags and arguments name; nil if a component is made without a configuration.
func (a *author) source(ctx context.Context, s *sources, args []string) (*packaging.Source, error) {
	file, err := s.configFile(args)
	if file == "" || err != nil {
		return nil, err
	}
	source, err := a.load(ctx, file)
	if err == nil {
		err = s.configure(ctx, source)
	}
	return source, err
}

// prepared returns the component version that a module and flags describe, with its signer.
func (a *author) prepared(
	ctx context.Context, s *sources, signs *signing, source *packaging.Source, access component.Access,
) (version component.Version, err error) {
	if version, err = a.componentVersion(ctx, s, source, access); err != nil {
		return version, err
	}
	if version.Version == "" {
		return version, console.Usage("the version of %s is missing", version.Name).With("set --version")
	}
	version.Access = access
	version.Signer, err = signs.signer(ctx)
	return version, err
}
