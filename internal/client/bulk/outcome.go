package bulk

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"
	"k8s.io/apimachinery/pkg/types"
)

// Outcome is what became of one object, in a word.
type Outcome string

// The outcomes.
const (
	// Done: it was changed, or came about.
	Done Outcome = "Done"
	// Planned: it would be changed.
	Planned Outcome = "Planned"
	// Unchanged: there was nothing to do.
	Unchanged Outcome = "Unchanged"
	// Warned: it came about, but with a warning.
	Warned Outcome = "Warned"
	// Refused: it cannot be done as the object is now, so nothing was tried.
	Refused Outcome = "Refused"
	// Failed: it was tried in vain.
	Failed Outcome = "Failed"
	// Open: it did not come about in time.
	Open Outcome = "Open"
	// NotTried: it was not begun.
	NotTried Outcome = "NotTried"
)

// Order is the order in which outcomes are told.
var Order = []Outcome{Done, Planned, Unchanged, Warned, Refused, Failed, Open, NotTried}

// Result is what became of one object.
type Result struct {
	Key     types.NamespacedName
	Outcome Outcome
	// Message says what was done, or why not. It does not name the object, so that equal ones can be told together.
	Message string
}

// Group are the objects with the same outcome and message.
type Group struct {
	Outcome Outcome
	Message string
	Keys    []types.NamespacedName
}

// GroupBy returns the groups of some results: in an order of outcomes, those of one outcome by their size, the largest first.
func GroupBy(results []Result, order []Outcome) []Group {
	type same struct {
		outcome Outcome
		message string
	}
	at := map[same]int{}
	var groups []Group
	for _, result := range results {
		key := same{result.Outcome, result.Message}
		i, known := at[key]
		if !known {
			i = len(groups)
			at[key] = i
			groups = append(groups, Group{Outcome: result.Outcome, Message: result.Message})
		}
		groups[i].Keys = append(groups[i].Keys, result.Key)
	}
	slices.SortStableFunc(groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Outcome), slices.Index(order, b.Outcome)),
			cmp.Compare(len(b.Keys), len(a.Keys)), cmp.Compare(a.Message, b.Message))
	})
	return groups
}

// Bounded returns at most that many groups of each outcome. The rest of an outcome is one more group, whose message counts the messages.
func Bounded(groups []Group, most int) []Group {
	var kept []Group
	for _, outcome := range outcomesOf(groups) {
		var same []Group
		for _, group := range groups {
			if group.Outcome == outcome {
				same = append(same, group)
			}
		}
		kept = append(kept, same[:min(len(same), most)]...)
		if len(same) <= most {
			continue
		}
		rest := Group{Outcome: outcome, Message: english.Plural(len(same)-most, "other message", "")}
		for _, group := range same[most:] {
			rest.Keys = append(rest.Keys, group.Keys...)
		}
		kept = append(kept, rest)
	}
	return kept
}

// outcomesOf returns the outcomes of groups, in their order.
func outcomesOf(groups []Group) []Outcome {
	var outcomes []Outcome
	for _, group := range groups {
		if !slices.Contains(outcomes, group.Outcome) {
			outcomes = append(outcomes, group.Outcome)
		}
	}
	return outcomes
}

// Names names the first objects and counts the others: "kcp-system/a, kcp-system/b and 402 more". most < 1 names all.
func Names(keys []types.NamespacedName, most int) string {
	shown := len(keys)
	if most > 0 {
		shown = min(shown, most)
	}
	var texts []string
	for _, key := range keys[:shown] {
		texts = append(texts, key.String())
	}
	if more := len(keys) - shown; more > 0 {
		texts = append(texts, fmt.Sprintf("%d more", more))
	}
	return english.WordSeries(texts, "and")
}

// Anonymous returns a message about an object without its name, so that it equals that about another one.
func Anonymous(message string, key types.NamespacedName) string {
	whole := regexp.MustCompile(`\b` + regexp.QuoteMeta(key.String()) + `([^-.a-z0-9]|$)`)
	message = whole.ReplaceAllString(message, "NAME${1}")
	return strings.ReplaceAll(message, `"`+key.Name+`"`, `"NAME"`)
}
