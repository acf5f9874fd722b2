package server

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/rollouts"
	"github.com/kyma-project/lifecycle-manager/internal/client/statusreader"
)

// kindRollout is the kind of rollouts; hubs of older versions do not serve it.
const kindRollout = "ModuleRollout"

// noRollouts is the sentence for a hub that does not serve the kind.
const noRollouts = "this hub does not serve ModuleRollout: a channel that moves reaches all of its Kymas at once; " +
	"apply the definitions of the lifecycle manager to change that"

// rolloutsSeen are the rollouts that a user may list, in the order of modulestatus.Inputs, and how pages show them. They are kept apart
// from everything else: pages that show no rollout do not depend on them.
type rolloutsSeen struct {
	in    modulestatus.Inputs
	lines []rollouts.Rollout
	// missing is noRollouts if the hub does not serve the kind.
	missing string
	unread  []Unread
}

// readRollouts reads the rollouts for a snapshot. Whatever fails is part of the result.
func (w *watches) readRollouts(ctx context.Context, u *User) (rolloutsSeen, map[place]scope) {
	read := newReading(w, u)
	in, err := statusreader.ReadRollouts(ctx, read, "")
	kind := v1beta2.GroupVersion.WithKind(kindRollout).GroupKind()
	partial := read.partial()
	if err != nil {
		in.Unread = []modulestatus.Unread{{GroupKind: kind, Text: cause(err)}}
	}
	seen := rolloutsSeen{in: in, unread: []Unread{}}
	narrow := narrowed(in, partial)
	for _, one := range append(unreadOf(&narrow, partial), w.stale(read.scopes)...) {
		if one.Kind == kind.String() {
			seen.unread = append(seen.unread, one)
		}
	}
	if slices.ContainsFunc(in.Unserved, func(k schema.GroupKind) bool { return k == kind }) {
		seen.missing = noRollouts
	}
	for i := range in.Rollouts {
		seen.lines = append(seen.lines, rollouts.Describe(&in.Rollouts[i], rollouts.ReleaseOf(&in, &in.Rollouts[i])))
	}
	return seen, read.scopes
}

// rolloutList is the list of rollouts. Missing says that the hub does not serve them.
type rolloutList struct {
	List[rollouts.Rollout]
	Missing string `json:"missing,omitempty"`
}

// rollouts answers GET /api/v1/rollouts.
func (s *Server) rollouts(ctx context.Context, u *User, r *http.Request) (any, error) {
	query := r.URL.Query()
	if err := known(query, "phase"); err != nil {
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
	var found []rollouts.Rollout
	for i := range now.rollouts.lines {
		if one := &now.rollouts.lines[i]; chosen(query, "phase", string(one.Phase)) && p.has(textOfRollout(one)) {
			found = append(found, *one)
		}
	}
	slices.SortStableFunc(found, func(a, b rollouts.Rollout) int {
		return cmp.Or(cmp.Compare(phasePriority(a.Phase), phasePriority(b.Phase)), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Namespace, b.Namespace))
	})
	return rolloutList{List: listOf(found, p, now.rollouts.unread), Missing: now.rollouts.missing}, nil
}

// phasePriority orders phases: those that need a person first, those that are over last.
func phasePriority(phase v1beta2.RolloutPhase) int {
	order := []v1beta2.RolloutPhase{
		v1beta2.RolloutHalted, v1beta2.RolloutRollingBack, v1beta2.RolloutWaiting, v1beta2.RolloutProgressing, rollouts.Pending,
		v1beta2.RolloutRolledBack, v1beta2.RolloutAborted, v1beta2.RolloutCompleted,
	}
	if at := slices.Index(order, phase); at >= 0 {
		return at
	}
	return len(order)
}

func textOfRollout(r *rollouts.Rollout) string {
	words := []string{r.Namespace + "/" + r.Name, string(r.Phase)}
	for i := range r.Channels {
		c := &r.Channels[i]
		words = append(words, c.Name, c.From.Version, c.To.Version, c.Wave, c.Message)
	}
	return strings.ToLower(strings.Join(words, " "))
}

// rollout answers GET /api/v1/rollouts/{ns}/{name}.
func (s *Server) rollout(ctx context.Context, u *User, r *http.Request) (any, error) {
	key := modulestatus.Key{Namespace: r.PathValue("ns"), Name: r.PathValue("name")}
	now, err := s.snapshot(ctx, u)
	if err != nil {
		return nil, err
	}
	for i := range now.rollouts.lines {
		if one := &now.rollouts.lines[i]; one.Namespace == key.Namespace && one.Name == key.Name {
			return s.rolloutDetail(ctx, u, &now.rollouts, i), nil
		}
	}
	switch {
	case now.rollouts.missing != "":
		return nil, fail(http.StatusNotFound, WhyNotFound, "%s", now.rollouts.missing)
	case len(now.rollouts.unread) > 0:
		return nil, mayNotRead(u, kindRollout+" "+clip(key.String(), 200))
	}
	return nil, fail(http.StatusNotFound, WhyNotFound, "there is no ModuleRollout %s: channels of the module reach all of their Kymas "+
		"at once", clip(key.String(), 200))
}
