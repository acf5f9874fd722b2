package rollout

import (
	"slices"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// judgeBack: no Kyma goes back that no status names.
func (w *simHub) judgeBack(r *replica, k *simKyma) {
	if status := &r.rollout.Status.Channels[0]; !isTakingBack(status.Phase) || !slices.Contains(status.Back, Prefix(k.uid)) {
		w.fatalf("%s goes back without being named: %+v", k.name, status)
	}
	w.counts["went back"]++
	if w.api.rollout.Status.Channels == nil || len(w.api.rollout.Status.Channels[0].Back) == 0 {
		w.counts["went back late"]++
	}
}

// judgePlacesBack: those that go back are never more at a time than those that upgrade, but for those that failed and go back at once.
func (w *simHub) judgePlacesBack(plan *Plan, before *v1beta2.RolloutChannel, facts *Facts, next *v1beta2.RolloutChannel) {
	busy, added := 0, false
	for _, prefix := range next.Back {
		at := slices.IndexFunc(facts.Members, func(m Member) bool { return Prefix(m.UID) == prefix })
		if at < 0 {
			busy++
			continue
		}
		m := &facts.Members[at]
		sorted := newSorter(plan, next)
		wave, _ := sorted.find(m.UID, m.Labels)
		since, has := w.failedSince(facts, m, plan.waves[wave].name, next)
		if has && !m.BrokenBefore && since.Truncate(time.Second).After(next.ForgivenUntil.Time) || m.Held == HeldByWindow ||
			isStuck(m) {
			continue
		}
		busy++
		if known := Same(before.To, next.To) && slices.Contains(before.Back, prefix); !known {
			added = true
			if before.Phase == v1beta2.RolloutRolledBack {
				w.counts["returned"]++
			}
		}
	}
	if added && w.limit > 0 && busy > int(w.limit) {
		w.fatalf("%d go back, %d may: %+v", busy, w.limit, next)
	}
}
