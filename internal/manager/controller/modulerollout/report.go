package modulerollout

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// action is the action of every event of a rollout.
const action = "Rollout"

// report records what changed with a status that was written.
func (r *Reconciler) report(now *v1beta2.ModuleRollout, before *v1beta2.ModuleRolloutStatus) {
	if !conditions.IsTrue(before.Conditions, v1beta2.ConditionArmed) && conditions.IsTrue(now.Status.Conditions, v1beta2.ConditionArmed) {
		r.record(now, corev1.EventTypeNormal, v1beta2.ReasonArmed, "The release is marked: every Kyma asks this rollout from now on")
	}
	for i := range now.Status.Channels {
		channel := &now.Status.Channels[i]
		was := channelOf(before, channel.Name)
		if was == nil {
			was = &v1beta2.RolloutChannel{}
		}
		if n := newsOf(was, channel); n.reason != "" {
			r.record(now, n.kind, n.reason, where(channel)+n.text)
		}
		if channel.Phase == v1beta2.RolloutHalted && was.Phase != v1beta2.RolloutHalted {
			r.Metrics.RolloutHalted(now.Name, channel.Name)
		}
	}
}

// news is what an event says.
type news struct{ kind, reason, text string }

// newsOf returns what is new of a channel.
func newsOf(was, now *v1beta2.RolloutChannel) news {
	version := now.To.Version
	again := was.To == now.To && was.Phase == now.Phase
	switch now.Phase {
	case v1beta2.RolloutProgressing, v1beta2.RolloutWaiting:
		return progress(was, now)
	case v1beta2.RolloutHalted:
		if !again {
			return news{corev1.EventTypeWarning, v1beta2.ReasonTooManyFailed, "halted, no further Kyma gets " + version + ": " + why(now)}
		}
	case v1beta2.RolloutRollingBack:
		if !again {
			return news{corev1.EventTypeWarning, v1beta2.ReasonRollingBack, "halted, and those that have " + version + " go back: " + why(now)}
		}
	case v1beta2.RolloutRolledBack:
		if !again {
			return news{corev1.EventTypeNormal, v1beta2.ReasonRolledBack, "those that had " + version + " have gone back"}
		}
	case v1beta2.RolloutAborted:
		if !again {
			return news{corev1.EventTypeNormal, v1beta2.ReasonAborted, ended(was, now)}
		}
	case v1beta2.RolloutCompleted:
		if !again && was.Phase != "" {
			return news{corev1.EventTypeNormal, v1beta2.ReasonCompleted, version + " is released to every Kyma"}
		}
	}
	return news{}
}

// ended says how a rollout was aborted: by a decision, or because the channel was set back to the version before.
func ended(was, now *v1beta2.RolloutChannel) string {
	if was.To.Version != "" && was.To.Version != now.To.Version {
		return "set back from " + was.To.Version + " to " + now.To.Version + ": Kymas that have the former keep it, and no further one gets it"
	}
	return "the rollout of " + now.To.Version + " was aborted: no further Kyma gets it"
}

// progress returns what is new of a channel whose rollout goes on.
func progress(was, now *v1beta2.RolloutChannel) news {
	wave, before := waveOf(now), waveOf(was)
	switch {
	case wave == nil:
	case was.To.Version != now.To.Version || was.Wave != now.Wave:
		if now.Phase == v1beta2.RolloutWaiting {
			return news{corev1.EventTypeNormal, v1beta2.ReasonWaveApproval, fmt.Sprintf("wave %s waits: %s", now.Wave, now.Message)}
		}
		return news{corev1.EventTypeNormal, v1beta2.ReasonWaveUpdating, fmt.Sprintf("wave %s begins with %s", now.Wave, now.To.Version)}
	case now.Phase == v1beta2.RolloutWaiting && was.Phase != now.Phase:
		return news{corev1.EventTypeNormal, v1beta2.ReasonWaveApproval, fmt.Sprintf("wave %s waits: %s", now.Wave, now.Message)}
	case was.Phase != now.Phase:
		return news{corev1.EventTypeNormal, v1beta2.ReasonWaveUpdating, fmt.Sprintf("wave %s continues with %s", now.Wave, now.To.Version)}
	case wave.Soaking && (before == nil || !before.Soaking):
		return news{corev1.EventTypeNormal, v1beta2.ReasonWaveSoaking, fmt.Sprintf("wave %s is ready with %s", now.Wave, now.To.Version)}
	}
	return news{}
}

// waveOf returns the status of the wave that is under way, nil when there is none.
func waveOf(channel *v1beta2.RolloutChannel) *v1beta2.RolloutWaveStatus {
	for i := range channel.Waves {
		if channel.Waves[i].Name == channel.Wave {
			return &channel.Waves[i]
		}
	}
	return nil
}

// why returns why a channel halted, with the Kymas that failed.
func why(channel *v1beta2.RolloutChannel) string {
	text := channel.Message
	var named []string
	for i := range channel.Worst {
		if failed := &channel.Worst[i]; !strings.Contains(text, failed.Kyma) {
			named = append(named, fmt.Sprintf("%s (%s: %s)", failed.Kyma, failed.Reason, failed.Message))
		}
	}
	if len(named) > 0 {
		text += "; " + strings.Join(named, ", ")
	}
	return text
}

// where begins a sentence about a channel.
func where(channel *v1beta2.RolloutChannel) string {
	if channel.Name == "" {
		return "Mandatory module: "
	}
	return "Channel " + channel.Name + ": "
}

func (r *Reconciler) record(plan *v1beta2.ModuleRollout, kind, reason, text string) {
	r.Events.Eventf(plan, nil, kind, reason, action, "%s", conditions.Note(text))
}

// reportOrphan tells of a release whose mark names a rollout that is gone, as after its finalizer was removed by hand: no Kyma gets another
// version until a person decides. It looks past the cache, which may not know a rollout that was created a moment ago.
func (r *Reconciler) reportOrphan(ctx context.Context, release *v1beta2.ModuleReleaseMeta) error {
	if release == nil || release.Annotations[v1beta2.AnnotationRollout] == "" {
		return nil
	}
	err := r.Reader.Get(ctx, client.ObjectKeyFromObject(release), &v1beta2.ModuleRollout{})
	if !apierrors.IsNotFound(err) {
		return err
	}
	r.Events.Eventf(release, nil, corev1.EventTypeWarning, v1beta2.ReasonWaitingForRollout, action, "%s", conditions.Note(
		"The ModuleRollout that this release is marked for does not exist, so that no Kyma gets another version: create it again, "+
			"or remove the annotation "+v1beta2.AnnotationRollout))
	return nil
}
