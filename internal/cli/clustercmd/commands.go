package clustercmd

import (
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
	"github.com/kyma-project/lifecycle-manager/internal/client/managerinstall"
)

// defaultTimeout is how long commands wait by default.
const defaultTimeout = 5 * time.Minute

// host holds what the commands of this package share.
type host struct {
	console *console.Console
	target  *target.Target
	release Release
}

// Release is what this program was released with: the prefix of the images' names, and the version, which is their tag. Both are empty in
// a program that was built for development.
type Release struct {
	Images, Version string
}

// addFlags adds the flags for the manager's image: without them it is that of the release.
func (r Release) addFlags(flags *pflag.FlagSet, options *managerinstall.Options, image string) {
	options.DefaultTag = r.Version
	if r.Images != "" {
		options.DefaultImage = r.Images + "/" + managerinstall.Image
	}
	if r.Version != "" {
		image += " (default " + options.Reference() + ")"
	}
	flags.StringVar(&options.Image, "image", "", image)
	flags.StringVar(&options.Version, "version", "", "tag of the image, where --image names none")
}

// Commands returns the verbs of this package, for the root command.
func Commands(c *console.Console, t *target.Target, r Release) []*cobra.Command {
	h := &host{console: c, target: t, release: r}
	return []*cobra.Command{h.newProvisionCommand(), h.deploy(), h.install(), h.uninstall(), h.check()}
}

// arguments requires between least and most arguments; what is their name in errors.
func arguments(least, most int, what string) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error {
		path := command.CommandPath()
		switch {
		case len(args) < least:
			return console.Usage("%s: %s is missing", path, what).With("%s --help shows examples", path)
		case len(args) > most:
			return console.Usage("%s takes no argument %q", path, args[most]).With("%s --help shows examples", path)
		}
		return nil
	}
}

// group returns a command that has subcommands and does nothing itself.
func group(command *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	command.Args = cobra.ArbitraryArgs
	command.RunE = func(command *cobra.Command, args []string) error {
		if len(args) > 0 {
			path := command.CommandPath()
			return console.Usage("there is no command %q", path+" "+args[0]).With("%s --help lists the commands", path)
		}
		return command.Help()
	}
	command.AddCommand(commands...)
	return command
}

// noFiles completes nothing.
func noFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// oneOf completes fixed words.
func oneOf(words ...string) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

// patience returns how long to wait, from two flags.
func patience(wait bool, timeout time.Duration) time.Duration {
	if !wait {
		return 0
	}
	return timeout
}

// isFile reports whether a path leads to a regular file.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
