package modulestatus

import (
	"strings"
	"testing"
)

func TestWayToInstall(t *testing.T) {
	for name, c := range map[string]struct {
		wish InstallInput
		want InstallMethod
		why  string
	}{
		"a manageable module goes into the Kyma":       {InstallInput{Kyma: true, Type: Manageable}, ViaKyma, ""},
		"what the Kyma has is edited there":            {InstallInput{Kyma: true, Type: Managed}, ViaKyma, ""},
		"what the Kyma has is not installed beside it": {InstallInput{Kyma: true, Type: Managed, WantsUnmanaged: true}, NoWay, "remove it from"},
		"what the Kyma has is no community module":     {InstallInput{Kyma: true, Type: Managed, WantsCommunity: true}, NoWay, "remove it from"},
		"what a Kyma has is not installed directly where no one can edit it": {
			InstallInput{Type: Managed}, NoWay, "remove it from",
		},
		"a community module has to be asked for as one":                {InstallInput{Kyma: true, Type: Community}, NoWay, "--community"},
		"a community module is installed directly":                     {InstallInput{Kyma: true, Type: Community, WantsCommunity: true}, Directly, ""},
		"a community module needs no Kyma":                             {InstallInput{Type: Community, WantsCommunity: true}, Directly, ""},
		"a manageable module is no community module":                   {InstallInput{Type: Manageable, WantsCommunity: true}, NoWay, "no community"},
		"giving support up is confirmed":                               {InstallInput{Kyma: true, Type: Manageable, WantsUnmanaged: true}, DirectlyConfirmed, "support"},
		"without a Kyma a manageable module is confirmed":              {InstallInput{Type: Manageable}, DirectlyConfirmed, ""},
		"what was confirmed once is not asked again":                   {InstallInput{Kyma: true, Type: Manageable, Direct: true, WantsUnmanaged: true}, Directly, ""},
		"without a Kyma a repeated installation is not asked again":    {InstallInput{Type: Manageable, Direct: true}, Directly, ""},
		"what is installed directly is handed over, not doubled by it": {InstallInput{Kyma: true, Type: Manageable, Direct: true}, NoWay, "kyma delete beacon"},
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
		leaving DeleteInput
		want    Step
		why     string
	}{
		"what is not there is gone":                      {DeleteInput{}, Gone, "not installed"},
		"a managed module leaves by the Kyma":            {DeleteInput{Managed: true}, RemoveEntry, ""},
		"a direct one by its objects":                    {DeleteInput{Direct: true}, DeleteObjects, ""},
		"modules that need it block, and are named":      {DeleteInput{Managed: true, Dependents: []string{"notes", "paper"}}, Blocked, "modules notes and paper need it"},
		"with those that need it, it leaves by the Kyma": {DeleteInput{Managed: true, Dependents: []string{"notes"}, Cascade: true}, RemoveEntry, ""},
		"resources block, and are named":                 {DeleteInput{Managed: true, Resources: refs}, Blocked, "Beacon a/a, Beacon a/b"},
		"many resources are counted":                     {DeleteInput{Direct: true, Resources: refs}, Blocked, "and 2 more"},
		"an object without a namespace is named without": {DeleteInput{Direct: true, Resources: []Ref{{Kind: "K", Name: "n"}}}, Blocked, "K n"},
		"resources that were shown are deleted first":    {DeleteInput{Direct: true, Resources: refs[:1], Cascade: true}, DeleteResources, ""},
		"what no one may list blocks, whatever is said":  {DeleteInput{Direct: true, Unread: []Unread{{GroupKind: beacons, Forbidden: true, Namespace: "x"}}, Cascade: true}, Blocked, "may not list"},
	} {
		t.Run(name, func(t *testing.T) {
			step, why := NextToDelete(c.leaving)
			if step != c.want || !strings.Contains(why, c.why) {
				t.Errorf("%s (%s), want %s (%s)", step, why, c.want, c.why)
			}
		})
	}
}
