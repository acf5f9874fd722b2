package server

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/kyma-project/lifecycle-manager/internal/client/communitycatalog"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/dashboard/operations"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
)

// mostSourced bounds how many variants of a snapshot are kept: one for each set of versions that sources have.
const mostSourced = 8

// withSources returns a snapshot with the versions that sources have for the modules that came from them. What cannot be told, such as the
// versions of a source that the user may not list, stays as it is in the cluster.
func (s *Server) withSources(ctx context.Context, u *User, now *snapshot) *snapshot {
	if s.tasks == nil || !slices.ContainsFunc(now.in.Direct, func(d modulestatus.Direct) bool { return d.Origin != nil }) {
		return now
	}
	all, err := s.knownSources(ctx, u)
	if err != nil || len(all) == 0 {
		return now
	}
	available := map[modulestatus.Key]string{}
	at := s.options.Now()
	for i := range now.in.Direct {
		d := &now.in.Direct[i]
		from := sourceFor(d.Origin, all)
		if from == nil || !from.counts(at) {
			continue
		}
		installed := d.Version
		if !d.Complete {
			installed = d.Before
		}
		if newest := modulestatus.NewestFor(from.versions(d.Module), installed); newest != "" {
			available[d.Record] = newest
		}
	}
	return now.withAvailable(available)
}

// sourceFor returns the source that is asked for upgrades of a module that came from origin, as package operations chooses it; nil if there
// is none among those that are kept.
func sourceFor(origin *modulestatus.Origin, all []knownSource) *knownSource {
	if origin == nil {
		return nil
	}
	kept := make([]communitycatalog.Source, len(all))
	for i := range all {
		kept[i] = all[i].Source
	}
	chosen, err := communitycatalog.Again(operations.SourceOf(origin), kept, true)
	if err != nil {
		return nil
	}
	at := slices.IndexFunc(all, func(b knownSource) bool { return b.Name == chosen.Name && b.URL == chosen.URL })
	if at < 0 {
		return nil
	}
	return &all[at]
}

// versions returns the versions of a module that a source had when it was read last.
func (b *knownSource) versions(module string) []string {
	var all []string
	if b.stock == nil {
		return nil
	}
	for i := range b.stock.catalog.Templates {
		if t := &b.stock.catalog.Templates[i]; modulestatus.ModuleOf(t) == module {
			all = append(all, t.ModuleVersion())
		}
	}
	return all
}

// withAvailable returns the snapshot with other available versions. It is computed once for the same versions.
func (s *snapshot) withAvailable(available map[modulestatus.Key]string) *snapshot {
	modules, changed := modulestatus.WithAvailable(s.modules, available)
	if !changed {
		return s
	}
	var text strings.Builder
	for _, key := range slices.SortedFunc(maps.Keys(available), func(a, b modulestatus.Key) int {
		return strings.Compare(a.String(), b.String())
	}) {
		text.WriteString(key.String() + "=" + available[key] + "\n")
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if found := s.sourced[text.String()]; found != nil {
		return found
	}
	made := &snapshot{
		beat: s.beat, scopes: s.scopes, in: s.in, unread: s.unread, kymas: s.kymas, modules: modules, offers: s.offers, rollouts: s.rollouts,
		kymaText: s.kymaText, moduleText: s.moduleText, manifests: s.manifests, kymaAt: s.kymaAt, orders: map[string][]int{},
	}
	made.troubles = sync.OnceValue(func() []*modulestatus.Trouble { return modulestatus.TroublesOf(made.modules) })
	made.choices = sync.OnceValue(made.filterChoices)
	if s.sourced == nil || len(s.sourced) >= mostSourced {
		s.sourced = map[string]*snapshot{}
	}
	s.sourced[text.String()] = made
	return made
}

// sourceOf returns the source that is asked for upgrades of a module, with what was read of it; nil if there is none.
func (s *Server) sourceOf(ctx context.Context, u *User, o *one) *knownSource {
	if o.module.Record == nil || o.module.Kyma != "" {
		return nil
	}
	at := slices.IndexFunc(o.now.in.Direct, func(d modulestatus.Direct) bool { return d.Record == *o.module.Record })
	if at < 0 || o.now.in.Direct[at].Origin == nil {
		return nil
	}
	all, err := s.knownSources(ctx, u)
	if err != nil {
		return nil
	}
	if from := sourceFor(o.now.in.Direct[at].Origin, all); from != nil && from.counts(s.options.Now()) {
		return from
	}
	return nil
}

// sourced adds the versions that the source of the module has, and the cluster has not. What other namespaces of the cluster offer does not
// count for such a module.
func (d *moduleDetail) sourced(from *knownSource) {
	if from == nil {
		return
	}
	d.Versions = slices.DeleteFunc(d.Versions, func(v modulestatus.OfferVersion) bool {
		return d.Module.Template == nil || v.Template.Namespace != d.Module.Template.Namespace
	})
	for _, offer := range modulestatus.OffersOf(from.content(), nil, nil) {
		if offer.Name != d.Module.Name {
			continue
		}
		for _, v := range offer.Versions {
			if !slices.ContainsFunc(d.Versions, func(known modulestatus.OfferVersion) bool { return known.Version == v.Version }) {
				d.Versions = append(d.Versions, v)
			}
		}
	}
	slices.SortStableFunc(d.Versions, func(a, b modulestatus.OfferVersion) int { return moduleversion.Compare(b.Version, a.Version) })
}
