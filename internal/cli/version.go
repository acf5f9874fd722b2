package cli

import (
	"cmp"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
)

// Version is set by the linker in releases (hack/release). Without it, the version is "dev".
var Version string

// Images is where a release says that its images are, such as registry.example.com/kyma. The linker sets it; it is empty where a release
// does not say.
var Images string

// Commit is set by the linker, too. Without it, the commit is the one that the go command recorded, if it did.
var Commit string

type versionDocument struct {
	console.Versioned
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// build returns the version of this program.
func build() versionDocument {
	d := versionDocument{
		Versioned: console.Kind("Version"), Version: cmp.Or(Version, "dev"), Commit: Commit,
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	if info, ok := debug.ReadBuildInfo(); ok && d.Commit == "" {
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" {
				d.Commit = setting.Value
			}
		}
	}
	return d
}

// line returns the text of --version.
func (d versionDocument) line() string {
	if d.Commit == "" {
		return d.Version
	}
	return d.Version + " (commit " + d.Commit + ")"
}

// version returns the command that prints the version. It calls no cluster, so that it always works.
func version(c *console.Console) *cobra.Command {
	output := console.OutputFlag(console.Table, console.JSON, console.YAML)
	command := &cobra.Command{
		Use:     "version",
		Short:   "Say which version of kyma this is",
		Example: "  kyma version\n  kyma version -o json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			d := build()
			return c.Print(output.Format, console.Document{
				Data:    d,
				Columns: []console.Column{{Name: "VERSION"}, {Name: "COMMIT"}, {Name: "GO"}, {Name: "PLATFORM"}},
				Rows:    [][]string{{d.Version, d.Commit, d.Go, d.Platform}},
			})
		},
	}
	command.Flags().VarP(output, "output", "o", "how to write it: "+output.Words())
	return command
}
