package authorcmd

import (
	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
)

// author holds what every command of this package has.
type author struct {
	console *console.Console
	target  *target.Target
}

// Commands returns the verbs of this package, for the root command.
func Commands(c *console.Console, t *target.Target) []*cobra.Command {
	a := &author{console: c, target: t}
	module := &cobra.Command{
		Use:   "module",
		Short: "Make, sign and publish modules",
		Long: "A module is a directory with a module-config.yaml and what that names. These commands need files " +
			"and a registry, and no cluster,\n" +
			"except for run.\n\n" +
			"REF is a component version: oci://HOST[:PORT][/PATH]//NAME:VERSION in a registry (http:// for one without TLS), or the path of an\n" +
			"archive, PATH[//NAME[:VERSION]]: a directory, or a file that ends in .tar, .tgz or .tar.gz.",
	}
	module.AddCommand(
		a.init(), a.validate(), a.build(), a.push(), a.create(false), a.pull(), a.copy(), a.unpack(), a.inspect(), a.sign(), a.verify(),
		a.template(), a.run(),
	)
	release := &cobra.Command{
		Use:   "release",
		Short: "Say which version of a module each channel offers",
		Long: "A ModuleReleaseMeta says which version of a module each channel offers. With --file it is a file, " +
			"whose comments are kept;\n" +
			"otherwise it is the one in the cluster.",
	}
	release.AddCommand(a.releaseSet(), a.releaseShow(), a.releasePromote())
	return []*cobra.Command{module, release, a.oldCreate(), a.mirroring()}
}

// oldCreate returns the command under its name in the old CLI.
func (a *author) oldCreate() *cobra.Command {
	old := &cobra.Command{Use: "create", Short: "Create a module, as the old CLI called it", Hidden: true}
	below := a.create(true)
	below.Use = "module"
	old.AddCommand(below)
	return old
}
