package authorcmd

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kyma-project/lifecycle-manager/internal/client/packaging"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
)

// withoutEffect lists flags of earlier tools that have no effect, and why; empty if that needs no remark.
var withoutEffect = map[string]string{
	"module-archive-persistence": "",
	"registry-cred-selector":     "the operator has one Secret for its registries",
	"sec-scanners-config":        "list further images in images of the configuration",
	"non-interactive":            "",
	"ci":                         "",
}

// addOldFlags adds the flags that scripts for modulectl use, and for the old CLI those that only it had.
func (c *creation) addOldFlags(flags *pflag.FlagSet, old bool) {
	flags.BoolVar(&c.skipManagerVersion, "skip-version-validation", false, "let the manager's image have another tag than the version")
	flags.BoolVar(&c.keepUnpublished, "disable-ocm-registry-push", false, "the same as no --registry")
	hide(flags, "skip-version-validation", "disable-ocm-registry-push")
	if !old {
		return
	}
	flags.BoolVar(&c.overwrite, "module-archive-version-overwrite", false, "the same as --overwrite")
	flags.StringVar(&c.archive, "module-archive-path", "", "the same as --archive")
	flags.StringVarP(&c.path, "path", "p", "", "directory of the module")
	hide(flags, "module-archive-version-overwrite", "module-archive-path", "path")
	for name := range withoutEffect {
		switch name {
		case "registry-cred-selector", "sec-scanners-config":
			flags.String(name, "", "has no effect")
		default:
			flags.Bool(name, false, "has no effect")
		}
		hide(flags, name)
	}
}

// sayIgnored prints which given flags have no effect.
func (a *author) sayIgnored(command *cobra.Command) {
	command.Flags().Visit(func(flag *pflag.Flag) {
		if instead := withoutEffect[flag.Name]; instead != "" {
			a.console.Sayf("--%s has no effect: %s.", flag.Name, instead)
		}
	})
}

// constructed writes the constructor, if one is requested, and the files that it needs beside it.
func (a *author) constructed(ctx context.Context, c *creation, source *packaging.Source, version component.Version) error {
	if c.constructor == "" || c.dryRun {
		return nil
	}
	at := packaging.Layout{File: c.constructor, Resources: map[string]string{}}
	if !isStream(c.template) {
		at.Template = c.template
	}
	if err := c.readExtras(ctx); err != nil {
		return err
	}
	for _, more := range c.extras {
		at.Resources[more.Name] = more.file
	}
	text, files, err := source.Constructor(version, at)
	if err != nil {
		return err
	}
	order := slices.Sorted(maps.Keys(files))
	for _, file := range order {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // a directory of sources, as mkdir makes it
			return err
		}
	}
	files[c.constructor] = text
	return a.writeFiles(ctx, files, append(order, c.constructor)...)
}
