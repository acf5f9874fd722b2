package modulecmd

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/packaging"
	"github.com/kyma-project/lifecycle-manager/pkg/finding"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleconfig"
	"github.com/kyma-project/lifecycle-manager/pkg/modulelint"
)

// sarif is a format that only validate has.
const sarif console.Format = "sarif"

// findings is what validate writes.
type findings struct {
	console.Versioned
	Module   string            `json:"module,omitempty"`
	Version  string            `json:"version,omitempty"`
	Errors   int               `json:"errors"`
	Warnings int               `json:"warnings"`
	Items    []finding.Finding `json:"items"`
}

func (a *author) validate() *cobra.Command {
	var s sources
	var rules []string
	var links, strict bool
	output := console.OutputFlag(console.Table, console.Wide, console.JSON, console.YAML, sarif)
	command := &cobra.Command{
		Use:   "validate [DIR]",
		Short: "Check a module: names, links, images, default CR",
		Long: "validate reads the configuration of a module and what that names, and tells what is wrong by " +
			"file, line and field, and what to do.\n" +
			"It asks nobody: no cluster, and no web server unless --links is given. The default CR is checked against its definition, by schema\n" +
			"and by rules. Exit code 1 says that there are errors; with --strict warnings count as errors.",
		Example: "  kyma module validate\n  kyma module validate notes -o json\n" +
			"  kyma module validate -c notes/module-config.yaml -o sarif > notes.sarif",
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			file, err := s.configFile(args)
			if err != nil {
				return err
			}
			if err := checkRules(rules); err != nil {
				return err
			}
			source, found, err := a.judged(command.Context(), file, rules, links)
			if err != nil {
				return err
			}
			if err := a.printFindings(output.Format, source, found); err != nil {
				return err
			}
			if errors, warnings := finding.Count(found); errors > 0 || strict && warnings > 0 {
				return console.Quiet(console.CodeError)
			}
			return nil
		},
	}
	s.addConfig(command.Flags())
	command.Flags().StringArrayVar(&rules, "rule", nil, "check this rule only (can be repeated)")
	command.Flags().BoolVar(&links, "links", false, "ask whether links lead anywhere")
	command.Flags().BoolVar(&strict, "strict", false, "let warnings count as errors")
	command.Flags().VarP(output, "output", "o", "how to write it: "+output.Words())
	return command
}

// judged reads a module and judges it by all files that can be read; changes are made to it before.
func (a *author) judged(
	ctx context.Context, file string, rules []string, links bool, changes ...func(*packaging.Source) error,
) (*packaging.Source, []finding.Finding, error) {
	fetcher := &packaging.Fetcher{}
	source, found, err := packaging.Load(ctx, file, fetcher)
	if err != nil {
		return nil, nil, missingConfig(file, err)
	}
	if source != nil {
		var check func(string) error
		if links {
			check = func(link string) error { return fetcher.Check(ctx, link) }
		}
		for _, change := range changes {
			if err := change(source); err != nil {
				return nil, nil, err
			}
		}
		more, err := source.Lint(ctx, rules, check)
		if err != nil {
			return nil, nil, err
		}
		found = append(found, more...)
	}
	return source, finding.Sort(finding.Select(found, rules)), nil
}

// allRules are those that validate knows.
func allRules() []finding.Rule {
	own := finding.Rule{Name: packaging.RuleReadable, Text: "What the configuration names can be read."}
	return append(append(moduleconfig.Rules(), modulelint.Rules()...), own)
}

// checkRules refuses rules that there are not.
func checkRules(names []string) error {
	var known []string
	for _, rule := range allRules() {
		known = append(known, rule.Name)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return console.Usage("there is no rule %s", name).With("there are %s", strings.Join(known, ", "))
		}
	}
	return nil
}

func (a *author) printFindings(format console.Format, source *packaging.Source, found []finding.Finding) error {
	if format == sarif {
		text, err := finding.SARIF(found, "", allRules()...)
		if err != nil {
			return err
		}
		_, err = a.console.Out.Write(text)
		return err
	}
	errors, warnings := finding.Count(found)
	document := console.Document{
		Data: findings{Versioned: console.Kind("FindingList"), Errors: errors, Warnings: warnings, Items: append([]finding.Finding{}, found...)},
	}
	if source != nil {
		data, _ := document.Data.(findings)
		data.Module, data.Version = source.Config.ModuleName(), source.Config.Version
		document.Data = data
		document.Empty = source.Config.ModuleName() + " " + source.Config.Version + " is valid."
	}
	for _, heading := range finding.Headings() {
		document.Columns = append(document.Columns, console.Column{Name: heading, Wide: heading == "RULE"})
	}
	for i := range found {
		document.Rows = append(document.Rows, found[i].Row())
	}
	return a.console.Print(format, document)
}
