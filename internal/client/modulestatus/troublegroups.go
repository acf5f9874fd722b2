package modulestatus

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Trouble is what modules of several Kymas have in common when they are not ready for the same cause.
type Trouble struct {
	// ID is the same for the same cause, also after a restart.
	ID string `json:"id"`
	// Namespace of the Kymas; empty for modules without one.
	Namespace string `json:"namespace"`
	Module    string `json:"module"`
	// Version that is to be installed, or that is installed.
	Version string `json:"version"`
	Reason  string `json:"reason"`
	// Pattern is the message without what differs from cluster to cluster.
	Pattern string `json:"pattern"`
}

// TroubleGroup counts the modules that need attention for the same cause.
type TroubleGroup struct {
	Trouble
	// State is the worst of their states, and Message that of one of them.
	State   State  `json:"state"`
	Message string `json:"message"`
	// Modules and Kymas count them, and the Kymas that have them.
	Modules int `json:"modules"`
	Kymas   int `json:"kymas"`
	// Since is when the first of them was last Ready; nil if that is unknown.
	Since *metav1.Time `json:"since,omitempty"`
}

// TroublesOf returns the trouble of each module, at the index of the module; nil for those that need no attention at any time.
func TroublesOf(modules []Module) []*Trouble {
	all, known := make([]*Trouble, len(modules)), map[Trouble]*Trouble{}
	for i := range modules {
		m := &modules[i]
		if !m.State.Bad() && m.State != Processing && m.State != Deleting {
			continue
		}
		key := troubleOf(m)
		if known[key] == nil {
			made := key
			made.ID = made.fingerprint()
			known[key] = &made
		}
		all[i] = known[key]
	}
	return all
}

func troubleOf(m *Module) Trouble {
	namespace, _, _ := strings.Cut(m.Kyma, "/")
	reason, message := m.Explanation()
	return Trouble{
		Namespace: namespace, Module: m.Name, Version: cmp.Or(m.TemplateVersion, m.Version.Desired, m.Version.Installed),
		Reason: reason, Pattern: PatternOf(message, m.Kyma),
	}
}

func (t *Trouble) fingerprint() string {
	sum := sha256.Sum256([]byte(strings.Join([]string{t.Namespace, t.Module, t.Version, t.Reason, t.Pattern}, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// TroubleGroups groups the modules that need attention by their troubles, the worst and most frequent first. Each of these modules is in
// exactly one group, and the order of the modules does not matter.
func TroubleGroups(modules []Module, troubles []*Trouble, now time.Time) []TroubleGroup {
	all, kymas := map[*Trouble]*TroubleGroup{}, map[*Trouble]map[string]bool{}
	for i := range modules {
		m, trouble := &modules[i], troubles[i]
		if !m.NeedsAttention(now) {
			continue
		}
		if all[trouble] == nil {
			all[trouble], kymas[trouble] = &TroubleGroup{Trouble: *trouble, State: m.State}, map[string]bool{}
		}
		all[trouble].add(m)
		if m.Kyma != "" {
			kymas[trouble][m.Kyma] = true
		}
	}
	groups := make([]TroubleGroup, 0, len(all))
	for trouble, group := range all {
		group.Kymas = len(kymas[trouble])
		groups = append(groups, *group)
	}
	slices.SortFunc(groups, func(a, b TroubleGroup) int {
		return cmp.Or(cmp.Compare(severity[b.State], severity[a.State]), cmp.Compare(b.Modules, a.Modules), a.compareKey(&b))
	})
	return groups
}

func (g *TroubleGroup) add(m *Module) {
	_, message := m.Explanation()
	if g.Modules == 0 || message < g.Message {
		g.Message = message
	}
	g.Modules++
	g.State = Worse(g.State, m.State)
	if m.Since != nil && (g.Since == nil || m.Since.Before(g.Since)) {
		g.Since = m.Since
	}
}

func (t *Trouble) compareKey(other *TroubleGroup) int {
	return cmp.Or(
		cmp.Compare(t.Module, other.Module), cmp.Compare(t.Version, other.Version), cmp.Compare(t.Namespace, other.Namespace),
		cmp.Compare(t.Reason, other.Reason), cmp.Compare(t.Pattern, other.Pattern),
	)
}
