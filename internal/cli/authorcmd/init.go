package authorcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/valueflags"
	"github.com/kyma-project/lifecycle-manager/internal/client/packaging"
)

// initialisation is one call of init.
type initialisation struct {
	packaging.ChartDraft

	values valueflags.Flags
}

func (a *author) init() *cobra.Command {
	var begin initialisation
	command := &cobra.Command{
		Use:     "init [DIR]",
		Aliases: []string{"scaffold"},
		Short:   "Begin a module: configuration, manifest and default CR",
		Long: "init writes a module that works as it is: a kind of its own with a default CR, the rights of its " +
			"operator, and a Deployment whose\n" +
			"image you replace by yours. Files that are there already are kept.\n\n" +
			"With --from-chart it writes a module that installs a Helm chart, with the name and version of the chart. DIR may be left out\n" +
			"then; a chart that is not in DIR is copied there. Of --values and --set, what differs from the chart's own is written into the\n" +
			"configuration.",
		Example: "  kyma module init notes\n  kyma module init ./notes --name example.com/module/notes --version 1.0.0\n" +
			"  kyma module init --from-chart notes-1.2.3.tgz --values values.yaml",
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			dir, done, err := begin.scaffold(command.Context(), args)
			if err != nil {
				return scaffoldError(dir, err)
			}
			for _, file := range done.Kept {
				a.console.Sayf("%s was there and stays as it is", file)
			}
			for _, file := range done.Written {
				if _, err := fmt.Fprintln(a.console.Out, file); err != nil {
					return err
				}
			}
			for _, note := range done.Notes {
				a.console.Sayf("%s", note)
			}
			a.console.Sayf("Next: kyma module validate %s, then kyma module create -c %s --registry oci://HOST", dir, dir)
			return nil
		},
	}
	flags := command.Flags()
	flags.StringVar(&begin.Name, "name", "", "name of the component (default example.com/module/ and the name of DIR, or of the chart)")
	flags.StringVar(&begin.Version, "version", "", "version of the module (default 0.1.0, or that of the chart)")
	flags.BoolVar(&begin.Overwrite, "overwrite", false, "replace the configuration if there is one")
	flags.StringVar(&begin.Chart, "from-chart", "", "chart that the module installs: a directory with a Chart.yaml, or a packed chart (.tgz)")
	begin.values.Add(flags, "over those of the chart")
	return command
}

// scaffold writes the module, and returns its directory.
func (b *initialisation) scaffold(ctx context.Context, args []string) (dir string, done *packaging.Scaffolded, err error) {
	if len(args) > 0 {
		dir = args[0]
	}
	switch {
	case b.Chart != "":
		if _, err := os.Stat(b.Chart); err != nil {
			return dir, nil, console.NotFound("there is no chart %s: %w", b.Chart, err)
		}
		if b.ChartDraft.Values, err = b.values.Read(ctx); err != nil {
			return dir, nil, err
		}
		if done, err = packaging.ScaffoldChart(ctx, dir, b.ChartDraft); err == nil {
			dir = done.Dir
		}
		return dir, done, err
	case b.values.IsSet():
		return dir, nil, console.Usage("%s: values are those of a chart", b.values.Names()).With("name it with --from-chart")
	case dir == "":
		return dir, nil, console.Usage("kyma module init: DIR is missing").With("kyma module init DIR, or --from-chart CHART")
	}
	if b.Name == "" {
		absolute, err := filepath.Abs(dir)
		if err != nil {
			return dir, nil, err
		}
		b.Name = filepath.Base(absolute)
	}
	done, err = packaging.Scaffold(dir, b.Draft)
	return dir, done, err
}

func scaffoldError(dir string, err error) error {
	if info, stat := os.Stat(dir); dir != "" && stat == nil && !info.IsDir() {
		return console.Usage("%s is a file", dir).With("name a directory")
	}
	if errors.Is(err, fs.ErrExist) {
		return (&console.Failure{Code: console.CodeError, Err: err}).With("remove it, or name it with --from-chart to use it as it is")
	}
	return withExitCode(err)
}
