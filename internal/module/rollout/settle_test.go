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
		w.api.kymas[uid] = k
	}
	w.api.mark = string(w.api.rollout.UID)
	last := ""
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
	w.counts["settled "+string(channel.Phase)]++
}
