package rolloutcmd

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/kyma-project/lifecycle-manager/internal/cli/changetext"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/releasepreview"
)

// shownNames is how many Kymas of a group a table names.
const shownNames = 5

func (p *previewing) print(document *previewDocument) error {
	if !p.isText() {
		return p.console.Print(p.output.Format, console.Document{Data: document})
	}
	var text strings.Builder
	o := &document.Outlook
	fmt.Fprintf(&text, "release/%s/%s: channel %s would offer %s", o.Namespace, o.Module, o.Channel, o.Version)
	switch o.Offered {
	case "":
		text.WriteString(" for the first time\n")
	case o.Version:
		text.WriteString(", as it does already\n")
	default:
		fmt.Fprintf(&text, " in place of %s\n", o.Offered)
	}
	for i := range o.Changes {
		pair := &o.Changes[i]
		fmt.Fprintf(&text, "\nWHAT CHANGES%s\n", stepTitle(&pair.Changes, pair.Kymas))
		changetext.Write(&text, &pair.Changes, p.all)
	}
	for _, sentence := range o.Unrendered {
		fmt.Fprintf(&text, "\n%s\n", console.OneLine(capital(sentence)))
	}
	p.writeOutcomes(&text, &o.Result)
	if document.DryRun != nil {
		fmt.Fprintf(&text, "\nDRY RUN in the runtime of Kyma %s\n", document.DryRun.Kyma)
		changetext.WriteAnswer(&text, document.DryRun, p.all)
	}
	_, err := io.WriteString(p.console.Out, text.String())
	return err
}

func stepTitle(c *releasepreview.Changes, count int) string {
	title := " with a first installation"
	if c.From != nil {
		title = " from " + c.From.Version
	}
	if count == 0 {
		return title + " (no Kyma has it)"
	}
	return title + " (" + kymas(count) + ")"
}

// writeOutcomes writes who gets the version.
func (p *previewing) writeOutcomes(to io.Writer, r *releasepreview.Result) {
	fmt.Fprintf(to, "\nWHO GETS IT of %s that follow channel %s", kymas(r.Kymas), r.Channel)
	if r.Others > 0 {
		fmt.Fprintf(to, " (%d with a pinned version or another channel are not concerned)", r.Others)
	}
	fmt.Fprintln(to)
	if len(r.Groups) > 0 {
		writeTable(to, outcomeRows("OUTCOME", r.Groups))
	}
	if len(r.Then) > 0 {
		writeTable(to, outcomeRows("ONCE THEIR WAVE HAS BEGUN", r.Then))
	}
	for _, sentence := range r.Unknown {
		fmt.Fprintf(to, "\nNot taken into account: %s\n", console.OneLine(sentence))
	}
}

func outcomeRows(title string, all []releasepreview.Group) [][]string {
	rows := [][]string{{title, "KYMAS", "WHY", "NAMES"}}
	for _, group := range all {
		names := strings.Join(group.Names, ", ")
		if group.More > 0 {
			names += fmt.Sprintf(" and %d more", group.More)
		}
		rows = append(rows, []string{outcomeWords[group.Outcome], strconv.Itoa(group.Count), group.Detail, names})
	}
	return rows
}

// outcomeWords are the outcomes in words.
var outcomeWords = map[releasepreview.Outcome]string{
	releasepreview.Upgrades: "upgrades at once", releasepreview.Installs: "installs at once",
	releasepreview.WaitsForRollout: "waits for the rollout", releasepreview.NeedsConsent: "needs consent",
	releasepreview.WaitsForWindow: "waits for a window", releasepreview.RequirementMissing: "lacks a requirement",
	releasepreview.WouldBreak: "would break a module", releasepreview.Unreachable: "does not answer", releasepreview.Suspended: "is suspended",
	releasepreview.Refused: "is refused", releasepreview.Removed: "loses the module", releasepreview.Downgrade: "keeps a higher version",
	releasepreview.Avoids: "avoids it", releasepreview.Leaving: "is being deleted", releasepreview.Same: "has it already",
}

// capital begins a sentence.
func capital(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
