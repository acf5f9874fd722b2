package modulestatus

import (
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// StatusOf returns the entry of a module in the status of a Kyma, nil when there is none.
func StatusOf(kyma *v1beta2.Kyma, name string) *v1beta2.ModuleStatus {
	for i := range kyma.Status.Modules {
		if kyma.Status.Modules[i].Name == name {
			return &kyma.Status.Modules[i]
		}
	}
	return nil
}

// PendingOf returns what the status tells of a version of a module that waits, nil when none does. Awaits says whether it is for consent.
func PendingOf(kyma *v1beta2.Kyma, name string) *v1beta2.PendingVersion {
	if entry := StatusOf(kyma, name); entry != nil {
		return entry.Pending
	}
	return nil
}

// Awaits reports whether a version waits for consent. One that has it, or needs none any more, is told without a side while it waits for
// something else.
func Awaits(pending *v1beta2.PendingVersion) bool {
	return pending != nil && len(pending.From) > 0
}

// ConsentSides returns the sides that a Kyma's user speaks for: the runtime with its copy there, the hub with a Kyma there, and both with
// a Kyma whose modules are in the hub itself, since there is no other one.
func ConsentSides(kyma *v1beta2.Kyma) []v1beta2.ConsentSide {
	switch {
	case IsCopy(kyma):
		return []v1beta2.ConsentSide{v1beta2.ConsentRuntime}
	case Here(kyma):
		return []v1beta2.ConsentSide{v1beta2.ConsentHub, v1beta2.ConsentRuntime}
	}
	return []v1beta2.ConsentSide{v1beta2.ConsentHub}
}

// ConsentHere reports whether the consent of a Kyma's own user is missing.
func ConsentHere(kyma *v1beta2.Kyma, pending *v1beta2.PendingVersion) bool {
	sides := append(ConsentSides(kyma), v1beta2.ConsentAny)
	return Awaits(pending) && slices.ContainsFunc(pending.From, func(side v1beta2.ConsentSide) bool {
		return slices.Contains(sides, side)
	})
}

// Consenters names sides for users.
func Consenters(sides []v1beta2.ConsentSide) string {
	var names []string
	for _, side := range sides {
		switch side {
		case v1beta2.ConsentHub:
			names = append(names, "the operator of the hub")
		case v1beta2.ConsentRuntime:
			names = append(names, "the user of the runtime")
		case v1beta2.ConsentAny:
			names = append(names, "the operator of the hub or the user of the runtime")
		default:
			names = append(names, string(side))
		}
	}
	return strings.Join(names, " and ")
}

// PendingCounts returns what changes with a version that waits, in words: "3 new rights, 1 webhook"; empty when nothing does.
func PendingCounts(counts v1beta2.PendingCounts) string {
	var parts []string
	for _, part := range []struct {
		count          int
		one, many      string
		before, behind string
	}{
		{counts.RightsAdded, "right", "rights", "new ", ""},
		{counts.RightsRemoved, "right", "rights", "", " fewer"},
		{counts.Definitions, "definition", "definitions", "", ""},
		{counts.Webhooks, "webhook", "webhooks", "", ""},
		{counts.Images, "image", "images", "", " from another place"},
	} {
		if part.count > 0 {
			number, word, _ := strings.Cut(english.Plural(part.count, part.one, part.many), " ")
			parts = append(parts, number+" "+part.before+word+part.behind)
		}
	}
	return strings.Join(parts, ", ")
}
