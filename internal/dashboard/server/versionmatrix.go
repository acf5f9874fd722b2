package server

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// noVersion is the filter for Kymas in which no version of a module is installed yet.
const noVersion = "none"

// orderOfFleet are the ways to sort the modules of a fleet.
var orderOfFleet = map[string]func(a, b *modulestatus.FleetModule) int{
	"name":     func(a, b *modulestatus.FleetModule) int { return cmp.Compare(a.Name, b.Name) },
	"kymas":    func(a, b *modulestatus.FleetModule) int { return cmp.Compare(b.Kymas, a.Kymas) },
	"versions": func(a, b *modulestatus.FleetModule) int { return cmp.Compare(b.Spread(), a.Spread()) },
	"troubled": func(a, b *modulestatus.FleetModule) int { return cmp.Compare(b.Troubled, a.Troubled) },
}

// fleetList are the modules of a fleet, and counts of everything, whatever was searched for.
type fleetList struct {
	List[modulestatus.FleetModule]
	Counts fleetCounts `json:"counts"`
}

// fleetCounts count Kymas and modules by state, and the modules that need attention.
type fleetCounts struct {
	Kymas     map[modulestatus.State]int `json:"kymas"`
	Modules   map[modulestatus.State]int `json:"modules"`
	Attention int                        `json:"attention"`
}

// versionMatrix answers GET /api/v1/fleet: which versions of each module how many Kymas have.
func (s *Server) versionMatrix(ctx context.Context, u *User, r *http.Request) (any, error) {
	query := r.URL.Query()
	if err := known(query); err != nil {
		return nil, err
	}
	p, err := pageOf(query, keysOf(orderOfFleet)...)
	if err != nil {
		return nil, err
	}
	now, err := s.snapshot(ctx, u)
	if err != nil {
		return nil, err
	}
	var found []modulestatus.FleetModule
	for _, m := range modulestatus.VersionMatrix(now.modules, now.offers, s.options.Now()) {
		words := []string{m.Name, m.Namespace}
		for i := range m.Versions {
			words = append(words, m.Versions[i].Version)
		}
		if p.has(strings.ToLower(strings.Join(words, " "))) {
			found = append(found, m)
		}
	}
	sortPage(found, orderOfFleet, p)
	return fleetList{listOf(found, p, now.unread), now.counts(ctx, s.options.Now())}, nil
}

// orderOfCauses are the ways to sort causes; the worst and most frequent comes first without one.
var orderOfCauses = map[string]func(a, b *modulestatus.TroubleGroup) int{
	"module":  func(a, b *modulestatus.TroubleGroup) int { return cmp.Compare(a.Module, b.Module) },
	"version": func(a, b *modulestatus.TroubleGroup) int { return cmp.Compare(a.Version, b.Version) },
	"reason":  func(a, b *modulestatus.TroubleGroup) int { return cmp.Compare(a.Reason, b.Reason) },
	"modules": func(a, b *modulestatus.TroubleGroup) int { return cmp.Compare(b.Modules, a.Modules) },
	"since":   func(a, b *modulestatus.TroubleGroup) int { return oldestFirst(a.Since, b.Since) },
}

// fleetCauses answers GET /api/v1/fleet/causes: the modules that need attention, grouped by what is wrong.
func (s *Server) fleetCauses(ctx context.Context, u *User, r *http.Request) (any, error) {
	query := r.URL.Query()
	if err := known(query); err != nil {
		return nil, err
	}
	p, err := pageOf(query, keysOf(orderOfCauses)...)
	if err != nil {
		return nil, err
	}
	now, err := s.snapshot(ctx, u)
	if err != nil {
		return nil, err
	}
	now.watchProgress(ctx, s.options.Now())
	var found []modulestatus.TroubleGroup
	for _, g := range modulestatus.TroubleGroups(now.modules, now.troubles(), s.options.Now()) {
		if p.has(strings.ToLower(strings.Join([]string{g.Module, g.Namespace, g.Version, g.Reason, g.Message}, " "))) {
			found = append(found, g)
		}
	}
	sortPage(found, orderOfCauses, p)
	return listOf(found, p, now.unread), nil
}

// sortPage sorts what is computed anew for each request.
func sortPage[T any](items []T, by map[string]func(a, b *T) int, p page) {
	if compare := by[p.sort]; compare != nil {
		slices.SortStableFunc(items, func(a, b T) int { return compare(&a, &b) })
	}
	if p.down {
		slices.Reverse(items)
	}
}

// counts returns how many Kymas and modules there are in each state, and how many modules need attention.
func (s *snapshot) counts(ctx context.Context, at time.Time) fleetCounts {
	counts := fleetCounts{Kymas: map[modulestatus.State]int{}, Modules: map[modulestatus.State]int{}}
	for i := range s.kymas {
		counts.Kymas[s.kymas[i].State]++
	}
	for i := range s.modules {
		counts.Modules[s.modules[i].State]++
		if s.modules[i].NeedsAttention(at) {
			counts.Attention++
		}
	}
	s.watchProgress(ctx, at)
	return counts
}

// watchProgress makes streams read an answer again without a change in the cluster, as long as a module is in progress that will need
// attention if it stays so.
func (s *snapshot) watchProgress(ctx context.Context, at time.Time) {
	for i := range s.modules {
		if s.modules[i].WillNeedAttention(at) {
			beyond(ctx)
			return
		}
	}
}

// kymasWith returns a filter for Kymas by a module that they have, and by the version of it that is installed; nil without one.
func (s *snapshot) kymasWith(query url.Values) map[string]bool {
	if len(query["module"]) == 0 {
		return nil
	}
	found := map[string]bool{}
	for i := range s.modules {
		m := &s.modules[i]
		if m.Kyma != "" && chosen(query, "module", m.Name) && chosen(query, "version", cmp.Or(m.Version.Installed, noVersion)) {
			found[m.Kyma] = true
		}
	}
	return found
}
