package catalogcmd

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/communitycatalog"
	"github.com/kyma-project/lifecycle-manager/pkg/diagnostics"
)

// sarif is a format of findings only.
const sarif console.Format = "sarif"

// findings is the output of lint for programs.
type findings struct {
	console.Versioned
	Errors   int                   `json:"errors"`
	Warnings int                   `json:"warnings"`
	Items    []diagnostics.Finding `json:"items"`
}

// lint returns the command that checks the folder of a catalog.
func lint(c *call) *cobra.Command {
	var rules []string
	var links, strict bool
	command := &cobra.Command{
		Use:   "lint [DIR]",
		Short: "Check the folder of a catalog: names, versions, links, digests, texts",
		Long: "lint reads modules/NAME/NAME-VERSION.yaml below DIR (default: where it runs) and reports problems by file, line\n" +
			"and field, and what to do. It needs no network, unless --links is given: then it reads what the links rawManifest lead to,\n" +
			"compares digests, and checks images, definitions and default custom resources as kyma module validate does.\n" +
			"Exit code 1 means that there are errors; with --strict warnings count as errors.",
		Example: "  kyma catalog lint\n  kyma catalog lint community-modules --links -o wide\n" +
			"  kyma catalog lint -o sarif --strict > catalog.sarif",
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if err := checkRules(rules); err != nil {
				return err
			}
			options := communitycatalog.Options{Rules: rules}
			if links {
				limits, err := c.limits("")
				if err != nil {
					return err
				}
				options.Content = communitycatalog.Links(limits)
			}
			root, err := os.OpenRoot(folder(args))
			if err != nil {
				return withExitCode(err)
			}
			defer root.Close() // read only: nothing can be lost
			found := communitycatalog.Lint(command.Context(), root.FS(), options)
			if err := c.printFindings(inFolder(folder(args), found)); err != nil {
				return err
			}
			if errors, warnings := diagnostics.Count(found); errors > 0 || strict && warnings > 0 {
				return console.Quiet(console.CodeError)
			}
			return nil
		},
	}
	flags := command.Flags()
	flags.StringArrayVar(&rules, "rule", nil, "check this rule only (can be repeated)")
	flags.BoolVar(&links, "links", false, "read what the links to modules lead to, and check it")
	flags.BoolVar(&strict, "strict", false, "let warnings count as errors")
	c.webFlags(flags)
	c.outputFlag(flags, console.Table, console.Wide, console.JSON, console.YAML, sarif)
	return command
}

// inFolder names files as the user sees them.
func inFolder(dir string, found []diagnostics.Finding) []diagnostics.Finding {
	for i := range found {
		found[i].File = filepath.ToSlash(filepath.Join(dir, found[i].File))
	}
	return found
}

// checkRules refuses unknown rules.
func checkRules(names []string) error {
	var known []string
	for _, rule := range communitycatalog.Rules() {
		known = append(known, rule.Name)
	}
	for _, name := range names {
		if !communitycatalog.Known(name) {
			return console.Usage("there is no rule %s", name).With("there are %s", strings.Join(known, ", "))
		}
	}
	return nil
}

func (c *call) printFindings(found []diagnostics.Finding) error {
	if c.output.Format == sarif {
		text, err := diagnostics.SARIF(found, "", communitycatalog.Rules()...)
		if err != nil {
			return err
		}
		_, err = c.console.Out.Write(text)
		return err
	}
	errors, warnings := diagnostics.Count(found)
	document := console.Document{
		Data: findings{
			Versioned: console.Kind("FindingList"), Errors: errors, Warnings: warnings, Items: append([]diagnostics.Finding{}, found...),
		},
		Empty: "The catalog is in order.",
	}
	for _, heading := range diagnostics.Headings() {
		document.Columns = append(document.Columns, console.Column{Name: heading, Wide: heading == "RULE"})
	}
	for i := range found {
		document.Rows = append(document.Rows, found[i].Row())
	}
	return c.console.Print(c.output.Format, document)
}
