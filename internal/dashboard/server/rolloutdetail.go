package server

import (
	"context"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/dashboard/operations"
)

// rolloutDetail is the page of one rollout.
type rolloutDetail struct {
	Rollout    rolloutLine                  `json:"rollout"`
	Plan       rolloutPlan                  `json:"plan"`
	Decision   *v1beta2.RolloutDecision     `json:"decision"`
	Conditions []modulestatus.KymaCondition `json:"conditions"`
	// Actions are about the rollout as a whole, Decisions about the channels, in their order.
	Actions   []rolloutAct   `json:"actions"`
	Decisions [][]rolloutAct `json:"decisions"`
	Events    []Event        `json:"events"`
	Unread    []Unread       `json:"unread"`
}

// rolloutPlan is the part of the plan that is about no single wave.
type rolloutPlan struct {
	Channels         []string                     `json:"channels"`
	ProgressDeadline string                       `json:"progressDeadline,omitempty"`
	OnFailure        v1beta2.RolloutFailureAction `json:"onFailure,omitempty"`
}

// rolloutAct is a button: what it asks for, and why it cannot be pressed.
type rolloutAct struct {
	Deed    operations.Request `json:"deed"`
	Allowed bool               `json:"allowed"`
	Why     string             `json:"why,omitempty"`
}

func (s *Server) rolloutDetail(ctx context.Context, u *User, r *v1beta2.ModuleRollout) rolloutDetail {
	d := rolloutDetail{
		Rollout: rolloutLineOf(r), Decision: r.Spec.Decision, Conditions: []modulestatus.KymaCondition{}, Decisions: [][]rolloutAct{},
		Plan:   rolloutPlan{Channels: append([]string{}, r.Spec.Channels...), OnFailure: r.Spec.OnFailure},
		Events: []Event{}, Unread: []Unread{},
	}
	if deadline := r.Spec.ProgressDeadline.Duration; deadline > 0 {
		d.Plan.ProgressDeadline = soakText(deadline)
	}
	for _, c := range r.Status.Conditions {
		d.Conditions = append(d.Conditions, modulestatus.KymaCondition{Type: c.Type, Status: string(c.Status), Reason: c.Reason, Message: c.Message})
	}
	decide := u.may(ctx, "patch", ownGroup, "modulerollouts", r.Namespace, r.Name)
	release := u.may(ctx, "update", ownGroup, "modulereleasemetas", r.Namespace, r.Name)
	d.Actions = []rolloutAct{actOf(pauseOf(r), decide, "")}
	for i := range r.Status.Channels {
		d.Decisions = append(d.Decisions, decisionsOf(r, &r.Status.Channels[i], decide, release))
	}
	about := []modulestatus.Ref{{Kind: kindRollout, Namespace: r.Namespace, Name: r.Name}}
	var err error
	if d.Events, err = events(ctx, u, about); err != nil {
		d.Events, d.Unread = []Event{}, withUnread(d.Unread, "Event", r.Namespace, err)
	}
	return d
}

// pauseOf returns the request that pauses a rollout, or that continues a paused one.
func pauseOf(r *v1beta2.ModuleRollout) operations.Request {
	action := operations.RolloutPause
	if r.Spec.Paused {
		action = operations.RolloutUnpause
	}
	return operations.Request{Kind: operations.Rollout, Rollout: r.Namespace + "/" + r.Name, Action: action}
}

// decisionsOf returns the buttons of one channel.
func decisionsOf(r *v1beta2.ModuleRollout, c *v1beta2.RolloutChannel, decide, release bool) []rolloutAct {
	acts := []rolloutAct{}
	for _, action := range []operations.RolloutAction{operations.RolloutApprove, operations.RolloutResume, operations.RolloutAbort} {
		deed := operations.Request{
			Kind: operations.Rollout, Rollout: r.Namespace + "/" + r.Name, Action: action, Channel: c.Name, Target: operations.RolloutTarget(c.To), Wave: c.Wave,
		}
		allowed := decide
		if action == operations.RolloutAbort {
			deed.Wave, deed.Version = "", c.From.Version
			allowed = decide && (release || c.From.Version == "")
		}
		acts = append(acts, actOf(deed, allowed, operations.RolloutApplies(action, c)))
	}
	return acts
}

// actOf returns a button. What makes no sense now says so also to users who may not do it at all.
func actOf(deed operations.Request, allowed bool, pointless string) rolloutAct {
	switch {
	case pointless != "":
		return rolloutAct{Deed: deed, Why: pointless}
	case !allowed && deed.Action == operations.RolloutAbort:
		return rolloutAct{Deed: deed, Why: "you may not change the rollout and its ModuleReleaseMeta: ask an administrator of the cluster for permission"}
	case !allowed:
		return rolloutAct{Deed: deed, Why: "you may not change the rollout: ask an administrator of the cluster for permission"}
	}
	return rolloutAct{Deed: deed, Allowed: true}
}
