package waitfor

import (
	"cmp"
	"regexp"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// final are the reasons that remain until a user changes something: waiting is pointless.
var final = func() map[string]bool {
	set := map[string]bool{}
	for _, reason := range []string{
		// The requested module or version does not exist, or is not for this Kyma.
		v1beta2.ReasonReleaseNotFound, v1beta2.ReasonChannelNotFound, v1beta2.ReasonChannelInvalid, v1beta2.ReasonChannelAndVersion,
		v1beta2.ReasonVersionNotAllowed, v1beta2.ReasonTemplateNotFound, v1beta2.ReasonTemplateInvalid, v1beta2.ReasonModuleMandatory,
		v1beta2.ReasonNotAllowed, v1beta2.ReasonModuleRestricted, v1beta2.ReasonDowngrade, v1beta2.ReasonComponentNameMissing,
		v1beta2.ReasonComponentNotFound, v1beta2.ReasonComponentInvalid, v1beta2.ReasonMaintenanceWindowUnknown,
		v1beta2.ReasonManifestRefused, v1beta2.ReasonManifestConflict, v1beta2.ReasonRuntimeSpecRefused, v1beta2.ReasonRequirementCycle,
		// The content is not acceptable.
		v1beta2.ReasonSignatureMissing, v1beta2.ReasonSignatureInvalid, v1beta2.ReasonSignatureUntrusted, v1beta2.ReasonSignatureRevoked,
		v1beta2.ReasonDigestMismatch, v1beta2.ReasonContentNotCovered, v1beta2.ReasonContentTooLarge, v1beta2.ReasonContentInvalid,
		v1beta2.ReasonArchiveRefused, v1beta2.ReasonSourceInvalid, v1beta2.ReasonSourceUnsupported, v1beta2.ReasonValuesInvalid,
		v1beta2.ReasonNonDeterministic, v1beta2.ReasonHooksRefused, v1beta2.ReasonRemoteBaseRefused, v1beta2.ReasonProbeInvalid,
		v1beta2.ReasonChartHookFailed, v1beta2.ReasonGeneratedValuesLost, v1beta2.ReasonValuesNotFound,
		// The runtime refuses.
		v1beta2.ReasonCRDChangeRefused, v1beta2.ReasonFieldImmutable, v1beta2.ReasonOwnershipConflict,
		v1beta2.ReasonAccessSecretAmbiguous, v1beta2.ReasonKubeconfigInvalid, v1beta2.ReasonKubeconfigRefused, v1beta2.ReasonRuntimeReplaced,
		v1beta2.ReasonRuntimeClaimed,
		v1beta2.ReasonDeletionBlocked, v1beta2.ReasonLocalNamespaceRefused, v1beta2.ReasonMissingPermissions,
		// There is no way back.
		v1beta2.ReasonRollbackUnavailable, v1beta2.ReasonRollbackUnsafe,
	} {
		set[reason] = true
	}
	return set
}()

// why returns the reason of a module's state and a text that includes it. The condition of the Kyma names the reasons of its three worst
// modules; for the others, the reason follows from the text of the refusal. While the Kyma only reports that the Manifest was written, the
// Manifest may have more details.
func why(s seen, entry *v1beta2.ModuleStatus) (reason, text string) {
	reason, text = cmp.Or(said(s.kyma, entry.Name), recognised(entry.Message)), entry.Message
	if manifest := s.manifests[entry.Name]; manifest != nil && entry.State != v1beta2.StateReady && pending(reason) {
		if ready := meta.FindStatusCondition(manifest.Status.Conditions, v1beta2.ConditionReady); ready != nil &&
			manifest.Status.ObservedGeneration == manifest.Generation && ready.Message != "" {
			reason, text = ready.Reason, ready.Message
		}
	}
	if reason != "" && text != "" && entry.State != v1beta2.StateReady && entry.State != v1beta2.StateUnmanaged {
		text = reason + ": " + text
	}
	return reason, text
}

func pending(reason string) bool { return reason == "" || reason == v1beta2.ReasonManifestPending }

// said returns the reason that the Kyma's condition Ready gives for a module: "...; <module>: <Reason>: <message>".
func said(kyma *v1beta2.Kyma, name string) string {
	ready := meta.FindStatusCondition(kyma.Status.Conditions, v1beta2.ConditionReady)
	if ready == nil {
		return ""
	}
	_, rest, found := strings.Cut(ready.Message, "; "+name+": ")
	reason, _, told := strings.Cut(rest, ": ")
	if !found || !told || strings.Contains(reason, " ") {
		return ""
	}
	return reason
}

// refusalText is the wording of a refusal.
type refusalText struct {
	pattern *regexp.Regexp
	reason  string
}

var placeholder = regexp.MustCompile(`\\\{[a-z]+\\\}`)

// sentences are the messages of verdicts, except those that begin with a placeholder.
var sentences = sync.OnceValue(func() []refusalText {
	var all []refusalText
	for _, rule := range module.Rules() {
		if rule.Message == "" || strings.HasPrefix(rule.Message, "{") {
			continue
		}
		text := placeholder.ReplaceAllLiteralString(regexp.QuoteMeta(rule.Message), `.*`)
		all = append(all, refusalText{regexp.MustCompile(`(?s)^` + text + `$`), rule.Reason})
	}
	return all
})

// recognised returns the reason whose sentence matches a message.
func recognised(message string) string {
	for _, s := range sentences() {
		if s.pattern.MatchString(message) {
			return s.reason
		}
	}
	return ""
}
