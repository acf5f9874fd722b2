package view

import (
	"strings"
	"testing"
)

func TestWayToInstall(t *testing.T) {
	for name, c := range map[string]struct {
		wish Wish
		want Way
		why  string
	}{
		"a manageable module goes into the Kyma":       {Wish{Kyma: true, Type: Manageable}, ViaKyma, ""},
		"what the Kyma has is edited there":            {Wish{Kyma: true, Type: Managed}, ViaKyma, ""},
		"what the Kyma has is not installed beside it": {Wish{Kyma: true, Type: Managed, WantsUnmanaged: true}, NoWay, "take it out"},
		"what the Kyma has is no community module":     {Wish{Kyma: true, Type: Managed, WantsCommunity: true}, NoWay, "take it out"},
		"what a Kyma has is not installed directly where nobody can edit it": {
			Wish{Type: Managed}, NoWay, "take it out",
		},
		"a community module has to be asked for as one":                {Wish{Kyma: true, Type: Community}, NoWay, "--community"},
		"a community module is installed directly":                     {Wish{Kyma: true, Type: Community, WantsCommunity: true}, Directly, ""},
		"a community module needs no Kyma":                             {Wish{Type: Community, WantsCommunity: true}, Directly, ""},
		"a manageable module is no community module":                   {Wish{Type: Manageable, WantsCommunity: true}, NoWay, "no community"},
		"giving support up is confirmed":                               {Wish{Kyma: true, Type: Manageable, WantsUnmanaged: true}, DirectlyConfirmed, "support"},
		"without a Kyma a manageable module is confirmed":              {Wish{Type: Manageable}, DirectlyConfirmed, ""},
		"what was confirmed once is not asked again":                   {Wish{Kyma: true, Type: Manageable, Direct: true, WantsUnmanaged: true}, Directly, ""},
		"without a Kyma a repeated installation is not asked again":    {Wish{Type: Manageable, Direct: true}, Directly, ""},
		"what is installed directly is handed over, not doubled by it": {Wish{Kyma: true, Type: Manageable, Direct: true}, NoWay, "kyma delete beacon"},
	} {
		t.Run(name, func(t *testing.T) {
			c.wish.Module = "beacon"
			way, why := WayToInstall(c.wish)
			if way != c.want || !strings.Contains(why, c.why) {
				t.Errorf("%s (%s), want %s (%s)", way, why, c.want, c.why)
			}
		})
	}
}

func TestNextToDelete(t *testing.T) {
	refs := make([]Ref, 7)
	for i := range refs {
		refs[i] = Ref{Kind: "Beacon", Namespace: "a", Name: string(rune('a' + i))}
	}
	for name, c := range map[string]struct {
		leaving Leaving
		want    Step
		why     string
	}{
		"what is not there is gone":                     {Leaving{}, Gone, "not installed"},
		"a managed module leaves by the Kyma":           {Leaving{Managed: true}, RemoveEntry, ""},
		"a direct one by its objects":                   {Leaving{Direct: true}, DeleteObjects, ""},
		"resources block, and are named":                {Leaving{Managed: true, Resources: refs}, Blocked, "Beacon a/a, Beacon a/b"},
		"many resources are counted":                    {Leaving{Direct: true, Resources: refs}, Blocked, "and 2 more"},
		"a namespace is not part of what has none":      {Leaving{Direct: true, Resources: []Ref{{Kind: "K", Name: "n"}}}, Blocked, "K n"},
		"resources that were shown are deleted first":   {Leaving{Direct: true, Resources: refs[:1], Cascade: true}, DeleteResources, ""},
		"what nobody may list blocks, whatever is said": {Leaving{Direct: true, Unread: []Unread{{GroupKind: beacons, Forbidden: true, Namespace: "x"}}, Cascade: true}, Blocked, "may not list"},
	} {
		t.Run(name, func(t *testing.T) {
			step, why := NextToDelete(c.leaving)
			if step != c.want || !strings.Contains(why, c.why) {
				t.Errorf("%s (%s), want %s (%s)", step, why, c.want, c.why)
			}
		})
	}
}
