package server

import (
	"cmp"
	"context"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// orderOfModules are the ways to sort modules.
var orderOfModules = map[string]func(a, b *modulestatus.Module) int{
	"name":      func(a, b *modulestatus.Module) int { return cmp.Compare(a.Name, b.Name) },
	"kyma":      func(a, b *modulestatus.Module) int { return cmp.Compare(a.Kyma, b.Kyma) },
	"type":      func(a, b *modulestatus.Module) int { return cmp.Compare(a.Type, b.Type) },
	"state":     func(a, b *modulestatus.Module) int { return cmp.Or(worstFirst(a.State, b.State), slowestFirst(a, b)) },
	"channel":   func(a, b *modulestatus.Module) int { return cmp.Compare(a.Channel, b.Channel) },
	"installed": func(a, b *modulestatus.Module) int { return cmp.Compare(a.Version.Installed, b.Version.Installed) },
}

// moduleRow is a module in a list.
type moduleRow struct {
	modulestatus.Module
	// Attention reports whether the module needs attention, and Since is when it was last Ready.
	Attention bool         `json:"attention"`
	Since     *metav1.Time `json:"since,omitempty"`
}

func (s *Server) modules(ctx context.Context, u *User, r *http.Request) (any, error) {
	query := r.URL.Query()
	if err := known(query, moduleFilters...); err != nil {
		return nil, err
	}
	p, err := pageOf(query, keysOf(orderOfModules)...)
	if err != nil {
		return nil, err
	}
	labelled, err := selectorOf(query)
	if err != nil {
		return nil, err
	}
	now, err := s.snapshot(ctx, u)
	if err != nil {
		return nil, err
	}
	filter := moduleFilter{query: query, labelled: labelled, snapshot: now, at: s.options.Now()}
	now.watchProgress(ctx, filter.at)
	var fit []int
	for _, at := range ordered(now, "modules", now.modules, orderOfModules, p) {
		if p.has(now.moduleText[at]) && filter.fits(at) {
			fit = append(fit, at)
		}
	}
	return rowsAt(now.modules, fit, p, now.unread, func(m modulestatus.Module) moduleRow {
		return moduleRow{Module: m, Attention: m.NeedsAttention(filter.at), Since: m.Since}
	}), nil
}

// releaseLine is one row of the matrix of modules and channels.
type releaseLine struct {
	Name      string            `json:"name"`
	Namespace string            `json:"namespace"`
	Channels  map[string]string `json:"channels"`
	Versions  []string          `json:"versions"`
	Mandatory string            `json:"mandatory,omitempty"`
	Problems  []string          `json:"problems"`
	Access    releaseAccess     `json:"access"`
	// Installed counts the installations of each version: a channel that goes back leaves them unchanged.
	Installed map[string]int `json:"installed"`
}

type releaseAccess struct {
	Edit bool `json:"edit"`
}

type releaseList struct {
	List[releaseLine]
	Channels []string `json:"channels"`
}

// releases lists which version each channel offers. An offered version that cannot be installed is a problem.
func (s *Server) releases(ctx context.Context, u *User, r *http.Request) (any, error) {
	query := r.URL.Query()
	if err := known(query); err != nil {
		return nil, err
	}
	p, err := pageOf(query)
	if err != nil {
		return nil, err
	}
	now, err := s.snapshot(ctx, u)
	if err != nil {
		return nil, err
	}
	released := map[modulestatus.Key]bool{}
	for i := range now.in.Releases {
		released[modulestatus.Key{Namespace: now.in.Releases[i].Namespace, Name: now.in.Releases[i].Name}] = true
	}
	var found []releaseLine
	for _, o := range modulestatus.Search(now.offers, p.words...) {
		if released[modulestatus.Key{Namespace: o.Namespace, Name: o.Name}] {
			found = append(found, lineOf(&o))
		}
	}
	list := releaseList{List: listOf(found, p, now.unread), Channels: channelsOf(now.offers, "")}
	for i := range list.Items {
		line := &list.Items[i]
		line.Access.Edit = u.may(ctx, "patch", ownGroup, "modulereleasemetas", line.Namespace, line.Name)
	}
	return list, nil
}

func lineOf(o *modulestatus.Offer) releaseLine {
	line := releaseLine{
		Name: o.Name, Namespace: o.Namespace, Channels: map[string]string{}, Versions: []string{}, Mandatory: o.Mandatory, Problems: []string{},
		Installed: map[string]int{},
	}
	for _, there := range o.Installed {
		if there.Version != "" {
			line.Installed[there.Version]++
		}
	}
	for _, c := range o.Channels {
		line.Channels[c.Channel] = c.Version
		if c.Missing {
			line.Problems = append(line.Problems, "channel "+c.Channel+" offers "+c.Version+", of which there is no ModuleTemplate")
		}
	}
	for _, v := range o.Versions {
		line.Versions = append(line.Versions, v.Version)
	}
	if o.Component == "" {
		line.Problems = append(line.Problems, "it names no component (spec.ocmComponentName) and cannot be installed")
	}
	return line
}
