package web

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/kyma-project/lifecycle-manager/internal/task"
	"github.com/kyma-project/lifecycle-manager/internal/view"
)

// mostAttention bounds the list of what needs attention.
const mostAttention = 20

// patience is how long a module may be under way before it needs attention: rolling out takes its time, but what waits for a node or an
// image waits for good.
const patience = 2 * time.Minute

// mostOperations bounds the operations on the overview.
const mostOperations = 10

// overview is the first page.
type overview struct {
	Kymas      map[view.State]int `json:"kymas"`
	Modules    map[view.State]int `json:"modules"`
	Outdated   int                `json:"outdated"`
	Attention  attentionList      `json:"attention"`
	Operations []task.Operation   `json:"operations"`
	Health     overviewHealth     `json:"health"`
	Unread     []Unread           `json:"unread"`
}

type overviewHealth struct {
	Manager managerHealth `json:"manager"`
}

type managerHealth struct {
	Ready   bool   `json:"ready"`
	Message string `json:"message"`
}

type attentionList struct {
	Items []attention `json:"items"`
	Total int         `json:"total"`
}

// attention is one thing that somebody should look at.
type attention struct {
	Kind    string     `json:"kind"`
	Kyma    string     `json:"kyma"`
	Name    string     `json:"name"`
	State   view.State `json:"state"`
	Reason  string     `json:"reason,omitempty"`
	Message string     `json:"message,omitempty"`
}

func (s *Server) overview(ctx context.Context, u *User, r *http.Request) (any, error) {
	if err := known(r.URL.Query()); err != nil {
		return nil, err
	}
	now, err := s.seen(ctx, u)
	if err != nil {
		return nil, err
	}
	o := overview{
		Kymas: map[view.State]int{}, Modules: map[view.State]int{}, Attention: troubled(now.kymas, now.modules, s.options.Now()),
		Operations: []task.Operation{}, Unread: now.unread,
	}
	for i := range now.kymas {
		o.Kymas[now.kymas[i].State]++
	}
	for i := range now.modules {
		o.Modules[now.modules[i].State]++
		if now.modules[i].Version.Outdated {
			o.Outdated++
		}
	}
	o.Health.Manager = s.manager(ctx, u)
	if o.Operations, err = s.running(ctx, u); err != nil {
		return nil, err
	}
	return o, nil
}

// running are the operations that are under way, or need somebody to go on.
func (s *Server) running(ctx context.Context, u *User) ([]task.Operation, error) {
	found := []task.Operation{}
	if s.tasks == nil {
		return found, nil
	}
	all, err := s.tasks.List(ctx, actor(u))
	if err != nil {
		return nil, err
	}
	for i := range all {
		if state := all[i].State; (state == task.Running || state == task.Interrupted) && len(found) < mostOperations {
			found = append(found, all[i])
		}
	}
	return found, nil
}

// troubled is what needs attention, the worst first:
//
//  1. every module that is in Error or Warning
//  2. one that has not become ready for a while, or whose deletion waits for objects that people made
//  3. a Kyma that is worse than each of its modules: the modules say more
func troubled(kymas []view.KymaLine, modules []view.Module, now time.Time) attentionList {
	all, worst := []attention{}, map[string]view.State{}
	for i := range modules {
		m := &modules[i]
		if !bad(m.State) && !late(m, now) {
			continue
		}
		worst[m.Kyma] = view.Worse(cmp.Or(worst[m.Kyma], view.Ready), m.State)
		one := attention{"Module", m.Kyma, m.Name, m.State, m.Installation.Reason, m.Installation.Message}
		if one.Message == "" || view.Worse(m.Module.State, view.Warning) == m.Module.State && !m.Installation.Warning &&
			m.Installation.State == view.Installed {
			one.Reason, one.Message = m.Module.Reason, m.Module.Message
		}
		all = append(all, one)
	}
	for i := range kymas {
		k := &kymas[i]
		key := view.Key{Namespace: k.Namespace, Name: k.Name}.String()
		if of := worst[key]; !bad(k.State) || of != "" && view.Worse(of, k.State) == of {
			continue
		}
		all = append(all, attention{"Kyma", key, k.Name, k.State, k.Reason, k.Message})
	}
	slices.SortFunc(all, func(a, b attention) int {
		return cmp.Or(worstFirst(a.State, b.State), cmp.Compare(a.Kyma, b.Kyma), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return attentionList{Items: all[:min(len(all), mostAttention)], Total: len(all)}
}

// late says that a module is under way and will hardly get there by itself.
func late(m *view.Module, now time.Time) bool {
	if m.State == view.Processing {
		return m.Since != nil && now.Sub(m.Since.Time) >= patience
	}
	return m.State == view.Deleting && len(m.Installation.BlockedBy) > 0
}

func bad(state view.State) bool { return state == view.Error || state == view.Warning }
