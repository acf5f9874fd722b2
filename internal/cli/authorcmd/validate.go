package authorcmd

import (
	"context"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/packaging"
	"github.com/kyma-project/lifecycle-manager/internal/client/registryauth"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/diagnostics"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleconfig"
	"github.com/kyma-project/lifecycle-manager/pkg/modulelint"
)

// sarif is a format that only validate has.
const sarif console.Format = "sarif"

// findings is the output of validate for programs.
type findings struct {
	console.Versioned
	Module   string                `json:"module,omitempty"`
	Version  string                `json:"version,omitempty"`
	Errors   int                   `json:"errors"`
	Warnings int                   `json:"warnings"`
	Items    []diagnostics.Finding `json:"items"`
}

func (a *author) validate() *cobra.Command {
	var s sources
	var judging judging
	var strict bool
	var role string
	judging.logins = logins()
	output := console.OutputFlag(console.Table, console.Wide, console.JSON, console.YAML, sarif)
	command := &cobra.Command{
		Use:   "validate [DIR...]",
		Short: "Check a module: names, links, images, rights, default CR",
		Long: "validate reads the configuration of a module and what that names, and reports problems by " +
			"file, line and field, and what to do.\n" +
			"It needs no cluster, and no registry or web server unless --against or --links is given. The default CR is checked against its\n" +
			"definition, by schema and by rules. With --against, CustomResourceDefinitions are compared with those of an earlier version by the\n" +
			"rules that a cluster goes by when it upgrades. Of several modules it also says whether they require each other in a circle.\n" +
			"--role writes the roles that an installation of the module needs. Exit code 1 means that there are errors; with --strict warnings\n" +
			"count as errors.",
		Example: "  kyma module validate\n  kyma module validate notes -o json\n" +
			"  kyma module validate notes --against oci://ghcr.io/example//example.com/module/notes:0.1.0\n" +
			"  kyma module validate notes --role role.yaml\n" +
			"  kyma module validate -c notes/module-config.yaml -o sarif > notes.sarif",
		Args: cobra.ArbitraryArgs,
		RunE: func(command *cobra.Command, args []string) error {
			files, err := s.configFiles(args)
			if err != nil {
				return err
			}
			if err := checkRules(judging.rules); err != nil {
				return err
			}
			if len(files) > 1 && (role != "" || judging.against != "") {
				return console.Usage("--role and --against are for one module, not for %d", len(files))
			}
			modules, found, err := a.judgedAll(command.Context(), files, &judging)
			if err != nil {
				return err
			}
			if err := a.writeRole(command.Context(), role, modules); err != nil {
				return err
			}
			if role != standardOutput {
				err = a.printFindings(output.Format, modules, found)
			} else {
				a.sayFindings(found)
			}
			if err != nil {
				return err
			}
			if errors, warnings := diagnostics.Count(found); errors > 0 || strict && warnings > 0 {
				return console.Quiet(console.CodeError)
			}
			return nil
		},
	}
	s.addConfig(command.Flags())
	judging.addFlags(command.Flags())
	command.Flags().BoolVar(&strict, "strict", false, "let warnings count as errors")
	command.Flags().StringVar(&role, "role", "",
		"file for the roles that an installation needs; - writes them to standard output, and the findings to standard error")
	command.Flags().VarP(output, "output", "o", "how to write it: "+output.Words())
	return command
}

// judging holds the flags that select what is checked.
type judging struct {
	rules   []string
	links   bool
	against string
	logins  registryauth.Options
	change  func(context.Context, *packaging.Source) error // applied to the module before it is checked; may be nil
}

func (j *judging) addFlags(flags *pflag.FlagSet) {
	flags.StringArrayVar(&j.rules, "rule", nil, "check this rule only (can be repeated)")
	flags.BoolVar(&j.links, "links", false, "ask whether links lead anywhere")
	flags.StringVar(&j.against, "against", "", "component version (REF) that is upgraded to this one: compare CustomResourceDefinitions")
	j.logins.AddFlags(flags)
}

// judged reads a module and checks all of its files that can be read.
func (a *author) judged(ctx context.Context, file string, j *judging) (*packaging.Source, []diagnostics.Finding, error) {
	fetcher := &packaging.Fetcher{}
	source, found, err := packaging.Load(ctx, file, fetcher)
	if err != nil {
		return nil, nil, missingConfig(file, err)
	}
	if source == nil {
		return nil, diagnostics.Sort(diagnostics.Select(found, j.rules)), nil
	}
	if j.change != nil {
		if err := j.change(ctx, source); err != nil {
			return nil, nil, err
		}
	}
	options := modulelint.Options{Rules: j.rules}
	if j.links {
		options.Fetch = func(link string) error { return fetcher.Check(ctx, link) }
	}
	if j.against != "" {
		if options.Against, err = a.earlier(ctx, j, source.Config.Name); err != nil {
			return nil, nil, err
		}
	}
	more, err := source.Lint(ctx, options)
	if err != nil {
		return nil, nil, err
	}
	return source, diagnostics.Sort(diagnostics.Select(append(found, more...), j.rules)), nil
}

// judgedAll reads and checks modules, and whether they require each other in a circle. A module that cannot be read is not among the
// result.
func (a *author) judgedAll(
	ctx context.Context, files []string, j *judging,
) (modules []*packaging.Source, found []diagnostics.Finding, err error) {
	var configs []*moduleconfig.Config
	for _, file := range files {
		source, more, err := a.judged(ctx, file, j)
		if err != nil {
			return nil, nil, err
		}
		found = append(found, more...)
		if source != nil {
			modules, configs = append(modules, source), append(configs, source.Config)
		}
	}
	return modules, append(found, diagnostics.Select(modulelint.Cycles(configs), j.rules)...), nil
}

// valid returns the sentence for modules without findings.
func valid(modules []*packaging.Source) string {
	var names []string
	for _, module := range modules {
		names = append(names, module.Config.ModuleName()+" "+module.Config.Version)
	}
	verb := " is valid."
	if len(names) > 1 {
		verb = " are valid."
	}
	return english.WordSeries(names, "and") + verb
}

// earlier returns the objects of the version that --against names.
func (a *author) earlier(ctx context.Context, j *judging, name string) (objects []*unstructured.Unstructured, err error) {
	ref, err := a.reference(j.against, &j.logins)
	if err != nil {
		return nil, err
	}
	err = opened(ctx, ref, func(found *component.Opened) error {
		if found.Component.Name != name {
			return console.Usage("--against: %s is component %s, and the module is %s", j.against, found.Component.Name, name).
				With("name an earlier version of the same module")
		}
		objects, err = packaging.Declared(ctx, found)
		return err
	})
	return objects, withExitCode(j.logins.Explain(err, ""))
}

// allRules returns the rules that validate has.
func allRules() []diagnostics.Rule {
	own := diagnostics.Rule{Name: packaging.RuleReadable, Text: "What the configuration names can be read."}
	return append(append(moduleconfig.Rules(), modulelint.Rules()...), own)
}

// checkRules refuses unknown rules.
func checkRules(names []string) error {
	var known []string
	for _, rule := range allRules() {
		known = append(known, rule.Name)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return console.Usage("there is no rule %s", name).With("known rules: %s", strings.Join(known, ", "))
		}
	}
	return nil
}

func (a *author) printFindings(format console.Format, modules []*packaging.Source, found []diagnostics.Finding) error {
	if format == sarif {
		text, err := diagnostics.SARIF(found, "", allRules()...)
		if err != nil {
			return err
		}
		_, err = a.console.Out.Write(text)
		return err
	}
	errors, warnings := diagnostics.Count(found)
	document := console.Document{
		Data: findings{
			Versioned: console.Kind("FindingList"), Errors: errors, Warnings: warnings, Items: append([]diagnostics.Finding{}, found...),
		},
	}
	if len(modules) == 1 {
		data, _ := document.Data.(findings)
		data.Module, data.Version = modules[0].Config.ModuleName(), modules[0].Config.Version
		document.Data = data
	}
	if len(modules) > 0 {
		document.Empty = valid(modules)
	}
	for _, heading := range diagnostics.Headings() {
		document.Columns = append(document.Columns, console.Column{Name: heading, Wide: heading == "RULE"})
	}
	for i := range found {
		document.Rows = append(document.Rows, found[i].Row())
	}
	return a.console.Print(format, document)
}
