package askcmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/asks"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/pkg/permissions"
)

// permissionsDocument is the output of permissions for programs.
type permissionsDocument struct {
	console.Versioned
	Module  string `json:"module"`
	Version string `json:"version"`
	// Reference is what consent names: "<version>@<digest>".
	Reference string `json:"reference,omitempty"`
	Kyma      string `json:"kyma,omitempty"`
	// Source is where the content was read; empty where only the status of the Kyma is known.
	Source string `json:"source,omitempty"`
	// Against is the version that it was compared with.
	Against    string                  `json:"against,omitempty"`
	Report     *permissions.Report     `json:"report,omitempty"`
	Difference *permissions.Difference `json:"difference,omitempty"`
	// Pending is what the lifecycle manager says of a version that waits for consent.
	Pending *v1beta2.PendingVersion `json:"pending,omitempty"`
	Notes   []string                `json:"notes,omitempty"`
	Limits  string                  `json:"limits"`
}

// noComparison is the value of --against that compares with nothing.
const noComparison = "none"

// permitting is one call of `kyma permissions`.
type permitting struct {
	*asking
	against string
	reader  asks.Reader
}

func showPermissions(a *asking) *cobra.Command {
	p := &permitting{asking: a, reader: asks.Reader{Console: a.console}}
	command := &cobra.Command{
		Use:   "permissions MODULE[:VERSION|:CHANNEL]",
		Short: "Show what a version of a module may do in a cluster",
		Long: "Shows the rights of a version, in sentences and the gravest first: by RBAC, of its pods, by webhooks, and what else concerns\n" +
			"others. It reads the content as you, from the registry that the lifecycle manager reads. Without a version it is about the one\n" +
			"that waits for consent, or else about the one that the Kyma gets. Where another version is installed, it shows what is new and\n" +
			"what is gone; --against names another one. Where the content cannot be read, it shows what the lifecycle manager says of a\n" +
			"version that waits.",
		Example: "  kyma permissions notes\n" +
			"  kyma permissions notes:1.1.0 --against none -o wide\n" +
			"  kyma permissions notes:fast --against 1.0.0 --kyma kcp-system/demo -o json",
		RunE: func(command *cobra.Command, args []string) error { return p.run(command.Context(), args[0]) },
	}
	a.prepare(command)
	flags := command.Flags()
	flags.StringVar(&p.against, "against", "", "version to compare with, or none (default: the installed one)")
	p.reader.AddFlags(flags)
	return command
}

func (p *permitting) run(ctx context.Context, text string) error {
	s, err := p.about(ctx, text)
	if err != nil {
		return err
	}
	against := p.against
	switch installed := s.InstalledVersion(s.module); {
	case against == noComparison:
		against = ""
	case against == "" && (installed != s.version || s.Republished(s.module)):
		against = installed
	}
	answer, err := p.reader.Read(ctx, s, &s.KymaContext, asks.Question{Module: s.module, Version: s.version, Against: against})
	if err != nil {
		return err
	}
	p.explain(s, &answer)
	return p.console.Print(p.output.Format, p.document(s, &answer))
}

// explain says what the table is about, and what it is not.
func (p *permitting) explain(s *subject, answer *asks.Answer) {
	if f := p.output.Format; f == console.Table || f == console.Wide {
		text := "What " + answer.Module + " " + answer.Version + " may do"
		if answer.Against != "" || answer.FromStatus() {
			text = "What is new with " + answer.Module + " " + answer.Version
		}
		if answer.Against != "" {
			text += ", compared with " + answer.Against
		}
		if s.inKyma {
			text += ", in Kyma " + s.kymaName()
		}
		if summary := answer.Summary(); summary != "" {
			text += ": " + summary
		}
		p.console.Sayf("%s.", console.OneLine(text))
		defer p.console.Sayf("%s", permissions.Limits)
	}
	for _, note := range answer.Notes {
		p.console.Sayf("%s", console.OneLine(note))
	}
}

func (p *permitting) document(s *subject, answer *asks.Answer) console.Document {
	data := permissionsDocument{
		Versioned: console.Kind("ModulePermissions"), Module: answer.Module, Version: answer.Version, Reference: answer.Reference,
		Kyma: s.kymaName(), Source: answer.Source, Against: answer.Against, Difference: answer.Difference, Pending: answer.Pending,
		Notes: answer.Notes, Limits: permissions.Limits,
	}
	document := console.Document{
		Columns: []console.Column{
			{Name: "SEVERITY"}, {Name: "CHANGE"}, {Name: "RIGHT"}, {Name: "KIND", Wide: true}, {Name: "FROM", Wide: true}, {Name: "WHO", Wide: true},
		},
		Empty: fmt.Sprintf("%s %s asks for nothing.", answer.Module, answer.Version),
	}
	if answer.Against != "" {
		document.Empty = fmt.Sprintf("%s %s may do no more and no less than %s.", answer.Module, answer.Version, answer.Against)
	}
	if answer.FromStatus() {
		for _, sentence := range answer.Pending.Gravest {
			document.Rows = append(document.Rows, []string{"", asks.New, sentence, "", "", ""})
		}
	} else {
		data.Report = &answer.Report
		for _, line := range answer.Lines() {
			document.Rows = append(document.Rows, []string{
				line.Severity.String(), line.Change, line.Sentence, string(line.Category), line.Rule, line.Subject,
			})
		}
	}
	document.Data = data
	return document
}
