package rollout

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// TestModel plays rollouts on a hub where everything happens at once, and judges every step by the laws.
func TestModel(t *testing.T) {
	runs := uint64(1000)
	if testing.Short() {
		runs = 100
	}
	counts := map[string]int{}
	for seed := range runs {
		w := newSimHub(t, seed)
		for range 250 {
			w.event()
			w.judgeConcurrency()
		}
		w.settle()
		for what, count := range w.counts {
			counts[what] += count
		}
	}
	for _, what := range []string{"conflict", "admitted", "open", "begun late", "Completed", "Halted", "Aborted", "Waiting", "RollingBack", "RolledBack",
		"settled Completed", "settled Halted", "settled Waiting", "settled Aborted", "settled RolledBack", "missing", "not begun",
		"went back", "returned", "no way back", "settled with no way back"} {
		if counts[what] == 0 {
			t.Errorf("no run came to %q: %v", what, counts)
		}
	}
	t.Log(counts)
}

// event is one thing that happens. What the operator does is more frequent than what is done to it.
func (w *simHub) event() {
	w.now = w.now.Add(time.Duration(w.IntN(120)) * time.Second)
	r := w.replicas[w.IntN(3)]
	owner := w.replicas[w.owner]
	dice := w.IntN(100)
	switch {
	case dice < 20:
		w.compute(owner)
		if w.IntN(4) > 0 {
			w.write(owner)
		}
	case dice < 24:
		w.write(r) // also one that was stopped for a while, and is the owner no more
	case dice < 44:
		w.sync(r, 1+w.IntN(3))
	case dice < 62:
		if k, ok := w.anyKyma(); ok {
			w.reconcile(r, k.uid)
		}
	case dice < 74:
		w.progress()
	case dice < 86:
		w.disturb(w.IntN(11))
	case dice < 90:
		if next := w.IntN(3); next != w.owner {
			w.owner, w.replicas[next].awaited = next, nil
		}
		if !w.jumps() && w.IntN(2) == 0 {
			w.boot(w.IntN(3))
		}
	case dice < 96:
		w.person(w.IntN(9))
	case dice < 97:
		if w.jumps() {
			w.offset += time.Duration(w.IntN(7200)-3600) * time.Second
		}
	case dice < 98:
		w.now = w.now.Add(time.Duration(w.IntN(48)) * time.Hour)
	default:
		w.api.mark = string(w.api.rollout.UID)
	}
	w.log = append(w.log, fmt.Sprintf("%s event %d: revision %d, offered %s: %s", w.now.Format(time.DateTime), dice, w.api.revision, w.api.offered,
		w.api.rollout.Status.Summary))
}

// jumps reports whether clocks are set in this run. A process that starts afterwards cannot know of it, so that then none does.
func (w *simHub) jumps() bool { return w.seed%2 == 0 }

// progress lets a Kyma become ready, or go back by itself.
func (w *simHub) progress() {
	k, ok := w.anyKyma()
	if !ok || k.running == "" || k.aside {
		return
	}
	bad := k.unsound && w.failing[k.running]
	switch {
	case !k.ready && !bad:
		k.ready, k.everReady, k.readySince = true, true, w.wall()
	case bad && w.IntN(4) == 0 && k.running != "1.2.0":
		k.avoid, k.had, k.backSince, k.began = k.running, k.running, w.wall(), w.wall()
		k.running, k.ready, k.everReady, k.brokenBefore, k.readySince = "1.2.0", true, true, false, w.wall()
	case k.ready && w.IntN(8) == 0:
		k.ready, k.unreadySince = false, w.wall()
	}
	w.api.kymas[k.uid] = k
}

// disturb is what happens to Kymas and their runtimes.
func (w *simHub) disturb(what int) {
	k, ok := w.anyKyma()
	if what == 0 && w.IntN(2) == 0 || !ok {
		w.newKyma()
		return
	}
	switch what {
	case 0:
		w.deleteKyma(k.uid)
		return
	case 1:
		k.ring = rings[w.IntN(3)]
	case 2:
		k.lostSince = w.wall()
	case 3:
		k.lostSince = time.Time{}
	case 4:
		k.closed = !k.closed
	case 5:
		k.closed = false
	case 6:
		k.aside, k.wasAside = true, true
	case 8:
		k.blocked = w.IntN(2) == 0
	case 9:
		k.blocked = false
	case 10:
		k.stuck = !k.stuck
	case 7:
		if k.aside {
			k.aside, k.freeSince = false, w.wall()
		}
	}
	w.api.kymas[k.uid] = k
}

// deleteKyma deletes a Kyma, preferably one that is under way.
func (w *simHub) deleteKyma(uid string) {
	if channels := w.api.rollout.Status.Channels; len(channels) > 0 && len(channels[0].Underway) > 0 {
		for _, other := range w.uids(w.api.kymas) {
			if Prefix(other) == channels[0].Underway[0] {
				uid = other
			}
		}
	}
	delete(w.api.kymas, uid)
}

// person is what people do. The release moves to new versions, and back.
func (w *simHub) person(what int) {
	spec, channel := &w.api.rollout.Spec, v1beta2.RolloutChannel{}
	if len(w.api.rollout.Status.Channels) > 0 {
		channel = w.api.rollout.Status.Channels[0]
	}
	decide := func(action v1beta2.RolloutAction) {
		spec.Decision = &v1beta2.RolloutDecision{Action: action, Target: w.api.offered, Wave: channel.Wave, At: floor(w.wall())}
	}
	switch what {
	case 0:
		spec.Paused = !spec.Paused
	case 1, 2:
		decide(v1beta2.RolloutApprove)
	case 3:
		decide(v1beta2.RolloutResume)
	case 4:
		if w.IntN(3) > 0 {
			return
		}
		decide(v1beta2.RolloutAbort)
	case 5, 6:
		w.minor++
		w.api.offered = fmt.Sprintf("1.%d.0", w.minor)
		w.failing[w.api.offered] = w.IntN(2) == 0
		return
	case 7:
		if channel.From.Version == "" || w.IntN(3) > 0 {
			return
		}
		w.api.offered = channel.From.Version
		return
	case 8:
		if w.IntN(4) == 0 {
			w.newRollout()
		}
		return
	}
	w.api.revision++
	w.api.rollout.Generation++
}

// judge looks at a step that was computed.
func (w *simHub) judge(plan *Plan, before *v1beta2.RolloutChannel, facts *Facts, step *Step) {
	next := &step.Channel
	if again := Next(plan, *next, *facts); !reflect.DeepEqual(again.Channel, *next) {
		w.fatalf("a second step changes the first:\n%+v\n%+v", *next, again.Channel)
	}
	if next.Open {
		w.counts["open"]++
	}
	w.judgeAdmission(plan, before, facts, next)
	w.judgePlacesBack(plan, before, facts, next)
	w.judgeNumbers(plan, facts, next)
	if !Same(before.To, next.To) || before.To.Version == "" {
		w.judgeShares(plan, facts, next)
	}
}

// judgeAdmission: no admission but in a rollout that progresses, and none after a halt without a decision.
func (w *simHub) judgeAdmission(plan *Plan, before *v1beta2.RolloutChannel, facts *Facts, next *v1beta2.RolloutChannel) {
	same := Same(before.To, next.To)
	added := slices.ContainsFunc(next.Underway, func(prefix string) bool { return !same || !slices.Contains(before.Underway, prefix) })
	if !added && !next.Open {
		return
	}
	w.counts["admitted"]++
	switch {
	case next.Phase != v1beta2.RolloutProgressing || plan.paused || !facts.Armed:
		w.fatalf("admission in phase %s, paused %v, armed %v", next.Phase, plan.paused, facts.Armed)
	case same && before.Phase == v1beta2.RolloutAborted:
		w.fatalf("admission after an abort")
	case same && isStopped(before.Phase) && !next.ForgivenUntil.After(before.ForgivenUntil.Time):
		w.fatalf("admission after a halt")
	}
}

// judgeNumbers counts anew, in the plainest way.
func (w *simHub) judgeNumbers(plan *Plan, facts *Facts, next *v1beta2.RolloutChannel) {
	failed := map[string]int32{}
	total := int32(0)
	for i := range facts.Members {
		m := &facts.Members[i]
		sorted := newSorter(plan, next)
		at, _ := sorted.find(m.UID, m.Labels)
		since, has := w.failedSince(facts, m, plan.waves[at].name, next)
		if has && !m.BrokenBefore && (next.ForgivenUntil.IsZero() || since.Truncate(time.Second).After(next.ForgivenUntil.Time)) {
			failed[plan.waves[at].name]++
		}
	}
	for _, wave := range next.Waves {
		total += wave.Total
		if wave.Failed != failed[wave.Name] {
			w.fatalf("wave %s has %d failed, counted %d: %+v", wave.Name, wave.Failed, failed[wave.Name], wave)
		}
		if sum := wave.Waiting + wave.Updating + wave.Ready + wave.Failed + wave.Forgiven + wave.BrokenBefore + wave.Skipped; sum != wave.Total {
			w.fatalf("the numbers of wave %s are no sum: %+v", wave.Name, wave)
		}
	}
	if total != int32(len(facts.Members)) {
		w.fatalf("%d Kymas in waves, there are %d", total, len(facts.Members))
	}
}

// failedSince says when a member failed, by the sentences of the specification.
func (w *simHub) failedSince(facts *Facts, m *Member, wave string, next *v1beta2.RolloutChannel) (time.Time, bool) {
	due := func(from time.Time, after time.Duration) (time.Time, bool) {
		at := shift(facts.Jumps, from).Add(after)
		return at, !facts.Now.Before(at)
	}
	lost, began := m.LostSince, later(m.At, m.FreeSince)
	if lost.Before(began) && !lost.IsZero() {
		lost = began
	}
	inSoak := next.Waves != nil && wave == next.Wave && !next.Waves[findWave(next, wave)].Since.IsZero()
	neverReady := !m.Ready && m.UnreadySince.IsZero()
	switch {
	case !m.Begun && m.RolledBack:
		return m.BackSince, true
	case !m.Begun && m.Held == "" && lost.IsZero():
		wait, known := facts.Awaited[m.UID]
		at, over := due(later(wait.Since, next.ForgivenUntil.Time), deadlineOfModel)
		return at, known && !wait.Blocked && over
	case !m.Begun, m.Held == HeldBySuspension, !neverReady && !inSoak:
		return time.Time{}, false
	case !lost.IsZero():
		if at, over := due(lost, deadlineOfModel); over {
			return at, true
		}
	case neverReady:
		return due(began, deadlineOfModel)
	case !m.Ready:
		if at, over := due(later(m.UnreadySince, m.FreeSince), UnreadyInSoak); over {
			return at, true
		}
	}
	// Patience ends with those that keep a wave after its soak.
	state := next.Waves[findWave(next, wave)]
	if neverReady || !state.Soaking || m.At.After(state.Since.Time) {
		return time.Time{}, false
	}
	soaks := w.api.rollout.Spec.Waves[min(findWave(next, wave), len(w.api.rollout.Spec.Waves)-1)].Soak.Duration
	if wave == Others {
		soaks = 0
	}
	at, over := due(state.Since.Time, soaks+deadlineOfModel+UnreadyInSoak)
	if free, past := due(m.FreeSince, deadlineOfModel); !m.FreeSince.IsZero() && free.After(at) {
		at, over = free, past
	}
	unsteady := !shift(facts.Jumps, m.ReadySince).Add(min(UnreadyInSoak, soaks)).Before(facts.Now.Add(1)) && !m.ReadySince.IsZero()
	return at, over && (!m.Ready || !lost.IsZero() || unsteady)
}

// judgeShares: a share is rounded up.
func (w *simHub) judgeShares(plan *Plan, facts *Facts, next *v1beta2.RolloutChannel) {
	rest, chosen := 0, 0
	sorted := newSorter(plan, next)
	for i := range facts.Members {
		if facts.Members[i].Labels["ring"] == "canary" {
			continue
		}
		rest++
		if at, _ := sorted.find(facts.Members[i].UID, facts.Members[i].Labels); plan.waves[at].name == "some" {
			chosen++
		}
	}
	if want := (rest*plan.waves[1].share + 99) / 100; chosen != want {
		w.fatalf("%d of %d are in a share of %d %%, want %d", chosen, rest, plan.waves[1].share, want)
	}
}

// judgeBegin: no Kyma begins that no status admitted.
func (w *simHub) judgeBegin(r *replica, k *simKyma, set map[string]string) {
	if r.mark == "" || len(r.rollout.Status.Channels) == 0 {
		if r.mark != "" {
			w.fatalf("%s begins without a status", k.name)
		}
		return
	}
	status := &r.rollout.Status.Channels[0]
	if w.api.rollout.Status.Channels == nil || w.api.rollout.Status.Channels[0].Phase != v1beta2.RolloutProgressing {
		w.counts["begun late"]++
	}
	switch {
	case status.Phase == v1beta2.RolloutCompleted || r.offered == status.From.Version:
	case r.rollout.Spec.Paused || status.To.Version != r.offered:
		w.fatalf("%s begins although paused, or for another target", k.name)
	case status.Phase == v1beta2.RolloutProgressing && slices.Contains(status.Underway, Prefix(k.uid)):
		w.begun[k.uid] = true
	default:
		wave, err := WaveOf(&r.rollout.Spec, status, k.uid, set)
		at, current := findWave(status, wave), findWave(status, status.Wave)
		first := k.running == "" && at < current && !isStopped(status.Phase) && status.Phase != v1beta2.RolloutAborted
		open := status.Open && wave == status.Wave && status.Phase == v1beta2.RolloutProgressing
		if err != nil || !first && !open {
			w.fatalf("%s (%s, wave %s) begins without admission: %+v", k.name, k.running, wave, status)
		}
	}
}

// judgeConcurrency: those that were admitted and have not ended are never more than maxConcurrent, where all waves have the same.
func (w *simHub) judgeConcurrency() {
	if w.limit == 0 || len(w.api.rollout.Status.Channels) == 0 || isFinal(w.api.rollout.Status.Channels[0].Phase) {
		return
	}
	status := &w.api.rollout.Status.Channels[0]
	busy := map[string]bool{}
	for _, prefix := range status.Underway {
		busy[prefix] = true
	}
	for uid := range w.begun {
		k, there := w.api.kymas[uid]
		if there && !w.late[uid] && k.running == status.To.Version && !k.everReady && !k.wasAside && w.now.Before(k.begunAt.Add(deadlineOfModel)) {
			busy[Prefix(uid)] = true
		}
	}
	if len(busy) > int(w.limit) {
		w.fatalf("%d are under way, %d may be: %v of %+v", len(busy), w.limit, slices.Sorted(maps.Keys(busy)), status)
	}
}
