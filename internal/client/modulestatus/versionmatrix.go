package modulestatus

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
)

// FleetModule is a module with the versions that the Kymas of a namespace have of it.
type FleetModule struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Mandatory bool   `json:"mandatory"`
	// Kymas is the number of Kymas that have the module, and Waiting that of those that wait until a rollout lets them have a version. A
	// Kyma that requests a mandatory module has it twice, and the module needs attention in Troubled of them.
	Kymas    int `json:"kymas"`
	Waiting  int `json:"waiting"`
	Troubled int `json:"troubled"`
	// Versions are the most frequent ones, the highest first, and Others counts the rest.
	Versions []FleetVersion `json:"versions"`
	Others   FleetOthers    `json:"others"`
}

// FleetVersion counts the Kymas that have one version of a module.
type FleetVersion struct {
	// Version is empty for Kymas in which no version is installed yet.
	Version string `json:"version"`
	Kymas   int    `json:"kymas"`
	// Troubled counts those in which the module needs attention.
	Troubled int `json:"troubled"`
	// Channels offer this version.
	Channels []string `json:"channels"`
}

// FleetOthers counts the versions that have no FleetVersion of their own, and the Kymas that have them.
type FleetOthers struct {
	Versions int `json:"versions"`
	Kymas    int `json:"kymas"`
}

// mostFleetVersions bounds how many versions of a module are counted one by one.
const mostFleetVersions = 6

// VersionMatrix counts which versions of each module the Kymas have installed, sorted by module and namespace. Modules without a Kyma do
// not count.
func VersionMatrix(modules []Module, offers []Offer, now time.Time) []FleetModule {
	type counted struct {
		line     FleetModule
		versions map[string]*FleetVersion
	}
	all := map[Key]*counted{}
	for i := range modules {
		m := &modules[i]
		namespace, _, _ := strings.Cut(m.Kyma, "/")
		if namespace == "" {
			continue
		}
		at := Key{namespace, m.Name}
		if all[at] == nil {
			all[at] = &counted{FleetModule{Namespace: namespace, Name: m.Name}, map[string]*FleetVersion{}}
		}
		troubled := m.NeedsAttention(now)
		all[at].line.add(m, troubled)
		version := m.Version.Installed
		if all[at].versions[version] == nil {
			all[at].versions[version] = &FleetVersion{Version: version, Channels: []string{}}
		}
		all[at].versions[version].add(troubled)
	}
	for i := range offers {
		if at := all[Key{offers[i].Namespace, offers[i].Name}]; at != nil {
			offeredBy(&offers[i], at.versions)
		}
	}
	lines := make([]FleetModule, 0, len(all))
	for _, at := range all {
		at.line.Versions, at.line.Others = frequent(at.versions)
		lines = append(lines, at.line)
	}
	slices.SortFunc(lines, func(a, b FleetModule) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Namespace, b.Namespace))
	})
	return lines
}

// Spread returns how many versions of the module there are in the fleet.
func (l *FleetModule) Spread() int {
	spread := l.Others.Versions
	for i := range l.Versions {
		if l.Versions[i].Kymas > 0 {
			spread++
		}
	}
	return spread
}

func (l *FleetModule) add(m *Module, troubled bool) {
	l.Kymas++
	if troubled {
		l.Troubled++
	}
	l.Mandatory = l.Mandatory || m.Mandatory
	if m.Offered != "" {
		l.Waiting++
	}
}

func (v *FleetVersion) add(troubled bool) {
	v.Kymas++
	if troubled {
		v.Troubled++
	}
}

// offeredBy adds the channels that offer each version. A version that a channel offers and no Kyma has yet is shown, too.
func offeredBy(offer *Offer, versions map[string]*FleetVersion) {
	for _, c := range offer.Channels {
		if c.Version == "" {
			continue
		}
		if versions[c.Version] == nil {
			versions[c.Version] = &FleetVersion{Version: c.Version, Channels: []string{}}
		}
		versions[c.Version].Channels = append(versions[c.Version].Channels, c.Channel)
	}
}

// frequent returns the versions that most Kymas have, and counts the others. Versions that channels offer take precedence among equally
// frequent ones.
func frequent(versions map[string]*FleetVersion) ([]FleetVersion, FleetOthers) {
	found := make([]FleetVersion, 0, len(versions))
	for _, v := range versions {
		slices.Sort(v.Channels)
		found = append(found, *v)
	}
	slices.SortFunc(found, func(a, b FleetVersion) int {
		return cmp.Or(cmp.Compare(b.Kymas, a.Kymas), cmp.Compare(len(b.Channels), len(a.Channels)), higherFirst(a.Version, b.Version))
	})
	var others FleetOthers
	for _, v := range found[min(len(found), mostFleetVersions):] {
		others.Versions++
		others.Kymas += v.Kymas
	}
	found = found[:min(len(found), mostFleetVersions)]
	slices.SortFunc(found, func(a, b FleetVersion) int { return higherFirst(a.Version, b.Version) })
	return found, others
}

// higherFirst orders versions, the highest first and none last.
func higherFirst(a, b string) int {
	if (a == "") != (b == "") {
		return cmp.Compare(len(b), len(a))
	}
	return cmp.Or(moduleversion.Compare(b, a), cmp.Compare(a, b))
}
