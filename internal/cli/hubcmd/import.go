package hubcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/hubcontent"
	"github.com/kyma-project/lifecycle-manager/internal/client/userfile"
)

// fromExport is the value of --take-over that stands for the hub that the export came from.
const fromExport = "exported"

// importing is one call of `kyma hub import`.
type importing struct {
	*call

	takeOver  string
	overwrite bool
	suspended bool
	dryRun    *console.Formats
}

// imported is the output of import for programs.
type imported struct {
	console.Versioned
	Hub    string            `json:"hub,omitempty"`
	Counts []count           `json:"counts"`
	Items  []hubcontent.Item `json:"items"`
}

func (i *importing) command() *cobra.Command {
	i.dryRun = &console.Formats{Format: "none", Allowed: []console.Format{"none", "server"}}
	command := &cobra.Command{
		Use:   "import PATH",
		Short: "Bring what kyma hub export wrote to a hub",
		Long: "Brings an export to a hub on which the manager is installed. PATH is the folder, the file, or - for standard input. Everything " +
			"that the manager acts on is suspended until all is in, with its status. An import that was interrupted is continued by the same " +
			"command. Where the hub has an object with other content nothing is written, unless --overwrite is given.\n\n" +
			"A runtime belongs to one hub. With --take-over the Kymas take their runtimes over from the hub that the export came from, which " +
			"stops writing there; without it, they wait until that hub lets go of them.",
		Example: "  kyma hub import backup/ --dry-run=server\n  kyma hub import backup/ --take-over\n" +
			"  kyma hub import backup/ --suspended",
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return i.run(command.Context(), args[0])
		},
	}
	flags := command.Flags()
	flags.StringVar(&i.takeOver, "take-over", "", "take the runtimes over from the hub of the export, or from the one that is named")
	flags.Lookup("take-over").NoOptDefVal = fromExport
	flags.BoolVar(&i.overwrite, "overwrite", false, "replace objects with other content")
	flags.BoolVar(&i.suspended, "suspended", false, "leave everything suspended; the next import without this flag ends that")
	flags.Var(i.dryRun, "dry-run", "only print what would be written, checked by the cluster (server): none|server")
	i.addOutput(flags)
	return command
}

func (i *importing) run(ctx context.Context, path string) error {
	content := &hubcontent.Content{}
	if err := i.read(ctx, path, content); err != nil {
		return err
	}
	if len(content.Objects) == 0 {
		return console.NotFound("there is no object in %s", path).With("name the folder or the file that kyma hub export wrote")
	}
	options := hubcontent.ImportOptions{
		Overwrite: i.overwrite, Suspended: i.suspended, TakeOver: i.takeOver, DryRun: i.dryRun.Format == "server",
	}
	if i.takeOver == fromExport {
		if options.TakeOver = content.Hub; options.TakeOver == "" {
			return console.Usage("the export does not say which hub it came from").
				With("--take-over=HUB names it: condition Ready of a Kyma with reason RuntimeClaimed tells who holds its runtime")
		}
	}
	cluster, err := i.reach()
	if err != nil {
		return err
	}
	if err := i.confirm(ctx, cluster, content, options); err != nil {
		return err
	}
	items, err := i.carryOut(ctx, cluster, content, options)
	if conflict := (*hubcontent.ConflictError)(nil); errors.As(err, &conflict) {
		if options.DryRun && i.output.Format != console.Table {
			err = errors.Join(i.print(content, items), err)
		}
		return failed(ctx, err, "--overwrite replaces them; -o json --dry-run=server lists all")
	}
	if err != nil {
		return failed(ctx, err, remedy(err))
	}
	if i.suspended && !options.DryRun {
		i.console.Sayf("Everything is suspended: the same command without --suspended ends that.")
	}
	return i.print(content, items)
}

// remedy returns what to do about an import that failed.
func remedy(err error) string {
	_, denied := errors.AsType[*hubcontent.RightsError](err)
	switch {
	case denied, apierrors.IsForbidden(err):
		return "ask an administrator of the cluster for these rights"
	case apierrors.IsNotFound(err):
		return "install the manager first, which brings the definitions: kyma install"
	}
	return "what is in is suspended, or complete: run the same command again to continue"
}

// read reads a folder, a file or standard input. The folder may hold other files: those whose names end otherwise are not read.
func (i *importing) read(ctx context.Context, path string, content *hubcontent.Content) error {
	if path == stream {
		text, err := io.ReadAll(i.console.In)
		if err != nil {
			return fmt.Errorf("read standard input: %w", err)
		}
		return usage(hubcontent.Decode(content, "standard input", text))
	}
	files := []string{path}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		entries, err := os.ReadDir(path)
		if err != nil {
			return err
		}
		files = nil
		for _, entry := range entries {
			if name := filepath.Join(path, entry.Name()); isFile(name) && !entry.IsDir() {
				files = append(files, name)
			}
		}
		slices.Sort(files)
	}
	for _, file := range files {
		text, err := userfile.Read(ctx, file)
		if err != nil {
			return err
		}
		if err := usage(hubcontent.Decode(content, file, text)); err != nil {
			return err
		}
	}
	return nil
}

// usage makes the error about a file one of the command line.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return console.Usage("%w", err).With("nothing was written; kyma hub export writes such files")
}

// confirm asks before objects are overwritten.
func (i *importing) confirm(ctx context.Context, c client.Client, content *hubcontent.Content, options hubcontent.ImportOptions) error {
	if !options.Overwrite || options.DryRun {
		return nil
	}
	options.DryRun = true
	items, err := hubcontent.Import(ctx, c, content, options)
	if err != nil {
		return failed(ctx, err, "nothing was written")
	}
	overwritten := slices.DeleteFunc(items, func(item hubcontent.Item) bool { return item.Action != hubcontent.Overwritten })
	if len(overwritten) == 0 {
		return nil
	}
	what := english.Plural(len(overwritten), "object", "")
	return i.console.Confirm(ctx, "overwriting "+what, "Overwrite "+what+" of the hub, the first of which is "+overwritten[0].String()+"?")
}

// carryOut imports, and shows how far it is where the screen can be redrawn.
func (i *importing) carryOut(
	ctx context.Context, c client.Client, content *hubcontent.Content, options hubcontent.ImportOptions,
) ([]hubcontent.Item, error) {
	if i.console.Live {
		progress := i.console.Progress()
		defer progress.End()
		options.Progress = func(phase string, done, total int) {
			progress.Set(phase, fmt.Sprintf("%d/%d", done, total), "")
		}
	}
	return hubcontent.Import(ctx, c, content, options)
}

func (i *importing) print(content *hubcontent.Content, items []hubcontent.Item) error {
	counts := counted(items)
	d := summary(imported{console.Kind("HubImport"), content.Hub, counts, items}, counts, true)
	for _, item := range items {
		d.Names = append(d.Names, nameOf(item))
	}
	return i.console.Print(i.output.Format, d)
}
