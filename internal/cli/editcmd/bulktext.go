package editcmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/bulk"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
)

const (
	// shownKymas is how many Kymas of a group are named, and shownGroups how many groups of an outcome are shown.
	shownKymas  = 3
	shownGroups = 10
	// namedKymas is how many Kymas a question names.
	namedKymas = 5
)

// outcomeWords are the outcomes for users.
var outcomeWords = map[bulk.Outcome]string{
	bulk.Done: "done", bulk.Planned: "planned", bulk.Unchanged: "unchanged", bulk.Warned: "warning", bulk.Refused: "refused",
	bulk.Failed: "failed", bulk.Open: "under way", bulk.NotTried: "not begun",
}

// outcomeGroup are the Kymas of one outcome and message, for programs.
type outcomeGroup struct {
	Outcome bulk.Outcome `json:"outcome"`
	Message string       `json:"message,omitempty"`
	Count   int          `json:"count"`
	Kymas   []string     `json:"kymas"`
}

// groups returns the groups of some results, as users see them.
func (b *bulkCall) groups(results []bulk.Result) []bulk.Group {
	groups := bulk.GroupBy(results, bulk.Order)
	if b.bulk.verbose {
		return groups
	}
	return bulk.Bounded(groups, shownGroups)
}

// names lists the Kymas of a group.
func (b *bulkCall) names(group bulk.Group) string {
	if b.bulk.verbose {
		return bulk.Names(group.Keys, 0)
	}
	return bulk.Names(group.Keys, shownKymas)
}

// say writes a line for each group: "412 of 1,000 Kymas: add notes (kcp-system/a, kcp-system/b, kcp-system/c and 409 more)".
func (b *bulkCall) say(results []bulk.Result) {
	for _, group := range b.groups(results) {
		word := outcomeWords[group.Outcome]
		if group.Outcome == bulk.Planned {
			word = ""
		}
		b.console.Sayf("%s of %s: %s (%s)", humanize.Comma(int64(len(group.Keys))), plural(len(results)),
			joined(word, group.Message), b.names(group))
	}
}

// joined joins the words that there are.
func joined(word, message string) string {
	if word == "" || message == "" {
		return word + message
	}
	return word + ": " + message
}

// printEffects writes what became of all Kymas: a row for each outcome and message in tables, and everything for programs.
func (b *bulkCall) printEffects(steps []kymaStep, effects []effect) error {
	results, items := make([]bulk.Result, len(steps)), []item{}
	document := console.Document{Columns: []console.Column{{Name: "OUTCOME"}, {Name: "KYMAS"}, {Name: "WHAT"}, {Name: "WHICH"}}}
	for i := range steps {
		results[i] = bulk.Result{Key: steps[i].key, Outcome: effects[i].outcome, Message: effects[i].message}
		items = append(items, effects[i].items...)
		if outcome := effects[i].outcome; outcome == bulk.Done || outcome == bulk.Planned {
			document.Names = append(document.Names, "kyma/"+steps[i].key.String())
		}
	}
	list := changeList{Versioned: console.Kind("ChangeList"), Items: items, Kymas: len(steps)}
	for _, group := range bulk.GroupBy(results, bulk.Order) {
		one := outcomeGroup{Outcome: group.Outcome, Message: group.Message, Count: len(group.Keys)}
		for _, key := range group.Keys {
			one.Kymas = append(one.Kymas, key.String())
		}
		list.Outcomes = append(list.Outcomes, one)
	}
	document.Data = list
	for _, group := range b.groups(results) {
		document.Rows = append(document.Rows, []string{
			outcomeWords[group.Outcome], humanize.Comma(int64(len(group.Keys))), group.Message, b.names(group),
		})
	}
	return b.console.Print(b.output.Format, document)
}

// described says in a few words what changes do to a spec: "add notes@1.2.0, change beacon (channel fast)".
func described(changes []kymaedit.Change, spec *v1beta2.KymaSpec) string {
	var parts []string
	for _, change := range changes {
		entry := kymaedit.Entry(spec, change.Module)
		switch {
		case change.Action == kymaedit.Unchanged:
		case change.Action == kymaedit.Disabled:
			parts = append(parts, "delete "+change.Module)
		case change.Module == "" && slices.Contains(change.Fields, "release") && spec.Release == "":
			parts = append(parts, "set no release")
		case change.Module == "" && slices.Contains(change.Fields, "release"):
			parts = append(parts, "set release "+spec.Release)
		case change.Module == "":
			parts = append(parts, "set channel "+spec.Channel)
		case change.Action == kymaedit.Enabled && entry != nil:
			parts = append(parts, "add "+kymaedit.ModuleRequest{Name: entry.Name, Channel: entry.Channel, Version: entry.Version}.String())
		default:
			parts = append(parts, "change "+change.Module+" ("+strings.Join(fieldTexts(change.Fields, entry), ", ")+")")
		}
	}
	return strings.Join(parts, ", ")
}

// fieldTexts returns changed fields: a new channel or version with its value, others by name. Of a channel that takes the place of a
// version, and the other way round, only the new one is named.
func fieldTexts(fields []string, entry *v1beta2.Module) []string {
	var texts []string
	for _, field := range fields {
		switch {
		case entry == nil || field != "channel" && field != "version":
			texts = append(texts, field)
		case field == "channel" && entry.Channel != "":
			texts = append(texts, "channel "+entry.Channel)
		case field == "version" && entry.Version != "":
			texts = append(texts, "version "+entry.Version)
		case entry.Channel == "" && entry.Version == "":
			texts = append(texts, "the channel of the Kyma")
		}
	}
	return texts
}

// anyChange reports whether one of some changes has an effect.
func anyChange(changes []kymaedit.Change) bool {
	for _, change := range changes {
		if change.Action != kymaedit.Unchanged {
			return true
		}
	}
	return false
}

// kymasText counts Kymas, and names the first of them.
func kymasText(keys []client.ObjectKey) string {
	return fmt.Sprintf("%s (%s)", plural(len(keys)), bulk.Names(keys, namedKymas))
}

// asSentence returns a hint as a further sentence of a line.
func asSentence(hint string) string {
	if hint == "" {
		return ""
	}
	return " " + strings.ToUpper(hint[:1]) + hint[1:] + "."
}

// was counts Kymas in a sentence about what happened to them.
func was(count int) string {
	if count == 1 {
		return "1 Kyma was"
	}
	return plural(count) + " were"
}

// plural counts Kymas.
func plural(count int) string {
	if count == 1 {
		return "1 Kyma"
	}
	return humanize.Comma(int64(count)) + " Kymas"
}
