package hubcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/hubcontent"
	"github.com/kyma-project/lifecycle-manager/internal/client/userfile"
)

// exporting is one call of `kyma hub export`.
type exporting struct {
	*call

	everywhere       bool
	managerNamespace string
	withoutSecrets   bool
	overwrite        bool
}

// exported is the output of export for programs.
type exported struct {
	console.Versioned
	Hub      string   `json:"hub,omitempty"`
	Files    []string `json:"files"`
	Items    []count  `json:"items"`
	Warnings []string `json:"warnings,omitempty"`
}

func (e *exporting) command() *cobra.Command {
	command := &cobra.Command{
		Use:   "export PATH",
		Short: "Write what a hub holds as YAML",
		Long: "Writes what a hub holds: Kymas and Manifests with their status, templates, releases, rollouts, and the Secrets and ConfigMaps " +
			"that those and the manager depend on. PATH is a folder, a file whose name ends with .yaml or .yml, or - for standard output. What " +
			"belongs to the cluster alone is left out, and so are definitions and roles, which kyma install brings.\n\n" +
			"The files hold Secrets in plain text, with access to every runtime. They can be read by you alone; keep them like a password.",
		Example: "  kyma hub export backup/\n  kyma hub export hub.yaml --all-namespaces\n" +
			"  kyma hub export - --without-secrets",
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return e.run(command.Context(), args[0])
		},
	}
	flags := command.Flags()
	flags.BoolVarP(&e.everywhere, "all-namespaces", "A", false, "the content of all namespaces, regardless of --namespace (default "+
		v1beta2.DefaultNamespace+")")
	flags.StringVar(&e.managerNamespace, "manager-namespace", v1beta2.DefaultNamespace,
		"namespace that the manager runs in: it identifies the hub")
	flags.BoolVar(&e.withoutSecrets, "without-secrets", false, "leave out all Secrets but the inventories of large modules, which hold none")
	flags.BoolVar(&e.overwrite, "overwrite", false, "replace files of an earlier export")
	e.addOutput(flags)
	return command
}

func (e *exporting) run(ctx context.Context, path string) error {
	options := hubcontent.ExportOptions{ManagerNamespace: e.managerNamespace, WithoutSecrets: e.withoutSecrets}
	if !e.everywhere {
		namespace, err := e.namespace()
		if err != nil {
			return err
		}
		options.Namespaces = []string{namespace}
	}
	if err := e.free(path); err != nil {
		return err
	}
	cluster, err := e.reach()
	if err != nil {
		return err
	}
	content, err := hubcontent.Export(ctx, cluster, options)
	if err != nil {
		return failed(ctx, err, "no file was written")
	}
	files, err := e.write(ctx, path, content)
	if err != nil {
		return err
	}
	return e.tell(path, content, files)
}

func isFile(path string) bool { return slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(path)) }

// free returns an error if there is an earlier export that may not be replaced. A mix of two would be imported as one.
func (e *exporting) free(path string) error {
	if path == stream || e.overwrite || userfile.IsStream(path) {
		return nil
	}
	earlier := path
	if !isFile(path) {
		entries, err := os.ReadDir(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the folder %s: %w", path, err)
		}
		at := slices.IndexFunc(entries, func(entry fs.DirEntry) bool { return hubcontent.IsFile(entry.Name()) })
		if at < 0 {
			return nil
		}
		earlier = filepath.Join(path, entries[at].Name())
	} else if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return (&console.Failure{Code: console.CodeError, Err: fmt.Errorf("%s is there already", earlier)}).
		With("--overwrite replaces an earlier export, or name another path")
}

// write returns the files that it wrote; none for standard output.
func (e *exporting) write(ctx context.Context, path string, content *hubcontent.Content) ([]string, error) {
	if path == stream || isFile(path) || userfile.IsStream(path) {
		text, err := hubcontent.Encode(content)
		switch {
		case err != nil:
			return nil, err
		case path == stream:
			_, err = e.console.Out.Write(text)
			return nil, err
		}
		return []string{path}, writePrivately(ctx, path, text)
	}
	files, err := hubcontent.Files(content)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	var written []string
	for _, file := range files {
		name := filepath.Join(path, file.Name)
		if err := writePrivately(ctx, name, file.Data); err != nil {
			return nil, err
		}
		written = append(written, name)
	}
	return written, removeOthers(path, written)
}

// removeOthers removes the files of an earlier export that this one does not have.
func removeOthers(path string, written []string) error {
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if name := filepath.Join(path, entry.Name()); hubcontent.IsFile(entry.Name()) && !slices.Contains(written, name) {
			if err := os.Remove(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// writePrivately writes a file that its owner alone can read, at no moment by others.
func writePrivately(ctx context.Context, path string, text []byte) error {
	if !userfile.IsStream(path) {
		made, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		if err := errors.Join(made.Chmod(0o600), made.Close()); err != nil {
			return err
		}
	}
	_, err := userfile.Write(ctx, path, text)
	return err
}

// tell prints the summary, on standard error where the export itself is on standard output.
func (e *exporting) tell(path string, content *hubcontent.Content, files []string) error {
	items := make([]hubcontent.Item, 0, len(content.Objects))
	for _, o := range content.Objects {
		items = append(items, hubcontent.Item{ID: hubcontent.ID{Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName()}})
	}
	counts := counted(items)
	const shown = 20
	for i, warning := range content.Warnings {
		if i == shown {
			e.console.Sayf("Warning: and %d more; -o json lists all", len(content.Warnings)-shown)
			break
		}
		e.console.Sayf("Warning: %s", warning)
	}
	if secrets := secretsIn(items); secrets > 0 && !e.withoutSecrets {
		e.console.Sayf("The export has %s in plain text: who can read it has access to every runtime.", english.Plural(secrets, "Secret", ""))
		if len(files) > 0 {
			e.console.Sayf("You alone can read the files (mode 0600).")
		}
	}
	if path == stream || userfile.IsStandardOutput(path) {
		var texts []string
		for _, c := range counts {
			texts = append(texts, english.Plural(c.Count, c.Kind, ""))
		}
		e.console.Sayf("Exported: %s", strings.Join(texts, ", "))
		return nil
	}
	d := summary(exported{console.Kind("HubExport"), content.Hub, files, counts, content.Warnings}, counts, false)
	d.Names = files
	return e.console.Print(e.output.Format, d)
}
