package module

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/crdsafety"
)

// Limits of the spec of a Kyma in a runtime. An administrator of the runtime can remove the schema there, and an accepted spec is stored
// twice in the status of the Kyma on the hub.
const (
	maxModules = 256
	maxName    = 253
	maxWord    = 32 // of a channel and a version, as in the API
	maxText    = 256
	maxTarget  = 160 // of a version and its digest, as in the API
	// minDeadline is the shortest progressDeadline.
	minDeadline = 10 * time.Second
	maxSpec     = 32 << 10
)

var (
	channelPattern = regexp.MustCompile(`^[a-z]+$`)
	versionPattern = regexp.MustCompile(`^((0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[a-zA-Z-][0-9a-zA-Z-]*)?)?$`)
	namePattern    = regexp.MustCompile(`^[a-zA-Z0-9]([-._/a-zA-Z0-9]*[a-zA-Z0-9])?$`)
	targetPattern  = regexp.MustCompile(`^([0-9A-Za-z.+-]+@sha256:[0-9a-f]{64})?$`)
	textPattern    = regexp.MustCompile(`^[ -~]*$`)
)

// CheckRuntimeSpec refuses the spec of a Kyma that was read from a runtime when it is too large or the API would not accept it. It returns
// one sentence about the first problem.
//
// A refused spec is ignored and must not be merged: the last known spec of the runtime stays in force, and where none is known yet, nothing
// is decided.
func CheckRuntimeSpec(spec *v1beta2.KymaSpec) error {
	if len(spec.Modules) > maxModules {
		return fmt.Errorf("spec.modules has %d entries, but at most %d are accepted: remove some", len(spec.Modules), maxModules)
	}
	if err := checkChannel("spec.channel", spec.Channel); err != nil {
		return err
	}
	seen := make(map[string]struct{}, len(spec.Modules))
	size, values := 0, 0
	for i := range spec.Modules {
		entry := &spec.Modules[i]
		where := fmt.Sprintf("spec.modules[%d]", i)
		if err := checkEntry(where, entry); err != nil {
			return err
		}
		length, err := checkValues(where, entry)
		if err != nil {
			return err
		}
		if _, again := seen[entry.Name]; again {
			return fmt.Errorf("%s: module %q is named twice: keep one entry", where, entry.Name)
		}
		seen[entry.Name] = struct{}{}
		size += sizeOf(entry)
		values += length
	}
	if values > maxValues {
		return fmt.Errorf("spec.modules holds %d bytes of values, more than %d are not accepted: remove some", values, maxValues)
	}
	if size > maxSpec {
		return fmt.Errorf("spec.modules holds %d bytes of text, more than %d are not accepted: remove entries", size, maxSpec)
	}
	return nil
}

// checkEntry checks one module. It accepts channel and version together: the module's verdict refuses that.
func checkEntry(where string, entry *v1beta2.Module) error {
	if len(entry.Name) > maxName || !namePattern.MatchString(entry.Name) {
		return fmt.Errorf("%s.name %s is not a valid module name: at most %d letters, digits and \"-._/\"", where, short(entry.Name), maxName)
	}
	if entry.Channel != "" {
		if err := checkChannel(where+".channel", entry.Channel); err != nil {
			return err
		}
	}
	if len(entry.Version) > maxWord || !versionPattern.MatchString(entry.Version) {
		return fmt.Errorf("%s.version %s is no semantic version of at most %d characters", where, short(entry.Version), maxWord)
	}
	if len(entry.ControllerName) > maxText || !textPattern.MatchString(entry.ControllerName) {
		return fmt.Errorf("%s.controller %s is not accepted: at most %d printable characters", where, short(entry.ControllerName), maxText)
	}
	if len(entry.RemoteModuleTemplateRef) > maxName || !textPattern.MatchString(entry.RemoteModuleTemplateRef) {
		return fmt.Errorf("%s.remoteModuleTemplateRef %s is not accepted: at most %d printable characters",
			where, short(entry.RemoteModuleTemplateRef), maxName)
	}
	switch entry.CustomResourcePolicy {
	case "", v1beta2.CustomResourcePolicyCreateAndDelete, v1beta2.CustomResourcePolicyIgnore:
	default:
		return fmt.Errorf("%s.customResourcePolicy %s is neither %s nor %s", where, short(string(entry.CustomResourcePolicy)),
			v1beta2.CustomResourcePolicyCreateAndDelete, v1beta2.CustomResourcePolicyIgnore)
	}
	if err := checkWayBack(where, entry); err != nil {
		return err
	}
	if err := checkConsent(where, entry); err != nil {
		return err
	}
	return checkRules(where+".allowCRDChanges", entry.AllowCRDChanges)
}

// checkWayBack checks the fields that are about upgrades that fail, also those that count on the hub only.
func checkWayBack(where string, entry *v1beta2.Module) error {
	switch entry.OnFailedUpgrade {
	case "", v1beta2.FailedUpgradeNone, v1beta2.FailedUpgradeRollback:
	default:
		return fmt.Errorf("%s.onFailedUpgrade %s is neither %s nor %s", where, short(string(entry.OnFailedUpgrade)),
			v1beta2.FailedUpgradeNone, v1beta2.FailedUpgradeRollback)
	}
	if deadline := entry.ProgressDeadline; deadline != nil && deadline.Duration < minDeadline {
		return fmt.Errorf("%s.progressDeadline %s is shorter than %s", where, deadline.Duration, minDeadline)
	}
	if len(entry.Avoid) > maxTarget || !targetPattern.MatchString(entry.Avoid) {
		return fmt.Errorf(`%s.avoid %s is not "<version>@<digest>" of at most %d characters`, where, short(entry.Avoid), maxTarget)
	}
	if entry.BackTo < 0 {
		return fmt.Errorf("%s.backTo %d is negative: name the number of a revision", where, entry.BackTo)
	}
	if entry.Retry < 0 {
		return fmt.Errorf("%s.retry %d is negative: name the number of a revision", where, entry.Retry)
	}
	return nil
}

// checkConsent checks the fields that are about consent.
func checkConsent(where string, entry *v1beta2.Module) error {
	switch entry.UpgradeStrategy {
	case "", v1beta2.UpgradeAutomatic, v1beta2.UpgradeManual:
	default:
		return fmt.Errorf("%s.upgradeStrategy %s is neither %s nor %s", where, short(string(entry.UpgradeStrategy)),
			v1beta2.UpgradeAutomatic, v1beta2.UpgradeManual)
	}
	if len(entry.Approved) > maxTarget || !targetPattern.MatchString(entry.Approved) {
		return fmt.Errorf(`%s.approved %s is not "<version>@<digest>" of at most %d characters`, where, short(entry.Approved), maxTarget)
	}
	return nil
}

func checkChannel(where, channel string) error {
	if len(channel) < 3 || len(channel) > maxWord || !channelPattern.MatchString(channel) {
		return fmt.Errorf("%s %s is not a valid channel: 3 to %d lower-case letters", where, short(channel), maxWord)
	}
	return nil
}

// checkRules accepts each rule once.
func checkRules(where string, allowed []v1beta2.CRDRule) error {
	known := crdsafety.Rules()
	for i, rule := range allowed {
		at := slices.Index(known, string(rule))
		if at < 0 {
			return fmt.Errorf("%s[%d] %s is no rule, or a duplicate", where, i, short(string(rule)))
		}
		known = slices.Delete(known, at, at+1)
	}
	return nil
}

func sizeOf(entry *v1beta2.Module) int {
	size := len(entry.Name) + len(entry.ControllerName) + len(entry.Channel) + len(entry.Version) + len(entry.CustomResourcePolicy) +
		len(entry.OnFailedUpgrade) + len(entry.Avoid) + len(entry.UpgradeStrategy) + len(entry.Approved)
	for _, rule := range entry.AllowCRDChanges {
		size += len(rule)
	}
	return size
}

// short quotes the beginning of an untrusted value.
func short(value string) string {
	if len(value) > maxWord {
		return fmt.Sprintf("%q (%d characters)", value[:maxWord], len(value))
	}
	return fmt.Sprintf("%q", value)
}
