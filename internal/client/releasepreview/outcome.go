package releasepreview

import (
	"cmp"
	"slices"
	"time"
)

// Outcome is what becomes of a Kyma that follows the channel.
type Outcome string

// The outcomes, in the order in which they are shown.
const (
	// Upgrades: it upgrades at once.
	Upgrades Outcome = "Upgrades"
	// Installs: it has no version yet, and gets this one at once.
	Installs Outcome = "Installs"
	// WaitsForRollout: a later wave, or a free place in the current one.
	WaitsForRollout Outcome = "WaitsForRollout"
	// NeedsConsent: a person has to agree.
	NeedsConsent Outcome = "NeedsConsent"
	// WaitsForWindow: the version needs downtime, and the maintenance window is not open.
	WaitsForWindow Outcome = "WaitsForWindow"
	// RequirementMissing: something that the version needs is not there, or not known to be.
	RequirementMissing Outcome = "RequirementMissing"
	// WouldBreak: another module of the Kyma does not work with the version.
	WouldBreak Outcome = "WouldBreak"
	// Unreachable: it may upgrade, and its runtime does not answer.
	Unreachable Outcome = "Unreachable"
	// Suspended: the lifecycle manager skips it.
	Suspended Outcome = "Suspended"
	// Refused: a rule refuses the version, and what runs stays.
	Refused Outcome = "Refused"
	// Removed: the version is not for this Kyma, and the module is removed.
	Removed Outcome = "Removed"
	// Downgrade: what runs is higher, and stays.
	Downgrade Outcome = "Downgrade"
	// Avoids: it went back from the version before, and keeps what runs.
	Avoids Outcome = "Avoids"
	// Leaving: it, or its installation, is being deleted.
	Leaving Outcome = "Leaving"
	// Same: it has the version already.
	Same Outcome = "Same"
)

// order is that of the constants.
var order = []Outcome{
	Upgrades, Installs, WaitsForRollout, NeedsConsent, WaitsForWindow, RequirementMissing, WouldBreak, Unreachable, Suspended,
	Refused, Removed, Downgrade, Avoids, Leaving, Same,
}

// Holds reports whether the version does not come by itself with time: a person or a cluster has to change, or it never comes.
func (o Outcome) Holds() bool {
	return !slices.Contains([]Outcome{Upgrades, Installs, WaitsForRollout, WaitsForWindow, Same, Leaving}, o)
}

// Group counts the Kymas with one outcome for one reason.
type Group struct {
	Outcome Outcome `json:"outcome"`
	// Detail says why, where, until when or who: it completes the outcome.
	Detail string `json:"detail,omitempty"`
	// Reason is the one that the Kyma's status would have; empty where it would have none.
	Reason string `json:"reason,omitempty"`
	// Count of Kymas, Names of the first of them, and More for those that are not named.
	Count int      `json:"count"`
	Names []string `json:"names,omitempty"`
	More  int      `json:"more,omitempty"`
}

// Pair is a step from one content to another that Kymas take, or would take.
type Pair struct {
	From  *Ref `json:"from,omitempty"`
	To    Ref  `json:"to"`
	Kymas int  `json:"kymas"`
}

// Result is what would become of all Kymas.
type Result struct {
	Module  string `json:"module"`
	Channel string `json:"channel"`
	Version string `json:"version"`
	// Offered is what the channel offers now.
	Offered string `json:"offered,omitempty"`
	// Kymas that follow the channel. Others have the module from another channel, pinned or unmanaged, and are not affected.
	Kymas  int `json:"kymas"`
	Others int `json:"others"`
	// Groups of Kymas by outcome and reason. Too many reasons of one outcome are merged.
	Groups []Group `json:"groups"`
	// Then is what those meet that wait for the rollout, once they are admitted, where it is no upgrade.
	Then []Group `json:"then,omitempty"`
	// Pairs are the distinct steps, those of most Kymas first.
	Pairs []Pair `json:"pairs,omitempty"`
	// Unknown says in sentences what the result does not take into account.
	Unknown []string `json:"unknown,omitempty"`
}

// Count returns how many Kymas have an outcome.
func (r *Result) Count(of Outcome) int {
	total := 0
	for i := range r.Groups {
		if r.Groups[i].Outcome == of {
			total += r.Groups[i].Count
		}
	}
	return total
}

// maxGroups is how many reasons of one outcome are told apart.
const maxGroups = 12

// groups collects Kymas by outcome and reason.
type groups struct {
	limit int // names of a group; 0: all
	known map[groupKey]*Group
	count map[Outcome]int // groups of an outcome
}

type groupKey struct {
	outcome Outcome
	detail  string
}

func (g *groups) add(outcome Outcome, reason, detail, name string) {
	key := groupKey{outcome, detail}
	group := g.known[key]
	if group == nil && g.count[outcome] >= maxGroups {
		key.detail, detail = "for other reasons", "for other reasons"
		group = g.known[key]
	}
	if group == nil {
		group = &Group{Outcome: outcome, Detail: detail, Reason: reason}
		g.known[key] = group
		g.count[outcome]++
	}
	group.Count++
	if g.limit == 0 || len(group.Names) < g.limit {
		group.Names = append(group.Names, name)
	} else {
		group.More++
	}
}

// sorted returns the groups: by outcome, and of one outcome the largest first.
func (g *groups) sorted() []Group {
	all := make([]Group, 0, len(g.known))
	for _, group := range g.known {
		all = append(all, *group)
	}
	slices.SortFunc(all, func(a, b Group) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Outcome), slices.Index(order, b.Outcome)), cmp.Compare(b.Count, a.Count),
			cmp.Compare(a.Detail, b.Detail))
	})
	return all
}

func formatTime(at time.Time) string { return at.UTC().Format(time.RFC3339) }
