package server

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// kindRollout is the kind of rollouts; hubs of older versions do not serve it.
const kindRollout = "ModuleRollout"

// noRollouts is the sentence for a hub that does not serve the kind.
const noRollouts = "this hub does not serve ModuleRollout: a channel that moves reaches all of its Kymas at once; " +
	"apply the definitions of the lifecycle manager to change that"

// rolloutsSeen are the rollouts that a user may list. They are kept apart from everything else: pages that show no rollout do not depend on
// them.
type rolloutsSeen struct {
	items []v1beta2.ModuleRollout
	// missing is noRollouts if the hub does not serve the kind.
	missing string
	unread  []Unread
}

// readRollouts reads the rollouts for a snapshot. Whatever fails is part of the result.
func (w *watches) readRollouts(ctx context.Context, u *User) (rolloutsSeen, map[place]scope) {
	read := newReading(w, u)
	var list v1beta2.ModuleRolloutList
	err := read.List(ctx, &list)
	seen := rolloutsSeen{items: list.Items, unread: []Unread{}}
	kind := v1beta2.GroupVersion.WithKind(kindRollout).GroupKind()
	switch {
	case meta.IsNoMatchError(err):
		seen.missing = noRollouts
	case err != nil:
		in := modulestatus.Inputs{Unread: []modulestatus.Unread{{GroupKind: kind, Forbidden: refusal(err), Text: cause(err)}}}
		seen.unread = unreadOf(&in, nil)
	default:
		partial := read.partial()
		in := narrowed(modulestatus.Inputs{}, partial)
		seen.unread = append(unreadOf(&in, partial), w.stale(read.scopes)...)
	}
	return seen, read.scopes
}

// rolloutList is the list of rollouts. Missing says that the hub does not serve them.
type rolloutList struct {
	List[rolloutLine]
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
	var found []*v1beta2.ModuleRollout
	for i := range now.rollouts.items {
		if one := &now.rollouts.items[i]; chosen(query, "phase", string(one.Status.Phase)) && p.has(textOfRollout(one)) {
			found = append(found, one)
		}
	}
	slices.SortStableFunc(found, func(a, b *v1beta2.ModuleRollout) int {
		return cmp.Or(cmp.Compare(urgency(a.Status.Phase), urgency(b.Status.Phase)), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Namespace, b.Namespace))
	})
	page := listOf(found, p, now.rollouts.unread)
	list := rolloutList{List: List[rolloutLine]{Items: []rolloutLine{}, Total: page.Total, Unread: page.Unread}, Missing: now.rollouts.missing}
	for _, one := range page.Items {
		list.Items = append(list.Items, rolloutLineOf(one))
	}
	return list, nil
}

// urgency orders phases: those that need a person first, those that are over last.
func urgency(phase v1beta2.RolloutPhase) int {
	order := []v1beta2.RolloutPhase{
		v1beta2.RolloutHalted, v1beta2.RolloutRollingBack, v1beta2.RolloutWaiting, v1beta2.RolloutProgressing, "", v1beta2.RolloutRolledBack,
		v1beta2.RolloutAborted, v1beta2.RolloutCompleted,
	}
	if at := slices.Index(order, phase); at >= 0 {
		return at
	}
	return len(order)
}

func textOfRollout(r *v1beta2.ModuleRollout) string {
	words := []string{r.Namespace + "/" + r.Name, string(r.Status.Phase), r.Status.Summary}
	for i := range r.Status.Channels {
		c := &r.Status.Channels[i]
		words = append(words, c.Name, c.From.Version, c.To.Version, c.Wave)
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
	for i := range now.rollouts.items {
		if one := &now.rollouts.items[i]; one.Namespace == key.Namespace && one.Name == key.Name {
			return s.rolloutDetail(ctx, u, one), nil
		}
	}
	switch {
	case now.rollouts.missing != "":
		return nil, fail(http.StatusNotFound, WhyNotFound, "%s", now.rollouts.missing)
	case len(now.rollouts.unread) > 0:
		return nil, mayNotRead(u, kindRollout+" "+clip(key.String(), 200))
	}
	return nil, fail(http.StatusNotFound, WhyNotFound, "there is no ModuleRollout %s: channels of the module reach all of their Kymas at once",
		clip(key.String(), 200))
}
