package rollout

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
)

// ParseTarget reads "version" or "version@digest".
func ParseTarget(text string) v1beta2.RolloutVersion {
	version, digest, _ := strings.Cut(text, "@")
	return v1beta2.RolloutVersion{Version: version, Digest: digest}
}

// FormatTarget writes what ParseTarget reads.
func FormatTarget(target v1beta2.RolloutVersion) string {
	if target.Digest == "" {
		return target.Version
	}
	return target.Version + "@" + target.Digest
}

// Same reports whether two targets are one: a digest that is not known yet fits every digest of the version.
func Same(a, b v1beta2.RolloutVersion) bool {
	return a.Version == b.Version && (a.Digest == "" || b.Digest == "" || a.Digest == b.Digest)
}

// LastCompleted returns the last version of a channel that every Kyma may have had; empty when there is none. A rollout that was made
// paused names its target as the version before, too, although nothing says that this version is good.
func LastCompleted(channel *v1beta2.RolloutChannel) v1beta2.RolloutVersion {
	settled := channel.Phase == v1beta2.RolloutCompleted || channel.Phase == v1beta2.RolloutAborted
	if !settled && Same(channel.From, channel.To) {
		return v1beta2.RolloutVersion{}
	}
	return channel.From
}

// Settled reports whether a channel names a version that every Kyma may have, so that the rollout may be deleted.
func Settled(channel *v1beta2.RolloutChannel) bool {
	return channel.Phase == v1beta2.RolloutCompleted || setBack(channel)
}

// setBack reports whether a rollout ended because its channel was set back to a version that had completed.
func setBack(channel *v1beta2.RolloutChannel) bool {
	return channel.Phase == v1beta2.RolloutAborted && channel.From.Version != "" && Same(channel.From, channel.To)
}

// isReturn reports whether an offered version is one that the channel has had, or lower: no rollout leads there.
func isReturn(completed, offered v1beta2.RolloutVersion) bool {
	return completed.Version != "" && (Same(completed, offered) || moduleversion.IsLower(offered.Version, completed.Version))
}

// counts reports whether a decision is about the target of a channel, and was made since that began.
func counts(decision *v1beta2.RolloutDecision, channel *v1beta2.RolloutChannel) bool {
	return isAbout(decision, channel) && (decision.At.IsZero() || !decision.At.Time.Before(channel.Since.Time))
}

// isAbout reports whether a decision names the target of a channel.
func isAbout(decision *v1beta2.RolloutDecision, channel *v1beta2.RolloutChannel) bool {
	return decision != nil && (decision.Channel == "" || decision.Channel == channel.Name) && Same(ParseTarget(decision.Target), channel.To)
}

// floor and ceil are a time as the API keeps it, in whole seconds.
func floor(at time.Time) metav1.Time {
	return metav1.NewTime(at.UTC().Truncate(time.Second))
}

func ceil(at time.Time) metav1.Time {
	whole := floor(at)
	if whole.Time.Before(at) {
		return metav1.NewTime(whole.Add(time.Second))
	}
	return whole
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
