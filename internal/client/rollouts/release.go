package rollouts

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
)

// Shown is how many Kymas and versions the status of a release names; it counts the others.
const Shown = 10

// Release says how far a module's versions are in all Kymas.
type Release struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	Mandatory bool   `json:"mandatory,omitempty"`
	// Kymas counts those that have the module or ask for it.
	Kymas    int              `json:"kymas"`
	Channels []ReleaseChannel `json:"channels"`
	// Versions are the versions that most Kymas have, the highest first; MoreVersions counts the others.
	Versions     []VersionCount `json:"versions"`
	MoreVersions int            `json:"moreVersions,omitempty"`
	// Failing are the Kymas whose module is not ready, those with the version of their channel first; MoreFailing counts the others.
	Failing     []FailingKyma `json:"failing,omitempty"`
	MoreFailing int           `json:"moreFailing,omitempty"`
}

// ReleaseChannel says how far the version is that a channel offers. Kymas with a pinned version are in none.
type ReleaseChannel struct {
	// Name is empty for a mandatory module.
	Name string `json:"name"`
	// Version that the channel offers; empty for a channel that Kymas follow and the release does not have.
	Version string `json:"version,omitempty"`
	// Kymas that follow the channel; the other counts add up to it. Waiting have another version, or none yet.
	Kymas    int `json:"kymas"`
	Ready    int `json:"ready"`
	Updating int `json:"updating"`
	Failing  int `json:"failing"`
	Waiting  int `json:"waiting"`
	// Phase and Wave of the rollout that decides who gets the version; empty without one.
	Phase v1beta2.RolloutPhase `json:"phase,omitempty"`
	Wave  string               `json:"wave,omitempty"`
}

// VersionCount counts the Kymas that have a version or are getting it.
type VersionCount struct {
	// Version is empty for Kymas that have none yet.
	Version string `json:"version,omitempty"`
	Kymas   int    `json:"kymas"`
	Ready   int    `json:"ready"`
	// Failing are in state Error or Warning.
	Failing int `json:"failing"`
}

// FailingKyma is a Kyma whose module is in state Error or Warning.
type FailingKyma struct {
	Kyma    string        `json:"kyma"`
	Version string        `json:"version,omitempty"`
	Channel string        `json:"channel,omitempty"`
	State   v1beta2.State `json:"state"`
	Message string        `json:"message,omitempty"`
}

// member is a Kyma that has the module or asks for it.
type member struct {
	kyma, channel, version, message string
	pinned                          bool
	state                           v1beta2.State
}

// OfRelease counts the versions of a module: by the Kymas that ask for it, or by the Manifests of a mandatory one. rollout may be nil.
func OfRelease(in *modulestatus.Inputs, release *v1beta2.ModuleReleaseMeta, rollout *v1beta2.ModuleRollout) Release {
	made := Release{
		Name: release.Name, Namespace: release.Namespace, Mandatory: release.Spec.Mandatory != nil,
		Channels: channelsOf(release, rollout), Versions: []VersionCount{},
	}
	members := membersOf(in, release)
	made.Kymas = len(members)
	versions := map[string]*VersionCount{}
	var failing []member
	for _, m := range members {
		made.count(m)
		if versions[m.version] == nil {
			versions[m.version] = &VersionCount{Version: m.version}
		}
		v := versions[m.version]
		v.Kymas++
		switch m.state {
		case v1beta2.StateReady, v1beta2.StateUnmanaged:
			v.Ready++
		case v1beta2.StateError, v1beta2.StateWarning:
			v.Failing++
			failing = append(failing, m)
		case v1beta2.StateProcessing, v1beta2.StateDeleting:
		}
	}
	made.rank(versions)
	made.name(release, failing)
	return made
}

// channelsOf returns the channels of a release, without counts yet.
func channelsOf(release *v1beta2.ModuleReleaseMeta, rollout *v1beta2.ModuleRollout) []ReleaseChannel {
	all := []ReleaseChannel{}
	if release.Spec.Mandatory != nil {
		all = append(all, ReleaseChannel{Version: release.Spec.Mandatory.Version})
	}
	for _, offer := range release.Spec.Channels {
		all = append(all, ReleaseChannel{Name: offer.Channel, Version: offer.Version})
	}
	for i := range all {
		for j := 0; rollout != nil && j < len(rollout.Status.Channels); j++ {
			if c := &rollout.Status.Channels[j]; c.Name == all[i].Name {
				all[i].Phase, all[i].Wave = c.Phase, c.Wave
			}
		}
	}
	return all
}

// count adds a member to its channel.
func (r *Release) count(m member) {
	if m.pinned {
		return
	}
	at := slices.IndexFunc(r.Channels, func(c ReleaseChannel) bool { return c.Name == m.channel })
	if at < 0 {
		at, r.Channels = len(r.Channels), append(r.Channels, ReleaseChannel{Name: m.channel})
	}
	c := &r.Channels[at]
	c.Kymas++
	switch {
	case m.version != c.Version || m.version == "":
		c.Waiting++
	case m.state == v1beta2.StateReady || m.state == v1beta2.StateUnmanaged:
		c.Ready++
	case m.state == v1beta2.StateError || m.state == v1beta2.StateWarning:
		c.Failing++
	default:
		c.Updating++
	}
}

// rank keeps the versions that most Kymas have, and sorts those with the highest first.
func (r *Release) rank(versions map[string]*VersionCount) {
	for _, v := range versions {
		r.Versions = append(r.Versions, *v)
	}
	slices.SortFunc(r.Versions, func(a, b VersionCount) int {
		return cmp.Or(cmp.Compare(b.Kymas, a.Kymas), cmp.Compare(a.Version, b.Version))
	})
	r.MoreVersions = max(0, len(r.Versions)-Shown)
	r.Versions = r.Versions[:min(len(r.Versions), Shown)]
	slices.SortFunc(r.Versions, func(a, b VersionCount) int {
		switch {
		case moduleversion.IsLower(a.Version, b.Version), a.Version == "" && b.Version != "":
			return 1
		case moduleversion.IsLower(b.Version, a.Version), b.Version == "" && a.Version != "":
			return -1
		}
		return cmp.Compare(a.Version, b.Version)
	})
}

// name lists the first of the failing members: with the version of their channel before others, Error before Warning.
func (r *Release) name(release *v1beta2.ModuleReleaseMeta, failing []member) {
	order := func(m member) int {
		rank := 0
		if m.version != Offered(release, m.channel) {
			rank += 2
		}
		if m.state != v1beta2.StateError {
			rank++
		}
		return rank
	}
	slices.SortFunc(failing, func(a, b member) int { return cmp.Or(cmp.Compare(order(a), order(b)), cmp.Compare(a.kyma, b.kyma)) })
	r.MoreFailing = max(0, len(failing)-Shown)
	for _, m := range failing[:min(len(failing), Shown)] {
		shown := FailingKyma{Kyma: m.kyma, Version: m.version, State: m.state, Message: m.message}
		if !m.pinned {
			shown.Channel = m.channel
		}
		r.Failing = append(r.Failing, shown)
	}
}

// membersOf returns the Kymas that have the module or ask for it.
func membersOf(in *modulestatus.Inputs, release *v1beta2.ModuleReleaseMeta) []member {
	var all []member
	if release.Spec.Mandatory != nil {
		for i := range in.Manifests {
			if m := &in.Manifests[i]; m.DeletionTimestamp == nil && m.Namespace == release.Namespace {
				all = append(all, ofManifest(m))
			}
		}
		return all
	}
	for i := range in.Kymas {
		kyma := &in.Kymas[i]
		if kyma.DeletionTimestamp != nil || kyma.Namespace != release.Namespace {
			continue
		}
		if m, has := ofKyma(kyma, release.Name); has {
			all = append(all, m)
		}
	}
	return all
}

// ofKyma returns a Kyma as a member; false when it does not ask for the module. Its entry says which channel it follows: its status may be
// older.
func ofKyma(kyma *v1beta2.Kyma, name string) (member, bool) {
	spec := modulestatus.Effective(kyma)
	at := slices.IndexFunc(spec.Modules, func(m v1beta2.Module) bool { return m.Name == name })
	if at < 0 {
		return member{}, false
	}
	entry := &spec.Modules[at]
	m := member{
		kyma: kyma.Name, pinned: entry.Version != "", state: v1beta2.StateProcessing,
		channel: cmp.Or(entry.Channel, spec.Channel, v1beta2.DefaultChannel),
	}
	for i := range kyma.Status.Modules {
		if status := &kyma.Status.Modules[i]; status.Name == name {
			m.version, m.state = status.Version, status.State
			m.message = cmp.Or(status.Message, status.ResourceMessage)
		}
	}
	return m, true
}

// ofManifest returns the Kyma of a mandatory module's Manifest as a member.
func ofManifest(manifest *v1beta2.Manifest) member {
	m := member{
		kyma: manifest.Labels[v1beta2.LabelKymaName], version: manifest.Spec.Version,
		state: cmp.Or(manifest.Status.State, v1beta2.StateProcessing), message: manifest.Status.ResourceMessage,
	}
	if ready := meta.FindStatusCondition(manifest.Status.Conditions, v1beta2.ConditionReady); ready != nil && ready.Message != "" {
		m.message = ready.Message
	}
	if manifest.Generation != manifest.Status.ObservedGeneration && manifest.Status.ObservedGeneration > 0 {
		m.state = v1beta2.StateProcessing
	}
	return m
}
