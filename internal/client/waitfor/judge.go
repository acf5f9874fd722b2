package waitfor

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// seen is the latest observation.
type seen struct {
	looked    bool
	kyma      *v1beta2.Kyma
	manifests map[string]*v1beta2.Manifest // by module
}

// ending states whether Wait still has to wait for a line.
type ending int

const (
	// endOpen means that the change is still in progress.
	endOpen ending = iota
	// endPatient means a problem that may pass by itself.
	endPatient
	// endNow means that the request is fulfilled, or cannot be without a user.
	endNow
)

type verdict struct {
	line Progress
	end  ending
}

// judge returns the verdicts on everything in the request, in the order of the request.
func judge(ask Options, s seen) []verdict {
	if ask.Gone || len(ask.Modules) == 0 {
		return judgeKyma(ask, s)
	}
	verdicts := make([]verdict, 0, len(ask.Modules))
	for _, want := range ask.Modules {
		verdicts = append(verdicts, judgeModule(ask, want, s))
	}
	return verdicts
}

// judgeModule returns the verdict on one module:
//
//  1. without a Kyma, or while it is suspended or being deleted, nothing changes
//  2. until the operator has observed the generation, nothing is known, except that the specs of hub and runtime cannot be merged
//  3. a request that the runtime's user overruled is not carried out
//  4. a module that must go is gone when the status has no entry for it any more
//  5. Ready counts only in the requested version
//  6. a version that was gone back from is not coming, whatever runs instead
//  7. an upgrade that waits for a maintenance window, a rollout or consent is no failure, and ends the wait, unless another version was
//     requested; so does a version that waits for something that it requires, once nothing else is under way that could bring that
//  8. while a Manifest is suspended, nothing that is still missing appears
func judgeModule(ask Options, want Expectation, s seen) verdict {
	line := Progress{Key: want.Module}
	if stopped, over := judgeStopped(ask, want, s); over {
		return stopped
	}
	entry := modulestatus.StatusOf(s.kyma, want.Module)
	switch {
	case s.kyma.Status.ObservedGeneration < ask.Generation:
		return judgeUnseen(line, s.kyma, "the lifecycle manager has not seen the change yet")
	case overruled(s.kyma, want.Module):
		return end(line, v1beta2.StateError, "hub and runtime changed the same entry, and the runtime takes precedence")
	case entry == nil && want.Gone:
		return end(line, StateGone, "")
	case entry == nil:
		return open(line, "it has no status yet")
	case want.Gone:
		return judgeLeaving(line, s, entry)
	}
	v := judgeEntry(line, want, s, entry)
	if manifest := s.manifests[want.Module]; v.end == endOpen && manifest != nil && module.ManifestSuspended(manifest) {
		return end(line, v1beta2.StateError, "its Manifest is suspended: nothing changes until it is resumed")
	}
	return v
}

// judgeStopped handles the cases in which no controller works on the module.
func judgeStopped(ask Options, want Expectation, s seen) (verdict, bool) {
	line := Progress{Key: want.Module}
	switch {
	case s.kyma == nil && want.Gone:
		return end(line, StateGone, ""), true
	case s.kyma == nil:
		return end(line, v1beta2.StateError, fmt.Sprintf("the Kyma %s is gone", ask.Kyma)), true
	case !s.kyma.DeletionTimestamp.IsZero() && !want.Gone:
		return end(line, v1beta2.StateError, fmt.Sprintf("the Kyma %s is being deleted", ask.Kyma)), true
	case module.KymaSuspended(s.kyma) && s.kyma.DeletionTimestamp.IsZero():
		return end(line, v1beta2.StateError, "the Kyma is suspended: nothing changes until it is resumed"), true
	}
	return verdict{}, false
}

// judgeEntry judges the status of a module that should run.
func judgeEntry(line Progress, want Expectation, s seen, entry *v1beta2.ModuleStatus) verdict {
	reason, text := why(s, entry)
	current := want.Version == "" || entry.Version == want.Version
	switch entry.State {
	case v1beta2.StateUnmanaged:
		if want.Managed {
			return open(line, "the lifecycle manager is taking it back")
		}
		return end(line, entry.State, text)
	case v1beta2.StateReady:
		switch {
		case want.Unmanaged:
			return open(line, "the lifecycle manager stops managing it")
		case modulestatus.Awaits(entry.Pending) && (want.Version == "" || !current):
			return end(line, v1beta2.StateWarning, text+remedy(s.kyma, entry))
		case (entry.Maintenance || entry.Offered != "") && (want.Version == "" || !current):
			return end(line, v1beta2.StateWarning, text)
		case current:
			return end(line, entry.State, "version "+entry.Version)
		case reason == v1beta2.ReasonRolledBack:
			return end(line, v1beta2.StateError, text)
		case reason == v1beta2.ReasonRequirementMissing:
			return judgeRequiring(line, s.kyma, entry, reason+": "+text)
		}
		return open(line, fmt.Sprintf("version %s runs, %s was requested", entry.Version, want.Version))
	case v1beta2.StateError, v1beta2.StateWarning:
		return trouble(line, entry.State, reason, text)
	default:
		switch {
		case modulestatus.Awaits(entry.Pending):
			return end(line, v1beta2.StateWarning, text+remedy(s.kyma, entry))
		case reason == v1beta2.ReasonRequirementMissing:
			return judgeRequiring(line, s.kyma, entry, text)
		}
		line.State, line.Text = cmp.Or(entry.State, v1beta2.StateProcessing), text
		return verdict{line: line}
	}
}

// judgeRequiring judges a module that waits for something that it requires. Another module that is under way may bring it.
func judgeRequiring(line Progress, kyma *v1beta2.Kyma, entry *v1beta2.ModuleStatus, text string) verdict {
	if slices.ContainsFunc(kyma.Status.Modules, func(other v1beta2.ModuleStatus) bool {
		return other.Name != entry.Name && other.State == v1beta2.StateProcessing && !modulestatus.Awaits(other.Pending) &&
			cmp.Or(said(kyma, other.Name), recognised(other.Message)) != v1beta2.ReasonRequirementMissing
	}) {
		return open(line, text)
	}
	line.State, line.Text = v1beta2.StateWarning, text
	return verdict{line: line, end: endPatient}
}

// remedy says who can agree to a version that waits for consent.
func remedy(kyma *v1beta2.Kyma, entry *v1beta2.ModuleStatus) string {
	if modulestatus.ConsentHere(kyma, entry.Pending) {
		return "; agree with kyma approve " + entry.Name
	}
	return "; " + modulestatus.Consenters(entry.Pending.From) + " must agree"
}

// judgeLeaving judges the status of a module that should go.
func judgeLeaving(line Progress, s seen, entry *v1beta2.ModuleStatus) verdict {
	reason, text := why(s, entry)
	switch entry.State {
	case v1beta2.StateError, v1beta2.StateWarning:
		return trouble(line, entry.State, reason, text)
	default:
		line.State, line.Text = v1beta2.StateDeleting, text
		return verdict{line: line}
	}
}

// judgeKyma returns the verdict on the whole Kyma, preceded by one for each of its modules.
func judgeKyma(ask Options, s seen) []verdict {
	line := Progress{Key: "Kyma " + ask.Kyma.String()}
	switch {
	case s.kyma == nil && ask.Gone:
		return []verdict{end(line, StateGone, "")}
	case s.kyma == nil:
		return []verdict{end(line, v1beta2.StateError, "it does not exist")}
	case !ask.Gone && !s.kyma.DeletionTimestamp.IsZero():
		return []verdict{end(line, v1beta2.StateError, "it is being deleted")}
	case module.KymaSuspended(s.kyma) && s.kyma.DeletionTimestamp.IsZero():
		return []verdict{end(line, v1beta2.StateError, "it is suspended: nothing changes until it is resumed")}
	case s.kyma.Status.ObservedGeneration < ask.Generation && !ask.Gone:
		return []verdict{judgeUnseen(line, s.kyma, "the lifecycle manager has not seen it yet")}
	}
	var verdicts []verdict
	for i := range s.kyma.Status.Modules {
		entry := &s.kyma.Status.Modules[i]
		if ask.Gone {
			verdicts = append(verdicts, judgeLeaving(Progress{Key: entry.Name}, s, entry))
			continue
		}
		verdicts = append(verdicts, judgeEntry(Progress{Key: entry.Name}, Expectation{Module: entry.Name}, s, entry))
	}
	return append(verdicts, judgeWhole(line, ask, s.kyma))
}

// judgeWhole returns the verdict on the Kyma itself.
func judgeWhole(line Progress, ask Options, kyma *v1beta2.Kyma) verdict {
	reason, message := "", ""
	if ready := meta.FindStatusCondition(kyma.Status.Conditions, v1beta2.ConditionReady); ready != nil {
		reason, message = ready.Reason, ready.Message
	}
	switch state := kyma.Status.State; {
	case state == v1beta2.StateReady && !ask.Gone:
		return end(line, state, message)
	case (state == v1beta2.StateError || state == v1beta2.StateWarning) && !ask.Gone:
		return trouble(line, state, reason, message)
	default:
		line.State, line.Text = cmp.Or(state, v1beta2.StateProcessing), message
		return verdict{line: line}
	}
}

// judgeUnseen judges a change that the status does not speak of yet. Where hub and runtime cannot be merged it may take until a user mends
// that; the condition may also be from before the change, which may be what mends it.
func judgeUnseen(line Progress, kyma *v1beta2.Kyma, text string) verdict {
	sync := meta.FindStatusCondition(kyma.Status.Conditions, v1beta2.ConditionSpecSync)
	if sync == nil || sync.Status == metav1.ConditionTrue || !final[sync.Reason] {
		return open(line, text)
	}
	line.State, line.Text = v1beta2.StateWarning, sync.Reason+": "+sync.Message
	return verdict{line: line, end: endPatient}
}

func open(line Progress, text string) verdict {
	line.State, line.Text = v1beta2.StateProcessing, text
	return verdict{line: line}
}

func end(line Progress, state v1beta2.State, text string) verdict {
	line.State, line.Text = state, text
	return verdict{line: line, end: endNow}
}

// trouble ends the wait if only a user can help.
func trouble(line Progress, state v1beta2.State, reason, text string) verdict {
	line.State, line.Text = state, text
	v := verdict{line: line, end: endPatient}
	if final[reason] {
		v.end = endNow
	}
	return v
}

// overruled reports whether the hub's entry differs from that of the runtime's user, which takes precedence.
func overruled(kyma *v1beta2.Kyma, name string) bool {
	return kyma.Status.LastSeen != nil && slices.Contains(kyma.Status.LastSeen.Overruled, "module "+name)
}
