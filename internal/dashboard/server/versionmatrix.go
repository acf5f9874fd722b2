package server

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// noVersion is the filter for Kymas in which no version of a module is installed yet.
const noVersion = "none"

// orderOfFleet are the ways to sort the modules of a fleet.
var orderOfFleet = map[string]func(a, b *modulestatus.FleetModule) int{
	"name":     func(a, b *modulestatus.FleetModule) int { return cmp.Compare(a.Name, b.Name) },
	"kymas":    func(a, b *modulestatus.FleetModule) int { return cmp.Compare(b.Kymas, a.Kymas) },
	"versions": func(a, b *modulestatus.FleetModule) int { return cmp.Compare(b.Spread(), a.Spread()) },
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
	fleet := now.fleet()
	var fit []int
	for _, at := range ordered(now, "fleet", fleet, orderOfFleet, p) {
		m := &fleet[at]
		words := []string{m.Name, m.Namespace}
		for i := range m.Versions {
			words = append(words, m.Versions[i].Version)
		}
		if p.has(strings.ToLower(strings.Join(words, " "))) {
			fit = append(fit, at)
		}
	}
	return listAt(fleet, fit, p, now.unread), nil
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
