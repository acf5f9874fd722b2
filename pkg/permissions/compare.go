package permissions

import (
	"cmp"
	"slices"
)

// Difference is what one version may do that another may not, in both directions. All lists are sorted.
type Difference struct {
	// Added are the rights that the later version asks for and the earlier does not have. A right that is wider than before is there with what
	// is new of it.
	Added []Finding `json:"added,omitempty"`
	// Removed are the rights that the later version gives up.
	Removed []Finding `json:"removed,omitempty"`
	// DefinitionsChanged are definitions that are new, gone or different.
	DefinitionsChanged []DefinitionChange `json:"definitionsChanged,omitempty"`
	// WebhooksAdded are webhooks and admission policies that are new.
	WebhooksAdded []Named `json:"webhooksAdded,omitempty"`
	// WebhooksChanged are those with another content, as it is later.
	WebhooksChanged []Named `json:"webhooksChanged,omitempty"`
	// WebhooksRemoved are those that are gone.
	WebhooksRemoved []Named `json:"webhooksRemoved,omitempty"`
	// APIServicesAdded are API services that are new.
	APIServicesAdded []Named `json:"apiServicesAdded,omitempty"`
	// APIServicesChanged are those with another content, as it is later.
	APIServicesChanged []Named `json:"apiServicesChanged,omitempty"`
	// APIServicesRemoved are those that are gone.
	APIServicesRemoved []Named `json:"apiServicesRemoved,omitempty"`
	// ImagesAdded are images of repositories that the earlier version takes none from.
	ImagesAdded []Image `json:"imagesAdded,omitempty"`
	// ImagesRemoved are images of repositories that the later version takes none from.
	ImagesRemoved []Image `json:"imagesRemoved,omitempty"`
	// ImagesChanged are repositories of both versions, with other tags or digests.
	ImagesChanged []ImageChange `json:"imagesChanged,omitempty"`
}

// ImageChange is a repository that another version of its image comes from.
type ImageChange struct {
	Registry   string   `json:"registry"`
	Repository string   `json:"repository"`
	Before     []string `json:"before"`
	After      []string `json:"after"`
}

// Compare returns how what two versions may do differs. Comparing against an empty report gives everything that a first installation
// asks for.
func Compare(before, after Report) Difference {
	d := Difference{DefinitionsChanged: compareDefinitions(before.Definitions, after.Definitions)}
	d.Added, d.Removed = withoutMoved(lacking(before, after), lacking(after, before))
	d.WebhooksAdded, d.WebhooksChanged, d.WebhooksRemoved = compareNamed(before.Webhooks, after.Webhooks)
	d.APIServicesAdded, d.APIServicesChanged, d.APIServicesRemoved = compareNamed(before.APIServices, after.APIServices)
	d.ImagesAdded, d.ImagesRemoved, d.ImagesChanged = compareImages(before.Images, after.Images)
	return d
}

// held is a report in the form that others are compared with.
type held struct {
	rights       ruleSet
	accesses     map[string][]*Access
	intercepting []*Interception
	keys         map[string]bool
}

func readHeld(report Report) *held {
	h := &held{ruleSet{}, map[string][]*Access{}, nil, map[string]bool{}}
	for i := range report.Findings {
		f := &report.Findings[i]
		h.keys[f.Key] = true
		switch {
		case f.Right != nil:
			h.rights.addRight(f.Right, f.Rule, f.Subject)
		case f.Access != nil:
			h.accesses[f.Access.owner()] = append(h.accesses[f.Access.owner()], f.Access)
		case f.Interception != nil:
			h.intercepting = append(h.intercepting, f.Interception)
		}
	}
	return h
}

// lacking returns what of a report another one does not have.
func lacking(has, wants Report) []Finding {
	h := readHeld(has)
	wanted, own := ruleSet{}, map[string]bool{}
	var found []Finding
	for _, f := range wants.Findings {
		switch {
		case f.Right != nil:
			wanted.addRight(f.Right, f.Rule, f.Subject)
			own[f.Right.definition()] = f.Right.Own
		case f.Interception != nil:
			found = append(found, h.remaining(f)...)
		case !h.keys[f.Key] && !h.covers(f.Access):
			found = append(found, f)
		}
	}
	for _, r := range wanted.without(h.rights).rights() {
		found = append(found, r.finding(own))
	}
	return sortFindings(found)
}

// covers reports whether an access is part of what the same workload has.
func (h *held) covers(a *Access) bool {
	return a != nil && slices.ContainsFunc(h.accesses[a.owner()], func(other *Access) bool { return other.covers(a) })
}

// remaining returns an interception with the operations that are not intercepted yet.
func (h *held) remaining(f Finding) []Finding {
	i := *f.Interception
	if i.Operations = i.without(h.intercepting); len(i.Operations) == 0 {
		return nil
	}
	placed := placedInterception{i, []string{f.Rule}, []string{f.Subject}}
	return []Finding{placed.finding()}
}

// withoutMoved leaves out what is gained by one workload and given up by another.
func withoutMoved(added, removed []Finding) (gained, lost []Finding) {
	balance := map[string]int{}
	for i := range removed {
		if a := removed[i].Access; a != nil && a.Carrier != "" {
			balance[a.kind()]++
		}
	}
	moved := map[string]int{}
	cancel := func(f Finding, from, to map[string]int) bool {
		if f.Access == nil || f.Access.Carrier == "" || from[f.Access.kind()] == 0 {
			return false
		}
		from[f.Access.kind()]--
		to[f.Access.kind()]++
		return true
	}
	gained = slices.DeleteFunc(added, func(f Finding) bool { return cancel(f, balance, moved) })
	lost = slices.DeleteFunc(removed, func(f Finding) bool { return cancel(f, moved, map[string]int{}) })
	return gained, lost
}

// compareNamed returns what is new, what has another content, and what is gone. What merely has another name is none of them.
func compareNamed(before, after []Named) (added, changed, removed []Named) {
	was, is := byName(before), byName(after)
	gone := map[string]int{}
	for _, named := range before {
		if _, stays := is[named.Name]; !stays {
			gone[named.Hash]++
		}
	}
	moved := map[string]int{}
	for _, named := range after {
		switch hash, known := was[named.Name]; {
		case known && hash != named.Hash:
			changed = append(changed, named)
		case known:
		case moved[named.Hash] < gone[named.Hash]:
			moved[named.Hash]++
		default:
			added = append(added, named)
		}
	}
	for _, named := range before {
		if _, stays := is[named.Name]; stays {
			continue
		}
		if moved[named.Hash] > 0 {
			moved[named.Hash]--
			continue
		}
		removed = append(removed, named)
	}
	return added, changed, removed
}

func byName(all []Named) map[string]string {
	names := make(map[string]string, len(all))
	for _, named := range all {
		names[named.Name] = named.Hash
	}
	return names
}

// sortNamed orders by name, each once.
func sortNamed(all []Named) []Named {
	slices.SortFunc(all, func(a, b Named) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Hash, b.Hash)) })
	return slices.CompactFunc(all, func(a, b Named) bool { return a.Name == b.Name })
}
