package rollout

import (
	"cmp"
	"strings"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// settle stops all trouble: then the rollout comes to an end, or says which person it waits for.
func (w *simHub) settle() {
	for _, uid := range w.uids(w.api.kymas) {
		k := w.api.kymas[uid]
		k.lostSince, k.closed, k.aside = time.Time{}, false, false
		if channels := w.api.rollout.Status.Channels; len(channels) > 0 && isStopped(channels[0].Phase) && w.IntN(2) == 0 {
			k.lostSince = w.wall() // Who cannot go back keeps no other from it.
		}
		w.api.kymas[uid] = k
	}
	w.api.mark = string(w.api.rollout.UID)
	last, tells := "", w.tells
	for range 300 {
		for i, r := range w.replicas {
			w.sync(r, 1)
			if i == w.owner {
				w.compute(r)
				w.write(r)
				w.sync(r, 1)
			}
		}
		for _, uid := range w.uids(w.api.kymas) {
			w.reconcile(w.replicas[w.owner], uid)
			k := w.api.kymas[uid]
			if k.running != "" && !k.ready && !k.aside && (!k.unsound || !w.failing[k.running]) {
				k.ready, k.everReady, k.readySince = true, true, w.wall()
				w.api.kymas[uid] = k
			}
		}
		w.judgeConcurrency()
		status := w.api.rollout.Status
		text := string(status.Phase) + status.Channels[0].Message
		moves := status.Phase == v1beta2.RolloutProgressing || status.Phase == v1beta2.RolloutRollingBack && !w.api.rollout.Spec.Paused
		if text == last && !moves {
			break
		}
		last = text
		w.now = w.now.Add(7 * time.Minute)
	}
	channel := &w.api.rollout.Status.Channels[0]
	words := map[v1beta2.RolloutPhase]string{
		v1beta2.RolloutWaiting: "approv", v1beta2.RolloutHalted: "failed", v1beta2.RolloutRolledBack: "gone back",
		v1beta2.RolloutCompleted: " ", v1beta2.RolloutAborted: " ",
	}
	want := words[channel.Phase]
	if w.api.rollout.Spec.Paused && channel.Phase == v1beta2.RolloutWaiting && strings.Contains(channel.Message, "paused") {
		want = "paused"
	}
	if w.api.rollout.Spec.Paused && channel.Phase == v1beta2.RolloutRollingBack {
		want = "is paused"
	}
	if !strings.Contains(channel.Message, cmp.Or(want, "never said")) {
		w.fatalf("the run does not end: %+v", channel)
	}
	if w.tells-tells > 2*len(w.api.kymas) { // once for what stood in the status, once for what becomes of it
		w.fatalf("Kymas told %d times that they have no way back, or have one again: %+v", w.tells-tells, channel)
	}
	w.judgeRolledBack(channel)
	w.counts["settled "+string(channel.Phase)]++
}

// judgeRolledBack: at the end, who has the target still is out, and goes back when that ends although no status names it.
func (w *simHub) judgeRolledBack(channel *v1beta2.RolloutChannel) {
	if channel.Phase != v1beta2.RolloutRolledBack || w.api.rollout.Spec.OnFailure != v1beta2.RolloutRollback || w.api.rollout.Spec.Paused {
		return
	}
	for _, uid := range w.uids(w.api.kymas) {
		k := w.api.kymas[uid]
		if k.running != channel.To.Version || w.api.offered != channel.To.Version {
			continue
		}
		if k.told {
			w.counts["settled with no way back"]++
			continue
		}
		if k.lostSince.IsZero() && !k.aside {
			w.fatalf("%s can be reached and has the target after all have gone back: %+v", k.name, channel)
		}
		k.lostSince, k.aside = time.Time{}, false
		w.api.kymas[uid] = k
		k.stuck = false
		w.api.kymas[uid] = k
		w.reconcile(w.replicas[w.owner], uid)
		if w.api.kymas[uid].running != channel.From.Version {
			w.fatalf("%s does not go back when it returns: %+v", k.name, channel)
		}
		w.counts["back late"]++
	}
}
