package rollout

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// Prefix is how a status names a Kyma: the beginning of its UID.
func Prefix(uid string) string {
	return uid[:min(len(uid), PrefixLength)]
}

// cut is the frozen choice of a wave's share.
type cut struct {
	highest uint64 // rank
	frozen  bool
}

// rank is a number for a Kyma and a target that is as good as random, and always the same: who is in a share of a wave, and who is first.
// The digest is no part of it, since that may become known while the rollout goes on.
func rank(seed uint64, uid string) uint64 {
	hash := seed
	for at := range len(uid) {
		hash = (hash ^ uint64(uid[at])) * 1099511628211
	}
	// What differs only at the end of a UID must differ in the highest bits.
	hash ^= hash >> 33
	hash *= 0xff51afd7ed558ccd
	hash ^= hash >> 33
	hash *= 0xc4ceb9fe1a85ec53
	return hash ^ hash>>33
}

// seedOf is what the rank of a target begins with.
func seedOf(target v1beta2.RolloutVersion) uint64 {
	hash := uint64(14695981039346656037)
	for at := range len(target.Version) {
		hash = (hash ^ uint64(target.Version[at])) * 1099511628211
	}
	return bits.RotateLeft64(hash, 17)
}

// sorter finds the wave of a Kyma.
type sorter struct {
	plan *Plan
	seed uint64
	cuts []cut // one for each wave of the plan
}

// newSorter reads the frozen shares from a channel's status.
func newSorter(plan *Plan, channel *v1beta2.RolloutChannel) sorter {
	made := sorter{plan: plan, seed: seedOf(channel.To), cuts: make([]cut, len(plan.waves))}
	for at := range plan.waves {
		known := findWave(channel, plan.waves[at].name)
		if known < 0 {
			continue
		}
		highest, err := strconv.ParseUint(channel.Waves[known].Cut, 16, 64)
		made.cuts[at] = cut{highest: highest, frozen: err == nil}
	}
	return made
}

// find returns the wave of a Kyma by its place in the plan. It is not decided while the share of the first wave that selects the Kyma is
// not frozen: then that wave is returned.
func (s *sorter) find(uid string, set map[string]string) (at int, decided bool) {
	for at = range s.plan.waves {
		each := &s.plan.waves[at]
		switch {
		case each.selector != nil && !each.selector.Matches(labels.Set(set)):
		case each.share == 0:
			return at, true
		case !s.cuts[at].frozen:
			return at, false
		case rank(s.seed, uid) <= s.cuts[at].highest:
			return at, true
		}
	}
	return len(s.plan.waves) - 1, true // not reached: Others selects all
}

// freeze chooses who is in the shares that are not chosen yet. A share of no Kyma stays open until there is one to choose from.
func (s *sorter) freeze(members []Member) {
	for at := range s.plan.waves {
		each := &s.plan.waves[at]
		if each.share == 0 || s.cuts[at].frozen {
			continue
		}
		var ranks []uint64
		for i := range members {
			if found, decided := s.find(members[i].UID, members[i].Labels); found == at && !decided {
				ranks = append(ranks, rank(s.seed, members[i].UID))
			}
		}
		if len(ranks) == 0 {
			continue
		}
		slices.Sort(ranks)
		chosen := (len(ranks)*each.share + 99) / 100
		s.cuts[at] = cut{highest: ranks[chosen-1], frozen: true}
	}
}

// String is the cut as a status keeps it.
func (c cut) String() string {
	if !c.frozen {
		return ""
	}
	return fmt.Sprintf("%016x", c.highest)
}

// WaveOf returns the name of the wave that a Kyma is in, by what the spec and the status say.
func WaveOf(spec *v1beta2.ModuleRolloutSpec, channel *v1beta2.RolloutChannel, uid string, set map[string]string) (string, error) {
	plan, err := Compile(spec)
	if err != nil {
		return "", err
	}
	sorted := newSorter(plan, channel)
	at, _ := sorted.find(uid, set)
	return plan.waves[at].name, nil
}

// findWave returns the place of a wave in a channel's status, -1 when it is not there.
func findWave(channel *v1beta2.RolloutChannel, name string) int {
	for at := range channel.Waves {
		if channel.Waves[at].Name == name {
			return at
		}
	}
	return -1
}
