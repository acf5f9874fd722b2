package modulerollout

import (
	"context"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/internal/module/rollout"
)

// inputs is what one pass reads, but for the Kymas.
type inputs struct {
	rollout *v1beta2.ModuleRollout
	// plan is what the rollout's spec says; nil when that cannot be carried out, which its conditions tell.
	plan *rollout.Plan
	// release is nil when there is none.
	release *v1beta2.ModuleReleaseMeta
	// targets are what the channels in scope offer, by name; the empty name is that of a mandatory module.
	targets map[string]*target
	armed   bool
	// now is the time by the wall clock, and jumps are when that was set forward.
	now   time.Time
	jumps []rollout.Jump
}

// stale lets a read answer at once: the reader writes none of what it reads, and an event follows each write of others.
var stale = []client.GetOption{client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency}

// readTargets reads what the channels in scope offer.
func (r *Reconciler) readTargets(ctx context.Context, w *inputs) error {
	w.targets = map[string]*target{}
	if w.release == nil {
		return nil
	}
	for channel, version := range offers(w.rollout, w.release) {
		template, err := r.template(ctx, w, version)
		if err != nil {
			return err
		}
		found := &target{RolloutVersion: v1beta2.RolloutVersion{Version: version}, template: template}
		found.Digest = r.Digests.Digest(module.ComponentKey{Name: w.release.Spec.OCMComponentName, Version: version})
		if before := channelOf(&w.rollout.Status, channel); before != nil && before.To.Version == version && before.To.Digest != "" {
			// Content that was published again is no other target: Kymas take it as they always did.
			found.Digest = before.To.Digest
		}
		w.targets[channel] = found
	}
	return nil
}

// offers returns the versions that a release offers in the channels that a rollout is for. A mandatory module has one, without a name.
func offers(plan *v1beta2.ModuleRollout, release *v1beta2.ModuleReleaseMeta) map[string]string {
	if mandatory := release.Spec.Mandatory; mandatory != nil {
		if len(plan.Spec.Channels) > 0 {
			return nil
		}
		return map[string]string{"": mandatory.Version}
	}
	offered := map[string]string{}
	for _, entry := range release.Spec.Channels {
		if entry.Version != "" && rollout.Governs(plan, entry.Channel) {
			offered[entry.Channel] = entry.Version
		}
	}
	return offered
}

// channelOf returns the status of a channel, nil when there is none.
func channelOf(status *v1beta2.ModuleRolloutStatus, channel string) *v1beta2.RolloutChannel {
	for i := range status.Channels {
		if status.Channels[i].Name == channel {
			return &status.Channels[i]
		}
	}
	return nil
}

// template reads the template of a version, nil when there is none.
func (r *Reconciler) template(ctx context.Context, w *inputs, version string) (*v1beta2.ModuleTemplate, error) {
	template := &v1beta2.ModuleTemplate{}
	key := client.ObjectKey{Namespace: w.rollout.Namespace, Name: module.TemplateName(w.rollout.Name, version)}
	switch err := r.Client.Get(ctx, key, template, stale...); {
	case apierrors.IsNotFound(err):
		return nil, nil //nolint:nilnil // nil stands for a template that is missing
	case err != nil:
		return nil, fmt.Errorf("read ModuleTemplate %s: %w", key, err)
	}
	return template, nil
}

// missing returns why the version before cannot be installed, empty when it can or when there is none.
func (r *Reconciler) missing(ctx context.Context, w *inputs, channel string) (string, error) {
	from := w.versionBefore(channel)
	if from == "" {
		return "", nil
	}
	template, err := r.template(ctx, w, from)
	if err != nil || template != nil {
		return "", err
	}
	return fmt.Sprintf("ModuleTemplate %s does not exist", module.TemplateName(w.rollout.Name, from)), nil
}

// noWayBack says why what a channel offers does not let Kymas go back to the version before by themselves, empty when it does.
func (w *inputs) noWayBack(channel string) string {
	from, template := w.versionBefore(channel), w.targets[channel].template
	if from == "" || template == nil {
		return ""
	}
	return module.Unvouched(template, from)
}

// versionBefore returns the version of a channel that had completed before the one that it offers, empty when there is none.
func (w *inputs) versionBefore(channel string) string {
	before := channelOf(&w.rollout.Status, channel)
	if before == nil || before.From.Version == w.targets[channel].Version {
		return ""
	}
	return before.From.Version
}

// basis returns everything that the facts about a Kyma depend on, beside the Kyma and its Manifest.
func (w *inputs) basis() string {
	var text strings.Builder
	if w.release != nil {
		fmt.Fprintf(&text, "%s %d", w.release.UID, w.release.Generation)
	}
	for _, channel := range sortedKeys(w.targets) {
		fmt.Fprintf(&text, "\n%s %s %s", channel, w.targets[channel].Version, w.targets[channel].Digest)
		if template := w.targets[channel].template; template != nil {
			fmt.Fprintf(&text, " %s %s", template.UID, template.ResourceVersion)
		}
	}
	return text.String()
}

// snapshot returns what module.RefusedChannel needs, but for the Kyma.
func (w *inputs) snapshot(restricted []string) module.Snapshot {
	s := module.Snapshot{
		Releases:  map[string]*v1beta2.ModuleReleaseMeta{w.rollout.Name: w.release},
		Templates: map[string]*v1beta2.ModuleTemplate{}, Restricted: restricted,
	}
	for _, one := range w.targets {
		if one.template != nil {
			s.Templates[one.template.Name] = one.template
		}
	}
	return s
}

// mandatory reports whether every Kyma has the module.
func (w *inputs) mandatory() bool { return w.release != nil && w.release.Spec.Mandatory != nil }

// members returns the Kymas of every channel, and when a maintenance window opens that one of them waits for.
func (r *Reconciler) members(w *inputs, known *count) (byChannel map[string][]rollout.Member, opens time.Time) {
	windows := &windows{now: w.now, known: map[module.WindowGroup]window{}}
	if r.Windows != nil {
		windows.policy = r.Windows.Policy()
	}
	byChannel = map[string][]rollout.Member{}
	for _, one := range known.records {
		member := one.member
		if one.windowed {
			held, next := windows.of(member.Labels)
			member.Held = held
			if !next.IsZero() && (opens.IsZero() || next.Before(opens)) {
				opens = next
			}
		}
		byChannel[one.channel] = append(byChannel[one.channel], member)
	}
	return byChannel, opens
}

// windows computes maintenance windows, once for all Kymas that have the same.
type windows struct {
	policy *module.WindowPolicy
	now    time.Time
	known  map[module.WindowGroup]window
}

type window struct {
	held  string
	opens time.Time
}

// of returns what keeps a Kyma with these labels from an upgrade with downtime, and when its window opens.
func (w *windows) of(labels map[string]string) (held string, opens time.Time) {
	group := module.WindowGroupOf(labels)
	one, computed := w.known[group]
	if !computed {
		switch open, opens, known := module.NextWindow(w.policy, labels, w.now); {
		case open:
		case known:
			one = window{held: rollout.HeldByWindow, opens: opens}
		default:
			one = window{held: rollout.HeldByRefusal}
		}
		w.known[group] = one
	}
	return one.held, one.opens
}
