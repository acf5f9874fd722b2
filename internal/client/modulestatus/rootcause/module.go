package rootcause

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// tale is how a sentence speaks of a reason of a Kyma or a Manifest.
type tale struct {
	subject tellsOf
	says    string
	weight  weight
}

// tellsOf is what a sentence about a module begins with.
type tellsOf int

const (
	theModule    tellsOf = iota // "Module greeter"
	theSignature                // "The signature of module greeter"
	theContent                  // "The content of module greeter"
	theRegistry                 // "The registry of module greeter"
	theRuntime                  // "The runtime of Kyma kcp-system/alice"
	theAccess                   // "The access to the runtime of Kyma kcp-system/alice"
	theDeletion                 // "The deletion of module greeter"
	theVersion                  // "Version 1.1.0 of module greeter"
	theManager                  // "The lifecycle manager"
)

// tales has the reasons of Kymas and Manifests that say more than that the module is not ready. What is not in here is told in general.
var tales = func() map[string]tale {
	all := map[string]tale{}
	add := func(t tale, reasons ...string) {
		for _, reason := range reasons {
			all[reason] = t
		}
	}
	add(tale{theSignature, "has been refused", broken}, v1beta2.ReasonSignatureMissing, v1beta2.ReasonSignatureInvalid,
		v1beta2.ReasonSignatureUntrusted, v1beta2.ReasonSignatureRevoked, v1beta2.ReasonContentNotCovered)
	add(tale{theRegistry, "has not been reachable", broken}, v1beta2.ReasonRegistryUnreachable)
	add(tale{theRegistry, "has refused the login", broken}, v1beta2.ReasonRegistryUnauthorized)
	add(tale{theContent, "has been missing", broken}, v1beta2.ReasonContentNotFound, v1beta2.ReasonComponentNotFound)
	add(tale{theContent, "has been refused", broken}, v1beta2.ReasonDigestMismatch, v1beta2.ReasonContentTooLarge,
		v1beta2.ReasonContentInvalid, v1beta2.ReasonArchiveRefused, v1beta2.ReasonSourceInvalid, v1beta2.ReasonSourceUnsupported,
		v1beta2.ReasonComponentInvalid, v1beta2.ReasonHooksRefused, v1beta2.ReasonRemoteBaseRefused, v1beta2.ReasonNonDeterministic,
		v1beta2.ReasonValuesInvalid, v1beta2.ReasonValuesNotFound, v1beta2.ReasonTemplateInvalid)
	add(tale{theContent, "has contained a change that would break users", broken}, v1beta2.ReasonCRDChangeRefused)
	add(tale{theRuntime, "has not been reachable", broken}, v1beta2.ReasonRuntimeUnreachable)
	add(tale{theRuntime, "has been another cluster than before", broken}, v1beta2.ReasonRuntimeReplaced)
	add(tale{theRuntime, "has been managed by another hub", broken}, v1beta2.ReasonRuntimeClaimed)
	add(tale{theAccess, "has been refused", broken}, v1beta2.ReasonRuntimeUnauthorized, v1beta2.ReasonKubeconfigInvalid,
		v1beta2.ReasonKubeconfigRefused, v1beta2.ReasonAccessSecretNotFound, v1beta2.ReasonAccessSecretAmbiguous)
	add(tale{theManager, "has lacked permissions", broken}, v1beta2.ReasonRuntimeForbidden, v1beta2.ReasonMissingPermissions,
		v1beta2.ReasonLocalAccessMissing, v1beta2.ReasonLocalNamespaceRefused)
	add(tale{theModule, "has had no version to install", broken}, v1beta2.ReasonReleaseNotFound, v1beta2.ReasonChannelNotFound,
		v1beta2.ReasonChannelInvalid, v1beta2.ReasonChannelAndVersion, v1beta2.ReasonTemplateNotFound, v1beta2.ReasonVersionNotAllowed,
		v1beta2.ReasonNotAllowed, v1beta2.ReasonModuleRestricted, v1beta2.ReasonDowngrade)
	add(tale{theVersion, "has been waiting for consent", waits}, v1beta2.ReasonApprovalRequired)
	add(tale{theVersion, "has been waiting for what it requires", waits}, v1beta2.ReasonRequirementMissing)
	add(tale{theVersion, "has been held, since it would break another module", waits}, v1beta2.ReasonWouldBreak)
	add(tale{theVersion, "has been waiting for a maintenance window", waits}, v1beta2.ReasonWaitingForMaintenanceWindow,
		v1beta2.ReasonMaintenanceWindowUnknown)
	add(tale{theVersion, "has been waiting for its rollout", waits}, v1beta2.ReasonWaitingForRollout)
	add(tale{theDeletion, "has been held", stuck}, v1beta2.ReasonDeletionBlocked, v1beta2.ReasonForeignFinalizers,
		v1beta2.ReasonWaitingForDeletion, v1beta2.ReasonStillRequired)
	add(tale{theModule, "has been suspended", waits}, modulestatus.WhySuspended)
	add(tale{theModule, "has not been readable", waits}, modulestatus.WhyForbidden, modulestatus.WhyReadFailed)
	return all
}()

// refusable are the reasons whose message repeats why the API server refuses an object.
var refusable = []string{
	v1beta2.ReasonObjectRefused, v1beta2.ReasonAdmissionDenied, v1beta2.ReasonQuotaExceeded, v1beta2.ReasonRuntimeForbidden,
	v1beta2.ReasonModuleError, v1beta2.ReasonApplying, v1beta2.ReasonModuleProcessing, v1beta2.ReasonManifestRefused,
}

// ofModule returns the causes in the status of the module itself. There is always one.
func (s *scene) ofModule() []candidate {
	m := s.Module
	all := []candidate{s.installation()}
	reports := m.Module.State == modulestatus.Error || m.Module.State == modulestatus.Warning
	if m.Resource == nil || !reports {
		return all
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
			if ready := t.condition("Ready"); ready.text("status") == "False" && !ready.time("lastTransitionTime").IsZero() {
				c.since = ready.time("lastTransitionTime")
			}
			c = s.told(c, t)
		}
	}
	return append(all, c.because(v1beta2.ReasonModuleCRNotReady, stuck, "has reported "+name(string(m.Module.State)), s.texts.quote(detail)))
}

// installation returns the cause in the status of the installation.
func (s *scene) installation() candidate {
	m := s.Module
	reason, message := m.Installation.Reason, m.Installation.Message
	if message == "" {
		reason, message = m.Module.Reason, m.Module.Message
	}
	c := candidate{object: s.place(), root: "module", reason: cmp.Or(name(reason), "NotReady"), depth: ofModule}
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
	t, known := tales[reason]
	if !known {
		t = tale{theModule, "has been in state " + name(string(m.State)), s.general()}
	}
	c.subject = s.begin(t.subject)
	return c.because(c.reason, t.weight, t.says, s.texts.quote(message))
}

// general returns the weight of a reason that tells nothing in particular.
func (s *scene) general() weight {
	told := []string{
		v1beta2.ReasonWaitingForObjects, v1beta2.ReasonWaitingForInstall, v1beta2.ReasonWaitingForProbe, v1beta2.ReasonWaitingForHook,
		v1beta2.ReasonObjectFailed, v1beta2.ReasonModuleProcessing, v1beta2.ReasonModuleError, v1beta2.ReasonModuleWarning,
		v1beta2.ReasonManifestPending, v1beta2.ReasonApplying, v1beta2.ReasonWaitingForCRDs, v1beta2.ReasonModuleDeleting,
		modulestatus.WhyManagerNotReady,
	}
	m := s.Module
	if slices.Contains(told, m.Installation.Reason) || m.State != modulestatus.Error && m.State != modulestatus.Warning {
		return vague
	}
	return stuck
}

// place returns the object whose status tells of the installation.
func (s *scene) place() modulestatus.Ref {
	m := s.Module
	switch {
	case m.Manifest != nil:
		return modulestatus.Ref{APIVersion: v1beta2.GroupVersion.String(), Kind: "Manifest", Namespace: m.Manifest.Namespace, Name: m.Manifest.Name}
	case m.Kyma != "":
		namespace, name, _ := strings.Cut(m.Kyma, "/")
		return modulestatus.Ref{APIVersion: v1beta2.GroupVersion.String(), Kind: "Kyma", Namespace: namespace, Name: name}
	case m.Record != nil:
		return modulestatus.Ref{APIVersion: "v1", Kind: kindSecret, Namespace: m.Record.Namespace, Name: m.Record.Name}
	}
	return modulestatus.Ref{Kind: modulestatus.KindModule, Name: m.Name}
}

// begin returns what a sentence begins with.
func (s *scene) begin(of tellsOf) string {
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
