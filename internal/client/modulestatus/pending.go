package modulestatus

import (
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// PendingOf returns the version of a module that waits for consent, nil when none does.
func PendingOf(kyma *v1beta2.Kyma, name string) *v1beta2.PendingVersion {
	for i := range kyma.Status.Modules {
		if kyma.Status.Modules[i].Name == name {
			return kyma.Status.Modules[i].Pending
		}
	}
	return nil
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

// ConsentHere reports whether the consent of a Kyma's own user is missing. A version that does not say whose consent is missing waits for
// every side.
func ConsentHere(kyma *v1beta2.Kyma, pending *v1beta2.PendingVersion) bool {
	if pending == nil {
		return false
	}
	return len(pending.From) == 0 || slices.ContainsFunc(ConsentSides(kyma), func(side v1beta2.ConsentSide) bool {
		return slices.Contains(pending.From, side)
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
