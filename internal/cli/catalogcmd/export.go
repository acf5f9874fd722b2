package catalogcmd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/communitycatalog"
	"github.com/kyma-project/lifecycle-manager/internal/client/userfile"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// exporting is one call of `kyma catalog export`.
type exporting struct {
	*call

	modules   []string
	releases  bool
	overwrite bool
}

// files is the output of export for programs.
type files struct {
	console.Versioned
	Items   []output `json:"items"`
	Skipped []string `json:"skipped,omitempty"`
}

// export returns the command that makes the folder of a catalog from the modules that a cluster offers.
func export(c *call) *cobra.Command {
	e := &exporting{call: c}
	command := &cobra.Command{
		Use:   "export DIR",
		Short: "Make a catalog's folder of the modules that a cluster offers",
		Long: "export writes DIR/modules/NAME/NAME-VERSION.yaml for each ModuleTemplate of the cluster, without what belongs to the cluster.\n" +
			"kyma catalog lint and kyma catalog build read it. Files with other content are left alone unless --overwrite is given.",
		Example: "  kyma catalog export community-modules -n kyma-system\n" +
			"  kyma catalog export community-modules --module beacon --module notes --overwrite",
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return withExitCode(e.run(command.Context(), args[0]))
		},
	}
	flags := command.Flags()
	flags.StringArrayVar(&e.modules, "module", nil, "export this module only (can be repeated)")
	flags.BoolVar(&e.releases, "releases", false, "export ModuleReleaseMetas too: where they are stored, their modules count as manageable")
	flags.BoolVar(&e.overwrite, "overwrite", false, "replace files with other content")
	c.outputFlag(flags, console.Table, console.JSON, console.YAML, console.Name)
	return command
}

func (e *exporting) run(ctx context.Context, dir string) error {
	cluster, err := e.target.Client()
	if err != nil {
		return err
	}
	namespace, explicit, err := e.target.Namespace()
	if err != nil {
		return err
	}
	options := communitycatalog.ExportOptions{Modules: e.modules, Releases: e.releases}
	if explicit {
		options.Namespace = namespace
	}
	made, err := communitycatalog.Export(ctx, cluster, options)
	if err != nil {
		return err
	}
	for _, skipped := range made.Skipped {
		e.console.Sayf("Skipped: %s", skipped)
	}
	if len(made.Files) == 0 {
		return console.NotFound("there is no ModuleTemplate to export")
	}
	done, err := e.write(ctx, dir, made.Files)
	if err != nil {
		return err
	}
	document := console.Document{
		Data:    files{Versioned: console.Kind("CatalogExport"), Items: done, Skipped: made.Skipped},
		Columns: []console.Column{{Name: "NAME"}, {Name: "ACTION"}},
	}
	for _, o := range done {
		document.Names = append(document.Names, o.Name)
		document.Rows = append(document.Rows, []string{o.Name, o.Action})
	}
	return e.console.Print(e.output.Format, document)
}

// write compares all files before it writes one: either all are written or none.
func (e *exporting) write(ctx context.Context, dir string, made []content.File) ([]output, error) {
	var done []output
	for _, file := range made {
		path := filepath.Join(dir, filepath.FromSlash(file.Path))
		is := output{Name: filepath.ToSlash(path), Digest: digest(file.Data), Action: "written"}
		there, same, err := userfile.Compare(path, file.Data)
		switch {
		case err != nil:
			return nil, err
		case same:
			is.Action = "unchanged"
		case there && !e.overwrite:
			return nil, (&console.Failure{Code: console.CodeError, Err: fmt.Errorf("%s is there with other content", is.Name)}).
				With("--overwrite replaces it")
		case there:
			is.Action = "replaced"
		}
		done = append(done, is)
	}
	for i, file := range made {
		if done[i].Action == "unchanged" {
			continue
		}
		path := filepath.Join(dir, filepath.FromSlash(file.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // a directory of sources, as mkdir makes it
			return nil, err
		}
		if _, err := userfile.Write(ctx, path, file.Data); err != nil {
			return nil, err
		}
	}
	return done, nil
}
