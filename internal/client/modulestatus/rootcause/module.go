package rootcause

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// phrase is how a sentence speaks of a reason of a Kyma or a Manifest.
type phrase struct {
	subject beginning
	says    string
	weight  weight
}

// beginning is what a sentence about a module begins with.
type beginning int

const (
	theModule    beginning = iota // "Module greeter"
	theSignature                  // "The signature of module greeter"
	theContent                    // "The content of module greeter"
	theRegistry                   // "The registry of module greeter"
	theRuntime                    // "The runtime of Kyma kcp-system/alice"
	theAccess                     // "The access to the runtime of Kyma kcp-system/alice"
	theDeletion                   // "The deletion of module greeter"
	theVersion                    // "Version 1.1.0 of module greeter"
	theManager                    // "The lifecycle manager"
)

// phrases has the reasons of Kymas and Manifests that say more than that the module is not ready. Others get a general phrase.
var phrases = func() map[string]phrase {
	all := map[string]phrase{}
	add := func(t phrase, reasons ...string) {
		for _, reason := range reasons {
			all[reason] = t
		}
	}
	add(phrase{theSignature, "has been refused", broken}, v1beta2.ReasonSignatureMissing, v1beta2.ReasonSignatureInvalid,
		v1beta2.ReasonSignatureUntrusted, v1beta2.ReasonSignatureRevoked, v1beta2.ReasonContentNotCovered)
	add(phrase{theRegistry, "has not been reachable", broken}, v1beta2.ReasonRegistryUnreachable)
	add(phrase{theRegistry, "has refused the login", broken}, v1beta2.ReasonRegistryUnauthorized)
	add(phrase{theContent, "has been missing", broken}, v1beta2.ReasonContentNotFound, v1beta2.ReasonComponentNotFound)
	add(phrase{theContent, "has been refused", broken}, v1beta2.ReasonDigestMismatch, v1beta2.ReasonContentTooLarge,
		v1beta2.ReasonContentInvalid, v1beta2.ReasonArchiveRefused, v1beta2.ReasonSourceInvalid, v1beta2.ReasonSourceUnsupported,
		v1beta2.ReasonComponentInvalid, v1beta2.ReasonHooksRefused, v1beta2.ReasonRemoteBaseRefused, v1beta2.ReasonNonDeterministic,
		v1beta2.ReasonValuesInvalid, v1beta2.ReasonValuesNotFound, v1beta2.ReasonTemplateInvalid)
	add(phrase{theContent, "has contained a change that would break users", broken}, v1beta2.ReasonCRDChangeRefused)
	add(phrase{theRuntime, "has not been reachable", broken}, v1beta2.ReasonRuntimeUnreachable)
	add(phrase{theRuntime, "has been another cluster than before", broken}, v1beta2.ReasonRuntimeReplaced)
	add(phrase{theRuntime, "has been managed by another hub", broken}, v1beta2.ReasonRuntimeClaimed)
	add(phrase{theAccess, "has been refused", broken}, v1beta2.ReasonRuntimeUnauthorized, v1beta2.ReasonKubeconfigInvalid,
		v1beta2.ReasonKubeconfigRefused, v1beta2.ReasonAccessSecretNotFound, v1beta2.ReasonAccessSecretAmbiguous)
	add(phrase{theManager, "has lacked permissions", broken}, v1beta2.ReasonRuntimeForbidden, v1beta2.ReasonMissingPermissions,
		v1beta2.ReasonLocalAccessMissing, v1beta2.ReasonLocalNamespaceRefused)
	add(phrase{theModule, "has had no version to install", broken}, v1beta2.ReasonReleaseNotFound, v1beta2.ReasonChannelNotFound,
		v1beta2.ReasonChannelInvalid, v1beta2.ReasonChannelAndVersion, v1beta2.ReasonTemplateNotFound, v1beta2.ReasonVersionNotAllowed,
		v1beta2.ReasonNotAllowed, v1beta2.ReasonModuleRestricted)
	add(phrase{theModule, "has been kept in its version", stuck}, v1beta2.ReasonDowngrade, v1beta2.ReasonRolledBack,
		v1beta2.ReasonRollbackUnavailable, v1beta2.ReasonRollbackUnsafe, v1beta2.ReasonRolloutAborted)
	add(phrase{theVersion, "has been waiting for consent", waits}, v1beta2.ReasonApprovalRequired)
	add(phrase{theVersion, "has been waiting for what it requires", waits}, v1beta2.ReasonRequirementMissing)
	add(phrase{theVersion, "has been held, since it would break another module", waits}, v1beta2.ReasonWouldBreak)
	add(phrase{theVersion, "has been waiting for a maintenance window", waits}, v1beta2.ReasonWaitingForMaintenanceWindow,
		v1beta2.ReasonMaintenanceWindowUnknown)
	add(phrase{theVersion, "has been waiting for its rollout", waits}, v1beta2.ReasonWaitingForRollout)
	add(phrase{theDeletion, "has been held", stuck}, v1beta2.ReasonDeletionBlocked, v1beta2.ReasonForeignFinalizers,
		v1beta2.ReasonWaitingForDeletion, v1beta2.ReasonStillRequired)
	add(phrase{theModule, "has been suspended", waits}, modulestatus.WhySuspended)
	add(phrase{theModule, "has not been readable", waits}, modulestatus.WhyForbidden, modulestatus.WhyReadFailed)
	return all
}()

// refusable are the reasons whose message repeats why the API server refuses an object.
var refusable = []string{
	v1beta2.ReasonObjectRefused, v1beta2.ReasonAdmissionDenied, v1beta2.ReasonQuotaExceeded, v1beta2.ReasonRuntimeForbidden,
	v1beta2.ReasonModuleError, v1beta2.ReasonApplying, v1beta2.ReasonModuleProcessing, v1beta2.ReasonManifestRefused,
}

// ofModule returns the causes in the status of the module itself. There is always one.
func (s *index) ofModule() []candidate {
	m := s.Module
	reports := m.Module.State == modulestatus.Error || m.Module.State == modulestatus.Warning
	if m.Resource == nil || !reports {
		return []candidate{s.installation()}
	}
	var all []candidate
	if isReason(&m.Installation) { // otherwise it would repeat what the resource says
		all = append(all, s.installation())
	}
	detail := strings.TrimPrefix(m.Module.Message, m.Resource.String()+": ")
	c := candidate{
		object: *m.Resource, subject: name(m.Resource.Kind) + " " + name(m.Resource.Name), depth: ofObject, root: m.Resource.String(),
	}
	if m.Since != nil {
		c.since = m.Since.Time
	}
	for _, t := range s.things {
		if s.isOwnResource(t) && t.GetNamespace() == m.Resource.Namespace {
			if ready := t.condition("Ready"); ready.text("status") == "False" && !ready.changed().IsZero() {
				c.since = ready.changed()
			}
			c = s.withEvents(c, t)
		}
	}
	return append(all, c.because(v1beta2.ReasonModuleCRNotReady, stuck, "has reported "+name(string(m.Module.State)), s.texts.quote(detail)))
}

// isReason reports whether the state of an installation is a reason why its module is not ready.
func isReason(i *modulestatus.Installation) bool {
	switch i.State {
	case modulestatus.Installed, modulestatus.NotInstalled, modulestatus.LetGo:
		return i.Message != "" && (i.Warning || i.Unready)
	default:
		return i.Message != ""
	}
}

// installation returns the cause in the status of the installation.
func (s *index) installation() candidate {
	m := s.Module
	reason, message := m.Installation.Reason, m.Installation.Message
	if message == "" {
		reason, message = m.Module.Reason, m.Module.Message
	}
	c := candidate{object: s.place(), root: "module", reason: cmp.Or(name(reason), NotReady), depth: ofModule}
	if m.Since != nil {
		c.since = m.Since.Time
	}
	if message = s.texts.clean(message, MostFact); message != "" {
		c.facts = []modulestatus.Fact{{
			Source: modulestatus.FactStatus, Object: refText(c.object), Text: strings.TrimPrefix(name(reason)+": "+message, ": "),
		}}
	}
	if slices.Contains(refusable, reason) {
		if why := s.refused(message); why.reason != "" {
			c.subject = s.begin(theModule)
			return c.because(why.reason, broken, "has not been applied", strings.ReplaceAll(why.detail, "denies them", "denies an object"))
		}
	}
	t, known := phrases[reason]
	if !known {
		t = phrase{theModule, "has been in state " + name(string(m.State)), s.general()}
	}
	c.subject = s.begin(t.subject)
	return c.because(c.reason, t.weight, t.says, s.texts.quote(message))
}

// general returns the weight of a reason that tells nothing in particular.
func (s *index) general() weight {
	general := []string{
		v1beta2.ReasonWaitingForObjects, v1beta2.ReasonWaitingForInstall, v1beta2.ReasonWaitingForProbe, v1beta2.ReasonWaitingForHook,
		v1beta2.ReasonObjectFailed, v1beta2.ReasonModuleProcessing, v1beta2.ReasonModuleError, v1beta2.ReasonModuleWarning,
		v1beta2.ReasonManifestPending, v1beta2.ReasonApplying, v1beta2.ReasonWaitingForCRDs, v1beta2.ReasonModuleDeleting,
		modulestatus.WhyManagerNotReady,
	}
	m := s.Module
	if slices.Contains(general, m.Installation.Reason) || m.State != modulestatus.Error && m.State != modulestatus.Warning {
		return vague
	}
	return stuck
}

// place returns the object whose status tells of the installation.
func (s *index) place() modulestatus.Ref {
	m, ours := s.Module, v1beta2.GroupVersion.String()
	switch {
	case m.Manifest != nil:
		return modulestatus.Ref{APIVersion: ours, Kind: "Manifest", Namespace: m.Manifest.Namespace, Name: m.Manifest.Name}
	case m.Kyma != "":
		namespace, name, _ := strings.Cut(m.Kyma, "/")
		return modulestatus.Ref{APIVersion: ours, Kind: "Kyma", Namespace: namespace, Name: name}
	case m.Record != nil:
		return modulestatus.Ref{APIVersion: "v1", Kind: kindSecret, Namespace: m.Record.Namespace, Name: m.Record.Name}
	}
	return modulestatus.Ref{Kind: modulestatus.KindModule, Name: m.Name}
}

// begin returns what a sentence begins with.
func (s *index) begin(of beginning) string {
	m := s.Module
	module, runtime := "module "+name(m.Name), "runtime of Kyma "+name(m.Kyma)
	if m.Kyma == "" {
		runtime = "cluster of " + module
	}
	switch of {
	case theSignature:
		return "The signature of " + module
	case theContent:
		return "The content of " + module
	case theRegistry:
		return "The registry of " + module
	case theRuntime:
		return "The " + runtime
	case theAccess:
		return "The access to the " + runtime
	case theDeletion:
		return "The deletion of " + module
	case theManager:
		return "The lifecycle manager"
	case theVersion:
		version := m.Version.Desired
		if m.Pending != nil {
			version = m.Pending.Version
		}
		if version = cmp.Or(m.Offered, version); version != "" {
			return "Version " + name(version) + " of " + module
		}
	case theModule:
	}
	return "Module " + name(m.Name)
}
