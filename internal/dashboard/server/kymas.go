package server

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// orderOfKymas are the ways to sort Kymas.
var orderOfKymas = map[string]func(a, b *modulestatus.KymaLine) int{
	"name":      func(a, b *modulestatus.KymaLine) int { return cmp.Compare(a.Name, b.Name) },
	"namespace": func(a, b *modulestatus.KymaLine) int { return cmp.Compare(a.Namespace, b.Namespace) },
	"state":     func(a, b *modulestatus.KymaLine) int { return worstFirst(a.State, b.State) },
	"channel":   func(a, b *modulestatus.KymaLine) int { return cmp.Compare(a.Channel, b.Channel) },
	"outdated":  func(a, b *modulestatus.KymaLine) int { return cmp.Compare(a.Outdated, b.Outdated) },
	"created":   func(a, b *modulestatus.KymaLine) int { return cmp.Compare(a.Created, b.Created) },
}

// kymaRow is a Kyma in a list.
type kymaRow struct {
	modulestatus.KymaLine
	// Labels are the first of its labels by name, at most mostLabels.
	Labels map[string]string `json:"labels,omitempty"`
}

func (s *Server) kymas(ctx context.Context, u *User, r *http.Request) (any, error) {
	query := r.URL.Query()
	if err := known(query, "state", "channel", "namespace", "module", "version", "reason", "labelSelector"); err != nil {
		return nil, err
	}
	p, err := pageOf(query, keysOf(orderOfKymas)...)
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
	having := now.kymasWith(query)
	var fit []int
	for _, at := range ordered(now, "kymas", now.kymas, orderOfKymas, p) {
		k := &now.kymas[at]
		if chosen(query, "state", string(k.State)) && chosen(query, "channel", k.Channel) && chosen(query, "namespace", k.Namespace) &&
			chosen(query, "reason", k.Reason) && p.has(now.kymaText[at]) && (having == nil || having[k.Namespace+"/"+k.Name]) &&
			labelled.fits(now, k.Namespace+"/"+k.Name) {
			fit = append(fit, at)
		}
	}
	return rowsAt(now.kymas, fit, p, now.unread, func(k modulestatus.KymaLine) kymaRow {
		return kymaRow{KymaLine: k, Labels: someLabels(now.labelsOf(k.Namespace + "/" + k.Name))}
	}), nil
}

// kymaSpec is the effective spec of a Kyma: its own, overridden by the requests of its runtime's user.
type kymaSpec struct {
	Channel                string           `json:"channel"`
	Remote                 bool             `json:"remote"`
	SkipMaintenanceWindows bool             `json:"skipMaintenanceWindows"`
	Modules                []v1beta2.Module `json:"modules"`
}

type kymaAccess struct {
	Edit   bool `json:"edit"`
	Delete bool `json:"delete"`
	Secret bool `json:"secret"`
	// Connect reports whether the user may store the access Secret.
	Connect bool `json:"connect"`
}

type kymaDetail struct {
	Kyma          modulestatus.KymaLine        `json:"kyma"`
	Spec          kymaSpec                     `json:"spec"`
	Conditions    []modulestatus.KymaCondition `json:"conditions"`
	Modules       []modulestatus.Module        `json:"modules"`
	LastOperation *v1beta2.LastOperation       `json:"lastOperation"`
	Events        []Event                      `json:"events"`
	Access        kymaAccess                   `json:"access"`
	Channels      []string                     `json:"channels"`
	// Suspended reports whether a label lets the lifecycle manager leave the Kyma alone.
	Suspended bool `json:"suspended"`
	// Fixes are the buttons that remove the causes for which the Kyma or a module is not as it was asked for.
	Fixes  []fixAct `json:"fixes"`
	Unread []Unread `json:"unread"`
}

func (s *Server) kyma(ctx context.Context, u *User, r *http.Request) (any, error) {
	key := modulestatus.Key{Namespace: r.PathValue("ns"), Name: r.PathValue("name")}
	now, err := s.snapshot(ctx, u)
	if err != nil {
		return nil, err
	}
	at, is := now.kymaAt[key]
	if !is {
		return nil, now.noKyma(u, key)
	}
	of := &now.in.Kymas[at]
	d := kymaDetail{
		Spec: specOf(of), Modules: []modulestatus.Module{}, LastOperation: lastOf(of), Channels: channelsOf(now.offers, key.Namespace),
		Unread: now.unread, Access: s.kymaAccess(ctx, u, of), Suspended: kymaedit.IsSuspended(of),
	}
	for i := range now.kymas {
		if k := &now.kymas[i]; k.Namespace == key.Namespace && k.Name == key.Name {
			d.Kyma = *k
		}
	}
	d.Conditions = append([]modulestatus.KymaCondition{}, d.Kyma.Conditions...)
	about := []modulestatus.Ref{{Kind: "Kyma", Namespace: key.Namespace, Name: key.Name}}
	for i := range now.modules {
		if m := &now.modules[i]; m.Kyma == key.String() {
			d.Modules = append(d.Modules, *m)
			about = append(about, refsOf(m)...)
		}
	}
	d.fixes(now, of)
	if d.Events, err = events(ctx, u, about); err != nil {
		d.Events, d.Unread = []Event{}, withUnread(d.Unread, "Event", key.Namespace, err)
	}
	return d, nil
}

// noKyma returns the error for a Kyma that does not exist, or that may not be read, as far as these can be distinguished.
func (s *snapshot) noKyma(u *User, key modulestatus.Key) error {
	if s.forbiddenKind("Kyma") {
		return mayNotRead(u, "Kyma "+key.String())
	}
	return fail(http.StatusNotFound, WhyNotFound, "there is no Kyma %s", clip(key.String(), 200))
}

func (s *Server) kymaAccess(ctx context.Context, u *User, kyma *v1beta2.Kyma) kymaAccess {
	return kymaAccess{
		Edit:   u.may(ctx, "patch", ownGroup, "kymas", kyma.Namespace, kyma.Name),
		Delete: u.may(ctx, "delete", ownGroup, "kymas", kyma.Namespace, kyma.Name),
		Secret: u.may(ctx, "list", "", "secrets", kyma.Namespace, ""), Connect: mayConnect(ctx, u, kyma.Namespace),
	}
}

func specOf(kyma *v1beta2.Kyma) kymaSpec {
	spec := modulestatus.Effective(kyma)
	return kymaSpec{
		Channel: cmp.Or(spec.Channel, v1beta2.DefaultChannel), Remote: spec.Remote == nil || *spec.Remote,
		SkipMaintenanceWindows: spec.SkipMaintenanceWindows, Modules: append([]v1beta2.Module{}, spec.Modules...),
	}
}

// channelsOf returns the channels that the releases of a namespace offer; if it is empty, those of all namespaces.
func channelsOf(offers []modulestatus.Offer, namespace string) []string {
	all := []string{}
	for i := range offers {
		if namespace != "" && offers[i].Namespace != namespace {
			continue
		}
		for _, c := range offers[i].Channels {
			all = append(all, c.Channel)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// ordered returns the indexes of a list's items in the order that a page requests. Each order is computed once and kept.
func ordered[T any](s *snapshot, name string, items []T, by map[string]func(a, b *T) int, p page) []int {
	key := strings.Join([]string{name, p.sort}, " ")
	s.mutex.Lock()
	order, is := s.orders[key]
	s.mutex.Unlock()
	if !is {
		order = make([]int, len(items))
		for i := range order {
			order[i] = i
		}
		if compare := by[p.sort]; compare != nil {
			slices.SortStableFunc(order, func(a, b int) int { return compare(&items[a], &items[b]) })
		}
		s.mutex.Lock()
		s.orders[key] = order
		s.mutex.Unlock()
	}
	if p.down {
		order = slices.Clone(order)
		slices.Reverse(order)
	}
	return order
}

func keysOf[T any](by map[string]func(a, b *T) int) []string {
	var keys []string
	for key := range by {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// withUnread adds an entry for data that could not be read on demand.
func withUnread(unread []Unread, kind, namespace string, err error) []Unread {
	p := problemOf(acted(err))
	return append(slices.Clone(unread), Unread{Kind: kind, Namespace: namespace, Reason: p.Reason, Message: p.Message})
}

// lastOf returns the last operation of a Kyma, nil if there was none.
func lastOf(kyma *v1beta2.Kyma) *v1beta2.LastOperation {
	if kyma.Status.LastOperation == (v1beta2.LastOperation{}) {
		return nil
	}
	return &kyma.Status.LastOperation
}
