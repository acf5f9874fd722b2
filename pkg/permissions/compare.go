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

// Compare returns how what two versions may do differs. Comparing against an empty report gives everything that a first installation asks for.
func Compare(before, after Report) Difference {
	d := Difference{
		Added:              lacking(before, after),
		Removed:            lacking(after, before),
		DefinitionsChanged: compareDefinitions(before.Definitions, after.Definitions),
	}
	d.WebhooksAdded, d.WebhooksChanged, d.WebhooksRemoved = compareNamed(before.Webhooks, after.Webhooks)
	d.APIServicesAdded, d.APIServicesChanged, d.APIServicesRemoved = compareNamed(before.APIServices, after.APIServices)
	d.ImagesAdded, d.ImagesRemoved, d.ImagesChanged = compareImages(before.Images, after.Images)
	return d
}

// lacking returns what of a report another one does not have.
func lacking(has, wants Report) []Finding {
	held, wanted, known := ruleSet{}, ruleSet{}, map[string]bool{}
	own := map[string]bool{}
	for i := range has.Findings {
		f := &has.Findings[i]
		known[f.Key] = true
		if f.Right != nil {
			held.addRight(f.Right, f.Rule, f.Subject)
		}
	}
	var found []Finding
	for _, f := range wants.Findings {
		switch {
		case f.Right != nil:
			wanted.addRight(f.Right, f.Rule, f.Subject)
			if f.Right.Own {
				own[f.Right.definition()] = true
			}
		case !known[f.Key]:
			found = append(found, f)
		}
	}
	for _, r := range wanted.without(held).rights() {
		found = append(found, r.finding(own))
	}
	return sortFindings(found)
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
