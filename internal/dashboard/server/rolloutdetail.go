package server

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/rollouts"
	"github.com/kyma-project/lifecycle-manager/internal/dashboard/operations"
)

// rolloutDetail is the page of one rollout.
type rolloutDetail struct {
	Rollout rollouts.Rollout `json:"rollout"`
	// Selects says which Kymas each wave selects; a wave that is not in it takes all that no earlier one has.
	Selects    map[string]string            `json:"selects"`
	Conditions []modulestatus.KymaCondition `json:"conditions"`
	// Actions are about the rollout as a whole, Decisions about its channels, in their order. There are only those that make sense now.
	Actions   []deedAct   `json:"actions"`
	Decisions [][]deedAct `json:"decisions"`
	Events    []Event     `json:"events"`
	Unread    []Unread    `json:"unread"`
}

// deedAct is a button: what it asks for, and why it cannot be pressed.
type deedAct struct {
	Deed    operations.Request `json:"deed"`
	Allowed bool               `json:"allowed"`
	Why     string             `json:"why,omitempty"`
}

func (s *Server) rolloutDetail(ctx context.Context, u *User, seen *rolloutsSeen, at int) rolloutDetail {
	r := &seen.in.Rollouts[at]
	d := rolloutDetail{
		Rollout: seen.lines[at], Selects: map[string]string{}, Conditions: []modulestatus.KymaCondition{}, Decisions: [][]deedAct{},
		Events: []Event{}, Unread: seen.unread,
	}
	for i := range r.Spec.Waves {
		if w := &r.Spec.Waves[i]; w.Selector != nil {
			d.Selects[w.Name] = metav1.FormatLabelSelector(w.Selector)
		}
	}
	for _, c := range r.Status.Conditions {
		if modulestatus.ForTools(c.Type) {
			continue
		}
		one := modulestatus.KymaCondition{Type: c.Type, Status: string(c.Status), Reason: c.Reason, Message: c.Message}
		d.Conditions = append(d.Conditions, one)
	}
	may := rolloutRights{
		decide:  u.may(ctx, "patch", ownGroup, "modulerollouts", r.Namespace, r.Name),
		release: u.may(ctx, "patch", ownGroup, "modulereleasemetas", r.Namespace, r.Name),
	}
	release := rollouts.ReleaseOf(&seen.in, r)
	d.Actions = pauseOf(r, may)
	for i := range d.Rollout.Channels {
		d.Decisions = append(d.Decisions, decisionsOf(r, release, &d.Rollout.Channels[i], may))
	}
	about := []modulestatus.Ref{{Kind: kindRollout, Namespace: r.Namespace, Name: r.Name}}
	var err error
	if d.Events, err = events(ctx, u, about); err != nil {
		d.Events, d.Unread = []Event{}, withUnread(d.Unread, "Event", r.Namespace, err)
	}
	return d
}

// rolloutRights says what a user may change of a rollout.
type rolloutRights struct{ decide, release bool }

// pauseOf returns the button that pauses a rollout, or that ends the pause.
func pauseOf(r *v1beta2.ModuleRollout, may rolloutRights) []deedAct {
	action := operations.RolloutPause
	if r.Spec.Paused {
		action = operations.RolloutResume
	}
	return []deedAct{actOf(operations.Request{Kind: operations.Rollout, Rollout: keyOfRollout(r), Action: action}, may)}
}

// decisionsOf returns the buttons of one channel: the decisions that package rollouts would take now.
func decisionsOf(r *v1beta2.ModuleRollout, release *v1beta2.ModuleReleaseMeta, c *rollouts.Channel, may rolloutRights) []deedAct {
	acts := []deedAct{}
	for _, action := range []operations.RolloutAction{operations.RolloutApprove, operations.RolloutResume, operations.RolloutAbort} {
		deed := operations.Request{Kind: operations.Rollout, Rollout: keyOfRollout(r), Action: action, Channel: c.Name}
		outcome, err := operations.DecideRollout(&deed, r.DeepCopy(), release, rollouts.Person{})
		if err != nil || outcome.Done == "" || outcome.Channel != c.Name || outcome.Target == "" {
			continue
		}
		deed.Target, deed.Wave = outcome.Target, outcome.Wave
		if outcome.Back != nil {
			deed.Version = outcome.Back.To
		}
		acts = append(acts, actOf(deed, may))
	}
	return acts
}

// actOf returns a button, and why a user may not press it.
func actOf(deed operations.Request, may rolloutRights) deedAct {
	switch {
	case !may.decide:
		return deedAct{Deed: deed, Why: "You may not change this rollout. Ask an administrator of the cluster for permission."}
	case deed.Version != "" && !may.release:
		return deedAct{Deed: deed, Why: "It also sets the channel back, and you may not change the ModuleReleaseMeta. " +
			"Ask an administrator of the cluster for permission."}
	}
	return deedAct{Deed: deed, Allowed: true}
}

func keyOfRollout(r *v1beta2.ModuleRollout) string { return r.Namespace + "/" + r.Name }
