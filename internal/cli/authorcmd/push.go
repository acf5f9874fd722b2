package authorcmd

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
)

func (a *author) push() *cobra.Command {
	var s sources
	var signs signing
	var to place
	var overwrite, dryRun bool
	command := &cobra.Command{
		Use:   "push [ARCHIVE]",
		Short: "Publish an archive, or a module directory, in a registry",
		Long: "push publishes the component version in an archive that build made, or makes it of the module " +
			"that --config-file names. What is there\n" +
			"already is left alone; other content under the same version is refused, unless --overwrite is given.",
		Example: "  kyma module push notes.tgz --registry oci://registry.example.com/modules\n" +
			"  kyma module push -c notes --registry http://localhost:5000 --sign-key private.pem",
		Args: cobra.MaximumNArgs(1),
	}
	output := outputs(command)
	command.RunE = func(command *cobra.Command, args []string) error {
		if len(args) == 1 && (s.config != "" || s.from != "") {
			return console.Usage("%s is an archive: a configuration or --from makes no difference to it", args[0]).With("leave one of them out")
		}
		var done published
		var err error
		if len(args) == 1 {
			done, err = a.pushArchive(command.Context(), args[0], &to, &signs, overwrite, dryRun)
		} else {
			done, err = a.pushSource(command.Context(), &s, &to, &signs, overwrite, dryRun)
		}
		if err != nil {
			return withExitCode(to.login.Explain(err, to.registry))
		}
		return a.printPublished(output.Format, done)
	}
	s.addFlags(command)
	signs.addFlags(command.Flags(), "sign-key", "")
	to.addFlags(command.Flags())
	command.Flags().BoolVar(&overwrite, "overwrite", false, "replace other content under the same version")
	command.Flags().BoolVar(&dryRun, "dry-run", false, "publish nothing, and report whether it would succeed")
	return command
}

// pushArchive publishes the component version in an archive.
func (a *author) pushArchive(
	ctx context.Context, archive string, to *place, signs *signing, overwrite, dryRun bool,
) (done published, err error) {
	from, err := component.ParseRef(archive, component.Access{})
	if err != nil {
		return done, console.Usage("%w", err)
	}
	if from.Registry != nil {
		return done, console.Usage("%s is no archive", archive).With("kyma module copy goes from one registry to another")
	}
	signer, err := signs.signer(ctx)
	if err != nil {
		return done, err
	}
	err = opened(ctx, from, func(found *component.Opened) error {
		target, err := to.ref(a, found.Component.Name, found.Component.Version)
		if err != nil {
			return err
		}
		report, err := copied(ctx, found.Ref, target, component.CopyOptions{Overwrite: overwrite}, dryRun)
		if err != nil {
			return err
		}
		if signer != nil && !dryRun {
			before := report.Digest
			if report.Digest, err = component.SignRef(ctx, target, signer); err != nil {
				return err
			}
			report.Changed = report.Changed || before != report.Digest
		}
		done = published{
			Name: found.Component.Name, Version: found.Component.Version, Ref: target.String(),
			Digest: report.Digest, Changed: report.Changed, DryRun: dryRun,
		}
		return nil
	})
	return done, err
}

// pushSource publishes the component version of a module directory.
func (a *author) pushSource(
	ctx context.Context, s *sources, to *place, signs *signing, overwrite, dryRun bool,
) (published, error) {
	access, err := to.login.Access(a.console.In, append(hosts(s.from), to.registry)...)
	if err != nil {
		return published{}, err
	}
	source, err := a.source(ctx, s, nil)
	if err != nil {
		return published{}, err
	}
	version, err := a.prepared(ctx, s, signs, source, access)
	if err != nil {
		return published{}, err
	}
	return a.pushed(ctx, version, to, access, overwrite, dryRun)
}

// pushed publishes a component version.
func (a *author) pushed(
	ctx context.Context, version component.Version, to *place, access component.Access, overwrite, dryRun bool,
) (done published, err error) {
	if to.registry == "" {
		return done, console.Usage("--registry is missing").With("set --registry oci://HOST[:PORT][/PATH]")
	}
	target, err := component.ParseRef(withScheme(to.registry)+"//"+version.Name+":"+version.Version, access)
	if err != nil {
		return done, console.Usage("--registry: %w", err)
	}
	done = published{Name: version.Name, Version: version.Version, Ref: target.String(), DryRun: dryRun}
	before, err := digestThere(ctx, target)
	switch {
	case err != nil:
		return done, err
	case dryRun:
		done.Digest, err = rehearsed(ctx, version, target, before != "", overwrite)
	default:
		done.Digest, err = component.Push(ctx, *target.Registry, version, options(overwrite)...)
	}
	done.Changed = before != done.Digest
	return done, err
}

// rehearsed builds a component version on top of the registry's content, in a temporary archive.
func rehearsed(ctx context.Context, version component.Version, target component.Ref, there, overwrite bool) (digest string, err error) {
	dir, err := os.MkdirTemp("", "kyma-dry-run-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	archive := filepath.Join(dir, "ctf")
	if there {
		to := component.Ref{Path: archive, Name: target.Name, Version: target.Version}
		if _, err := component.Copy(ctx, target, to, component.CopyOptions{}); err != nil {
			return "", err
		}
	}
	return component.Build(ctx, archive, version, options(overwrite)...)
}

// copied copies a component version; in a dry run it goes to a temporary archive.
func copied(ctx context.Context, from, to component.Ref, how component.CopyOptions, dryRun bool) (report component.CopyReport, err error) {
	if !dryRun {
		return component.Copy(ctx, from, to, how)
	}
	dir, err := os.MkdirTemp("", "kyma-dry-run-")
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	archive := component.Ref{Path: filepath.Join(dir, "ctf"), Name: to.Name, Version: to.Version}
	before, err := digestThere(ctx, to)
	if err != nil {
		return report, err
	}
	if before != "" {
		if _, err := component.Copy(ctx, to, archive, component.CopyOptions{}); err != nil {
			return report, err
		}
	}
	return component.Copy(ctx, from, archive, component.CopyOptions{Overwrite: how.Overwrite})
}
