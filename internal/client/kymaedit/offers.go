package kymaedit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
)

// Offer is the available part of one module.
type Offer struct {
	Module string
	// Channels and the versions that they offer.
	Channels map[string]string
	// Versions that have a template, the newest first.
	Versions []string
	// Mandatory modules are installed automatically and cannot be requested.
	Mandatory bool
}

// Offers returns the offers of the releases and templates of one namespace, by module. A module without a release is no offer: a Kyma
// cannot request it.
func Offers(releases []v1beta2.ModuleReleaseMeta, templates []v1beta2.ModuleTemplate) map[string]Offer {
	offers := map[string]Offer{}
	for i := range releases {
		release := &releases[i]
		offer := Offer{Module: release.Name, Channels: map[string]string{}, Mandatory: release.Spec.Mandatory != nil}
		for _, channel := range release.Spec.Channels {
			offer.Channels[channel.Channel] = channel.Version
		}
		offers[release.Name] = offer
	}
	for i := range templates {
		spec := &templates[i].Spec
		if offer, known := offers[spec.ModuleName]; known && spec.Version != "" {
			offer.Versions = append(offer.Versions, spec.Version)
			offers[spec.ModuleName] = offer
		}
	}
	for _, offer := range offers {
		slices.SortFunc(offer.Versions, func(a, b string) int { return moduleversion.Compare(b, a) })
	}
	return offers
}

// Newest returns the newest version above another, and a pre-release only if the other is one; empty when there is none.
func (o Offer) Newest(above string) string {
	from, err := semver.NewVersion(above)
	for _, version := range o.Versions {
		candidate, invalid := semver.NewVersion(version)
		switch {
		case invalid != nil:
		case candidate.Prerelease() != "" && (err != nil || from.Prerelease() == ""):
		case err == nil && !candidate.GreaterThan(from):
		default:
			return version
		}
	}
	return ""
}

// Choose returns the version that a wish leads to if the module is installed without a Kyma: the version or the channel's version that the
// wish names, or else the newest one that is no pre-release. The error is an *UnknownError.
func (o Offer) Choose(wish ModuleRequest) (string, error) {
	version := wish.Version
	unknown := &UnknownError{What: "version", Module: wish.Name, Candidates: o.Versions}
	switch {
	case wish.Channel != "":
		version = o.Channels[wish.Channel]
		unknown.What = "channel"
	case version == "" && len(o.Versions) > 0:
		version = cmp.Or(o.Newest(""), o.Versions[0])
	}
	if slices.Contains(o.Versions, version) {
		return version, nil
	}
	unknown.Name = cmp.Or(wish.Channel, version)
	return "", unknown
}

// UnknownError is a wish that cannot be fulfilled, with the alternatives.
type UnknownError struct {
	// What is the kind of the request: "module", "channel" or "version".
	What string
	// Name that was requested, and the module unless Name is the module itself.
	Name, Module string
	// Candidates are the alternatives, the likeliest first.
	Candidates []string
}

// shown is how many candidates an error lists.
const shown = 10

// Error lists the candidates.
func (e *UnknownError) Error() string {
	text := fmt.Sprintf("there is no %s %s", e.What, e.Name)
	if e.What != "module" {
		text = fmt.Sprintf("module %s has no %s %s", e.Module, e.What, e.Name)
	}
	if len(e.Candidates) == 0 {
		return text + ", nor any other"
	}
	list := strings.Join(e.Candidates[:min(shown, len(e.Candidates))], ", ")
	if more := len(e.Candidates) - shown; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	if e.What != "module" {
		return text + "; it has " + list
	}
	if similar := Similar(e.Name, e.Candidates); len(similar) > 0 {
		return text + "; did you mean " + strings.Join(similar, " or ") + "? Known modules: " + list
	}
	return text + "; known modules: " + list
}

// Check reports whether a wish can be fulfilled: nil, or an *UnknownError that lists the alternatives.
//
//  1. there is a release of the module's name, and it is not mandatory
//  2. the release has the channel that the wish names
//  3. without a channel and a version, the release has the Kyma's channel, unless the entry already has its own or the Kyma names a
//     KymaRelease
//  4. the version that the wish names has a template
func Check(offers map[string]Offer, spec *v1beta2.KymaSpec, wish ModuleRequest) error {
	offer, known := offers[wish.Name]
	if !known {
		return &UnknownError{What: "module", Name: wish.Name, Candidates: likely(wish.Name, offers)}
	}
	if offer.Mandatory {
		return fmt.Errorf("module %s is mandatory: every Kyma has it without asking", wish.Name)
	}
	if wish.Version != "" {
		if !slices.Contains(offer.Versions, wish.Version) {
			return &UnknownError{What: "version", Name: wish.Version, Module: wish.Name, Candidates: offer.Versions}
		}
		return nil
	}
	channel := wish.Channel
	if channel == "" {
		if entry := find(spec, wish.Name); entry != nil && (entry.Channel != "" || entry.Version != "") {
			return nil
		}
		if spec.Release != "" {
			return nil // the release says which version it has
		}
		channel = cmp.Or(spec.Channel, v1beta2.DefaultChannel)
	}
	if _, there := offer.Channels[channel]; !there {
		return &UnknownError{What: "channel", Name: channel, Module: wish.Name, Candidates: channelsOf(offer)}
	}
	return nil
}

// channelsOf returns the channels of an offer with their versions.
func channelsOf(offer Offer) []string {
	var channels []string
	for channel, version := range offer.Channels {
		channels = append(channels, channel+" ("+version+")")
	}
	slices.Sort(channels)
	return channels
}

// likely returns the modules that can be requested, the most similar names first.
func likely(name string, offers map[string]Offer) []string {
	var names []string
	for candidate, offer := range offers {
		if !offer.Mandatory {
			names = append(names, candidate)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(distance(name, a), distance(name, b)), cmp.Compare(a, b))
	})
	return names
}

// mistyped is how many letters a name may differ from the intended one.
const mistyped = 2

// Similar returns the names that may have been meant instead, the likeliest first, three at most.
func Similar(name string, among []string) []string {
	if len(name) <= mistyped { // it is close to every short name, and part of many
		return nil
	}
	var similar []string
	for _, candidate := range among {
		if distance(name, candidate) <= mistyped && !slices.Contains(similar, candidate) {
			similar = append(similar, candidate)
		}
	}
	slices.SortFunc(similar, func(a, b string) int {
		return cmp.Or(cmp.Compare(distance(name, a), distance(name, b)), cmp.Compare(a, b))
	})
	return similar[:min(len(similar), 3)]
}

// distance returns how many letters must be inserted, deleted or replaced to turn one word into the other; it is 0 if one contains the
// other.
func distance(a, b string) int {
	if strings.Contains(b, a) || strings.Contains(a, b) {
		return 0
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			above := row[j]
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(row[j]+1, row[j-1]+1, diagonal+cost)
			diagonal = above
		}
	}
	return row[len(b)]
}

// Newest returns versions sorted, the newest first.
func Newest(versions []string) []string {
	sorted := slices.Clone(versions)
	slices.SortFunc(sorted, func(a, b string) int { return moduleversion.Compare(b, a) })
	return sorted
}
