package authorcmd

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/packaging"
)

func (a *author) init() *cobra.Command {
	var draft packaging.Draft
	command := &cobra.Command{
		Use:     "init DIR",
		Aliases: []string{"scaffold"},
		Short:   "Begin a module: configuration, manifest and default CR",
		Long: "init writes a module that works as it is: a kind of its own with a default CR, the rights of its " +
			"operator, and a Deployment whose\n" +
			"image you replace by yours. Files that are there already are kept.",
		Example: "  kyma module init notes\n  kyma module init ./notes --name example.com/module/notes --version 1.0.0",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if draft.Name == "" {
				dir, err := filepath.Abs(args[0])
				if err != nil {
					return err
				}
				draft.Name = filepath.Base(dir)
			}
			done, err := packaging.Scaffold(args[0], draft)
			if err != nil {
				return scaffoldError(args[0], err)
			}
			for _, file := range done.Kept {
				a.console.Sayf("%s was there and stays as it is", file)
			}
			for _, file := range done.Written {
				if _, err := fmt.Fprintln(a.console.Out, file); err != nil {
					return err
				}
			}
			a.console.Sayf("Next: kyma module validate %s, then kyma module create -c %s --registry oci://HOST", args[0], args[0])
			return nil
		},
	}
	command.Flags().StringVar(&draft.Name, "name", "", "name of the component (default example.com/module/ and the name of DIR)")
	command.Flags().StringVar(&draft.Version, "version", "0.1.0", "version of the module")
	command.Flags().BoolVar(&draft.Overwrite, "overwrite", false, "replace the configuration if there is one")
	return command
}

func scaffoldError(dir string, err error) error {
	if info, stat := os.Stat(dir); stat == nil && !info.IsDir() {
		return console.Usage("%s is a file", dir).With("name a directory")
	}
	return withExitCode(err)
}
