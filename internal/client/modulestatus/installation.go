package modulestatus

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
)

// verdicts is the table of the messages that a Kyma's status has for a module.
var verdicts = module.Rules()

// installation returns the state of a Kyma's module; the first rule that applies:
//
//  1. A module that is being removed is Deleting, with the reason that blocks it, such as another module that still needs it.
//  2. A module that the Kyma no longer manages is Unmanaged.
//  3. If the lifecycle manager has not yet reconciled this generation of the Kyma, the change is in progress.
//  4. A suspended module is not in progress: it stays as it is.
//  5. Otherwise the status applies. Ready counts only in the requested version.
func (r *reader) installation(m *Module, e *entry) Installation {
	gone := e.kyma.DeletionTimestamp != nil || e.asked == nil && !m.Mandatory
	switch {
	case gone || e.manifest != nil && e.manifest.DeletionTimestamp != nil:
		return r.removal(e)
	case !e.managed():
		return Installation{State: LetGo, Reason: v1beta2.ReasonUnmanaged, Message: unmanagedNote(e)}
	}
	is := r.underway(m, e)
	if m.Suspended && (is.State == Installing || is.State == Upgrading) {
		return suspended(m)
	}
	return is
}

// underway returns the state of a managed module that is not being removed.
func (r *reader) underway(m *Module, e *entry) Installation {
	switch {
	case m.Mandatory:
		return ofManifest(e.manifest)
	case e.status == nil:
		return Installation{
			State: Installing, Reason: v1beta2.ReasonPending, Message: "the lifecycle manager has not reconciled it yet",
			Progress: progress(e.manifest),
		}
	}
	is := r.reported(m, e)
	if is.State == Installing || is.State == Upgrading {
		is.Progress = progress(e.manifest)
	}
	return is
}

// removal is removal of a module that others may still need.
func (r *reader) removal(e *entry) Installation {
	is := removal(e)
	if e.status != nil && r.reason(e) == v1beta2.ReasonStillRequired {
		is.Reason, is.BlockedBy, is.Warning = v1beta2.ReasonStillRequired, []string{e.status.Message}, true
	}
	return is
}

// suspended returns the state of a module with a requested change that the lifecycle manager does not carry out.
func suspended(m *Module) Installation {
	is := Installation{State: Installed, Warning: true, Reason: WhySuspended, Message: fmt.Sprintf("it stays in version %s while the label "+
		"%s suspends it: remove the label from the Kyma or the Manifest to continue", m.Version.Installed, v1beta2.LabelSkipReconciliation)}
	if m.Version.Installed == "" {
		is.State = NotInstalled
		is.Message = fmt.Sprintf("it is not installed while the label %s suspends it: remove the label from the Kyma or the Manifest to continue",
			v1beta2.LabelSkipReconciliation)
	}
	return is
}

// unmanagedNote returns the message for Unmanaged.
func unmanagedNote(e *entry) string {
	if e.manifest != nil && (e.status == nil || e.status.State != v1beta2.StateUnmanaged) {
		return "its objects are being released"
	}
	return "its objects keep running unmanaged: kyma manage takes it back"
}

// reported returns the state in the status of the Kyma.
func (r *reader) reported(m *Module, e *entry) Installation {
	is := Installation{Reason: r.reason(e), Message: e.status.Message}
	observed := e.kyma.Status.ObservedGeneration
	stale := observed > 0 && observed < e.kyma.Generation
	other := differ(m.Version.Desired, e.status.Version) && !held(e.status) && is.Reason != v1beta2.ReasonRequirementMissing
	switch e.status.State {
	case v1beta2.StateError:
		is.State = Failed
	case v1beta2.StateWarning:
		is.State, is.Warning = Installed, true
		if e.status.Version == "" && e.manifest == nil {
			is.State = NotInstalled
		}
	case v1beta2.StateReady:
		is.State = Installed
		// It never goes to a lower version by itself, as one would be that the channel went back to.
		if stale || other && !moduleversion.IsDowngrade(e.status.Version, m.Version.Desired) {
			is = Installation{State: Upgrading, Reason: v1beta2.ReasonPending, Message: fmt.Sprintf(
				"the lifecycle manager has yet to bring it from version %s to %s", e.status.Version, m.Version.Desired)}
		}
		if stale && !other {
			is.Message = "the lifecycle manager has not reconciled the last change yet"
		}
	case v1beta2.StateDeleting:
		return removal(e)
	case v1beta2.StateUnmanaged: // it is about to be managed again
		is.State = Installing
	default:
		is.State, is.Unready = processing(m, e, stale || other)
	}
	if is.Reason == v1beta2.ReasonReady {
		is.Reason = ""
	}
	return is
}

// held reports whether a version is not installed yet for a reason that is no trouble: a window, a rollout, or consent.
func held(status *v1beta2.ModuleStatus) bool {
	return status.Maintenance || status.Offered != "" || status.Pending != nil
}

// processing returns the phase of a module whose status is Processing: if the requested version was applied completely, it is installed but
// not ready.
func processing(m *Module, e *entry, changing bool) (phase Phase, unready bool) {
	switch {
	case !changing && e.manifest != nil && settled(e.manifest):
		return Installed, true
	case e.manifest != nil && e.manifest.Generation > 1, differ(m.Version.Installed, m.Version.Desired):
		return Upgrading, false
	}
	return Installing, false
}

// removal returns the state of a module that is being removed, and the reason that blocks it.
func removal(e *entry) Installation {
	is := Installation{State: Removing, Reason: v1beta2.ReasonModuleDeleting, Message: "it is being removed"}
	if e.status != nil {
		is.Message = cmp.Or(e.status.Message, is.Message)
	}
	if e.manifest == nil || e.manifest.DeletionTimestamp == nil {
		return is
	}
	reason, message := reportOf(e.manifest)
	switch reason {
	case v1beta2.ReasonDeletionBlocked, v1beta2.ReasonForeignFinalizers:
		is.Reason, is.Message, is.BlockedBy = reason, message, []string{message}
	case "", v1beta2.ReasonDeleting:
	default:
		is.Reason, is.Message = reason, cmp.Or(message, is.Message)
	}
	if e.manifest.Status.State == v1beta2.StateError {
		is.Warning = true
	}
	return is
}

// ofManifest returns the state of an installation that only its Manifest describes: that of a mandatory module, or a standalone one.
func ofManifest(manifest *v1beta2.Manifest) Installation {
	reason, message := reportOf(manifest)
	is := Installation{Reason: reason, Message: message}
	switch {
	case manifest.DeletionTimestamp != nil:
		return removal(&entry{manifest: manifest})
	case manifest.Status.ObservedGeneration != manifest.Generation:
		is = Installation{State: Installing, Reason: v1beta2.ReasonManifestPending, Message: "it was not checked yet"}
	case manifest.Status.State == v1beta2.StateReady:
		return Installation{State: Installed}
	case manifest.Status.State == v1beta2.StateWarning:
		is.State, is.Warning = Installed, true
	case manifest.Status.State == v1beta2.StateError:
		is.State = Failed
	case manifest.Status.State == v1beta2.StateProcessing && settled(manifest):
		is.State, is.Unready = Installed, true
	default:
		is.State = Installing
	}
	if is.State == Installing {
		if manifest.Generation > 1 {
			is.State = Upgrading
		}
		is.Progress = progress(manifest)
	}
	return is
}

// reportOf returns the reason and message of a Manifest.
func reportOf(manifest *v1beta2.Manifest) (reason, message string) {
	if ready := conditions.Find(manifest.Status.Conditions, v1beta2.ConditionReady); ready != nil {
		return ready.Reason, ready.Message
	}
	return "", manifest.Status.Operation
}

// progress returns how many of all known objects were applied; "" if there are none.
func progress(manifest *v1beta2.Manifest) string {
	if manifest == nil || len(manifest.Status.Synced) == 0 {
		return ""
	}
	done := 0
	for _, object := range manifest.Status.Synced {
		if object.Hash != "" {
			done++
		}
	}
	return fmt.Sprintf("%d/%d", done, len(manifest.Status.Synced))
}

// reason returns the reason of a module's state in one word. The status of a Kyma has only messages: a message in the table of verdicts has
// its reason there, and one that repeats the Manifest's has the Manifest's.
func (r *reader) reason(e *entry) string {
	if found := mostSpecific(e.status.Message); found != "" {
		return found
	}
	if e.manifest != nil {
		if reason, message := reportOf(e.manifest); reason != "" && strings.Contains(e.status.Message, message) {
			return reason
		}
	}
	switch e.status.State {
	case v1beta2.StateError:
		return v1beta2.ReasonModuleError
	case v1beta2.StateWarning:
		return v1beta2.ReasonModuleWarning
	case v1beta2.StateProcessing, "":
		return v1beta2.ReasonModuleProcessing
	default:
		return ""
	}
}

// mostSpecific returns the reason of the rule whose message a text is; empty when there is none. Of several rules, the one counts whose
// message says the most by itself: "version {version} waits {detail}" also matches what waits for consent.
func mostSpecific(text string) (reason string) {
	longest := 0
	for _, rule := range verdicts {
		if said := len(placeholder.ReplaceAllString(rule.Message, "")); said > longest && matches(rule.Message, text) {
			reason, longest = rule.Reason, said
		}
	}
	return reason
}

// placeholder is what a rule fills in.
var placeholder = regexp.MustCompile(`\{[a-z]+\}`)

// matches reports whether a text is a template with its {placeholders} filled in. A template that consists only of a placeholder matches
// nothing.
func matches(template, text string) bool {
	first, rest, found := strings.Cut(template, "{")
	if !found {
		return template == text
	}
	if first == "" && !strings.Contains(strings.TrimRight(rest, "}"), "}") {
		return false
	}
	if !strings.HasPrefix(text, first) {
		return false
	}
	text = text[len(first):]
	for found {
		var literal string
		_, literal, _ = strings.Cut(rest, "}")
		literal, rest, found = strings.Cut(literal, "{")
		if !found {
			return strings.HasSuffix(text, literal)
		}
		at := strings.Index(text, literal)
		if at < 0 {
			return false
		}
		text = text[at+len(literal):]
	}
	return true
}
