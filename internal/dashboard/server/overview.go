package server

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus/rootcause"
	"github.com/kyma-project/lifecycle-manager/internal/client/rollouts"
	"github.com/kyma-project/lifecycle-manager/internal/dashboard/operations"
)

// mostAttention bounds the list of items that need attention.
const mostAttention = 20

// mostOperations bounds the operations on the overview.
const mostOperations = 10

// overview is the first page.
type overview struct {
	Kymas      map[modulestatus.State]int `json:"kymas"`
	Modules    map[modulestatus.State]int `json:"modules"`
	Outdated   int                        `json:"outdated"`
	Attention  attentionList              `json:"attention"`
	Operations []operations.Operation     `json:"operations"`
	Health     overviewHealth             `json:"health"`
	Unread     []Unread                   `json:"unread"`
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

// attention is one thing that needs a user's attention.
type attention struct {
	Kind string `json:"kind"`
	Kyma string `json:"kyma"`
	// Namespace of a rollout, or of a version that waits in several Kymas.
	Namespace string             `json:"namespace,omitempty"`
	Name      string             `json:"name"`
	State     modulestatus.State `json:"state"`
	Reason    string             `json:"reason,omitempty"`
	Message   string             `json:"message,omitempty"`
	// Cause is why a module is not ready in one sentence, as far as the hub knows: its page looks further.
	Cause string `json:"cause,omitempty"`

	module *modulestatus.Module
}

func (s *Server) overview(ctx context.Context, u *User, r *http.Request) (any, error) {
	if err := known(r.URL.Query()); err != nil {
		return nil, err
	}
	now, err := s.snapshot(ctx, u)
	if err != nil {
		return nil, err
	}
	o := overview{
		Operations: []operations.Operation{}, Unread: now.unread,
		Attention: troubled(now.kymas, now.modules, now.rollouts.lines, s.options.Now()),
	}
	counts := now.counts(ctx, s.options.Now())
	o.Kymas, o.Modules = counts.Kymas, counts.Modules
	for i := range now.modules {
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

// running returns the operations that are running, or need a user to resume them.
func (s *Server) running(ctx context.Context, u *User) ([]operations.Operation, error) {
	found := []operations.Operation{}
	if s.tasks == nil {
		return found, nil
	}
	all, err := s.tasks.List(ctx, actor(u))
	if err != nil {
		return nil, err
	}
	for i := range all {
		if state := all[i].State; (state == operations.Running || state == operations.Interrupted) && len(found) < mostOperations {
			found = append(found, all[i])
		}
	}
	return found, nil
}

// troubled returns the items that need attention, worst first:
//
//  1. every module in state Error or Warning
//  2. a module that has not become ready for a while, or whose deletion waits for objects that users made
//  3. a Kyma that is worse than each of its modules: otherwise the modules give more detail
//  4. a rollout that a person must decide about: it comes before the modules that make it halt
//  5. a version that waits for the consent of a Kyma's own user
func troubled(
	kymas []modulestatus.KymaLine, modules []modulestatus.Module, underway []rollouts.Rollout, now time.Time,
) attentionList {
	all, worst := append(undecided(underway), unconsented(modules)...), map[string]modulestatus.State{}
	for i := range modules {
		m := &modules[i]
		if !m.NeedsAttention(now) {
			continue
		}
		worst[m.Kyma] = modulestatus.Worse(cmp.Or(worst[m.Kyma], modulestatus.Ready), m.State)
		one := attention{Kind: "Module", Kyma: m.Kyma, Name: m.Name, State: m.State, module: m}
		one.Reason, one.Message = m.Explanation()
		all = append(all, one)
	}
	for i := range kymas {
		k := &kymas[i]
		key := modulestatus.Key{Namespace: k.Namespace, Name: k.Name}.String()
		if of := worst[key]; !k.State.Bad() || of != "" && modulestatus.Worse(of, k.State) == of {
			continue
		}
		all = append(all, attention{Kind: "Kyma", Kyma: key, Name: k.Name, State: k.State, Reason: k.Reason, Message: k.Message})
	}
	slices.SortFunc(all, func(a, b attention) int {
		return cmp.Or(worstFirst(a.State, b.State), cmp.Compare(a.Kyma, b.Kyma), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	shown := all[:min(len(all), mostAttention)]
	for i := range shown {
		if cause := rootcause.Of(rootcause.Evidence{Module: shown[i].module}, now); cause != nil {
			shown[i].Cause = cause.Sentence
		}
		shown[i].module = nil
	}
	return attentionList{Items: shown, Total: len(all)}
}

// undecided returns the rollouts that wait for a person. One that a person has paused does not: that was decided.
func undecided(underway []rollouts.Rollout) []attention {
	all := []attention{}
	for i := range underway {
		r := &underway[i]
		one := attention{Kind: "Rollout", Namespace: r.Namespace, Name: r.Name, State: modulestatus.Ready}
		if r.Problem != "" {
			one.State, one.Reason, one.Message = modulestatus.Error, v1beta2.ReasonSpecInvalid, r.Problem
		}
		for c := range r.Channels {
			state := modulestatus.Ready
			switch r.Channels[c].WaitsFor {
			case rollouts.ForDecision:
				state = modulestatus.Error
			case rollouts.ForApproval, rollouts.ForEmptyWave:
				state = modulestatus.Warning
			default: // the rollout goes on by itself
			}
			if modulestatus.Worse(one.State, state) != one.State {
				one.State, one.Reason, one.Message = state, string(r.Channels[c].Phase), r.Channels[c].Message
			}
		}
		if one.State != modulestatus.Ready {
			all = append(all, one)
		}
	}
	return all
}
