package authorcmd

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// published is the output of a command that copies or publishes a component version.
type published struct {
	console.Versioned
	Name    string `json:"name"`
	Version string `json:"version"`
	Ref     string `json:"ref"`
	// Digest is the digest of the component version's manifest.
	Digest string `json:"digest"`
	// Changed is false if it was there already.
	Changed bool          `json:"changed"`
	DryRun  bool          `json:"dryRun,omitempty"`
	Images  []copiedImage `json:"images,omitempty"`

	// signed reports whether only the signature is new.
	signed bool
}

type copiedImage struct {
	Resource string `json:"resource"`
	From     string `json:"from"`
	To       string `json:"to"`
	Digest   string `json:"digest"`
}

// outputs returns the formats of published.
func outputs(command *cobra.Command) *console.Formats {
	output := console.OutputFlag(console.Table, console.JSON, console.YAML, console.Name)
	command.Flags().VarP(output, "output", "o", "how to write it: "+output.Words())
	return output
}

func (a *author) printPublished(format console.Format, p published) error {
	p.Versioned = console.Kind("ComponentVersion")
	a.sayChanged(p)
	return a.console.Print(format, console.Document{
		Data:    p,
		Columns: []console.Column{{Name: "NAME"}, {Name: "VERSION"}, {Name: "DIGEST"}, {Name: "CHANGED"}},
		Rows:    [][]string{{p.Name, p.Version, p.Digest, strconv.FormatBool(p.Changed)}},
		Names:   []string{p.Ref},
	})
}

func (a *author) sayChanged(p published) {
	switch {
	case p.DryRun && p.Changed:
		a.console.Sayf("%s would be written (dry run).", p.Ref)
	case p.signed && p.Changed:
		a.console.Sayf("%s is signed.", p.Ref)
	case p.signed:
		a.console.Sayf("%s is signed like that already: nothing changed.", p.Ref)
	case !p.Changed:
		a.console.Sayf("%s is there already: nothing changed.", p.Ref)
	default:
		a.console.Sayf("%s is written.", p.Ref)
	}
	for _, image := range p.Images {
		a.console.Sayf("Image %s is at %s.", image.From, image.To)
	}
}

// digestThere returns the digest of a component version; empty if there is none.
func digestThere(ctx context.Context, ref component.Ref) (digest string, err error) {
	found, err := component.Open(ctx, ref)
	if descriptor.ReasonOf(err) == descriptor.ReasonNotFound {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return found.Component.Digest, found.Close()
}

// options returns the options of Push and Build.
func options(overwrite bool) []component.Option {
	if overwrite {
		return []component.Option{component.Overwrite}
	}
	return nil
}
