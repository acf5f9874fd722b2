package kymaedit

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
)

// FixKind is what a fix does.
type FixKind string

// The kinds of fixes.
const (
	// FixChannel gives the module a channel of its own, or that of the Kyma; FixVersion pins a version.
	FixChannel FixKind = "channel"
	FixVersion FixKind = "version"
	// FixApprove agrees to the version that waits for consent.
	FixApprove FixKind = "approve"
	// FixAdd adds the modules that the version requires.
	FixAdd FixKind = "add"
	// FixRetry tries the version again that the module went back from.
	FixRetry FixKind = "retry"
	// FixDelete leads to the deletion of the module, which names the objects of users that hold it.
	FixDelete FixKind = "delete"
	// FixConnect stores another kubeconfig, and FixResume ends the suspension of the Kyma.
	FixConnect FixKind = "connect"
	FixResume  FixKind = "resume"
)

// Fix is an edit that removes the cause for which a module or a Kyma is not as it was asked for.
type Fix struct {
	Kind FixKind
	// Title is what a button says.
	Title string
	// Channel and Version are the target of FixChannel and FixVersion; both are empty to follow the Kyma.
	Channel, Version string
	// Reference is the version and the content that FixApprove agrees to.
	Reference string
	// Add are the modules of FixAdd.
	Add []ModuleRequest
}

// mostFixes bounds how many channels or versions are offered to choose from.
const mostFixes = 5

// versionless are the reasons of the lifecycle manager for which an entry has no version that could be installed, so that another channel
// or version is what helps.
var versionless = []string{
	v1beta2.ReasonChannelNotFound, v1beta2.ReasonChannelInvalid, v1beta2.ReasonChannelAndVersion, v1beta2.ReasonTemplateNotFound,
	v1beta2.ReasonTemplateInvalid, v1beta2.ReasonNotInRelease, v1beta2.ReasonKymaReleaseNotFound, v1beta2.ReasonNotAllowed,
	v1beta2.ReasonDowngrade,
}

// unconnected are the reasons for which another kubeconfig is what helps.
var unconnected = []string{
	v1beta2.ReasonAccessSecretNotFound, v1beta2.ReasonKubeconfigInvalid, v1beta2.ReasonKubeconfigRefused, v1beta2.ReasonRuntimeUnauthorized,
	v1beta2.ReasonRuntimeForbidden, v1beta2.ReasonRuntimeReplaced,
}

// Fixes returns what an edit can do about the reason of a module of the Kyma, the best first. There is none where no edit of the Kyma
// helps, and none that the lifecycle manager would refuse for a reason of the same sort. history is that of the module's Manifest.
//
//  1. a suspended Kyma is resumed: until then nothing else has an effect
//  2. a deletion that objects of users hold is looked at
//  3. access that does not work is replaced
//  4. an entry without a version that may be installed gets another channel or version
//  5. a version that waits for the consent of this Kyma's user is approved
//  6. modules that the version requires are added
//  7. what the module went back from is tried again
func (s *KymaContext) Fixes(m *modulestatus.Module, history []v1beta2.Revision) []Fix {
	reason, _ := m.Explanation()
	switch {
	case m.Mandatory, modulestatus.IsCopy(s.Kyma) && slices.Contains(unconnected, reason):
		return nil
	case IsSuspended(s.Kyma):
		return s.KymaFixes(reason)
	case reason == v1beta2.ReasonDeletionBlocked:
		return []Fix{{Kind: FixDelete, Title: "See what holds the deletion"}}
	case slices.Contains(unconnected, reason):
		return s.KymaFixes(reason)
	case !s.Has(m.Name) || !IsManaged(Entry(&s.Asked, m.Name)):
		return nil
	case slices.Contains(versionless, reason):
		return s.otherVersions(m.Name, reason)
	case m.Pending != nil:
		return s.approval(m.Name)
	case reason == v1beta2.ReasonRequirementMissing:
		return s.additions(m.Name)
	case reason == v1beta2.ReasonRolledBack:
		return s.retrial(m.Name, history)
	}
	return nil
}

// KymaFixes returns what an edit can do about the reason of the Kyma itself.
func (s *KymaContext) KymaFixes(reason string) []Fix {
	switch {
	case modulestatus.IsCopy(s.Kyma), s.Kyma.DeletionTimestamp != nil:
		return nil
	case IsSuspended(s.Kyma):
		return []Fix{{Kind: FixResume, Title: "Resume the Kyma"}}
	case !s.Here() && slices.Contains(unconnected, reason):
		return []Fix{{Kind: FixConnect, Title: "Connect it with a kubeconfig"}}
	}
	return nil
}

// otherVersions returns the channels that offer a version which may be installed, that of the Kyma first; without any, such versions, the
// newest first.
func (s *KymaContext) otherVersions(name, reason string) []Fix {
	entry, offer := Entry(&s.Asked, name), s.Offers[name]
	var fixes []Fix
	own := cmp.Or(s.Asked.Channel, v1beta2.DefaultChannel)
	for _, channel := range channelsFirst(offer, own) {
		version := offer.Channels[channel]
		fix := Fix{Kind: FixChannel, Channel: channel, Title: "Follow channel " + channel + " (" + version + ")"}
		if channel == own && s.Asked.Release == "" {
			fix.Channel = ""
			fix.Title = "Follow the Kyma's channel " + channel + " (" + version + ")"
		}
		if channel != entry.Channel && s.installable(name, version) && s.leadsTo(name, fix, version) {
			fixes = append(fixes, fix)
		}
	}
	if len(fixes) > 0 && reason != v1beta2.ReasonDowngrade {
		return fixes[:min(len(fixes), mostFixes)]
	}
	return append(fixes, s.pins(entry, reason)...)
}

// channelsFirst returns the channels of an offer by name, one of them first.
func channelsFirst(offer Offer, first string) []string {
	channels := slices.Sorted(maps.Keys(offer.Channels))
	if at := slices.Index(channels, first); at > 0 {
		channels = slices.Insert(slices.Delete(channels, at, at+1), 0, first)
	}
	return channels
}

// leadsTo reports whether a fix leads to a version, and is another request than the one that was refused.
func (s *KymaContext) leadsTo(name string, fix Fix, version string) bool {
	after := s.Asked.DeepCopy()
	if fix.Channel == "" && fix.Version == "" {
		Follow(after, name)
	} else {
		Enable(after, ModuleRequest{Name: name, Channel: fix.Channel, Version: fix.Version})
	}
	wish := ModuleRequest{Name: name, Channel: fix.Channel, Version: fix.Version}
	was, is := Entry(&s.Asked, name), Entry(after, name)
	return s.Version(after, name) == version && s.Check(after, wish) == nil && (was.Channel != is.Channel || was.Version != is.Version)
}

// pins returns versions to stay at. What is installed is the one for a downgrade that was refused.
func (s *KymaContext) pins(entry *v1beta2.Module, reason string) []Fix {
	versions, verb := s.Offers[entry.Name].Versions, "Take version "
	if reason == v1beta2.ReasonDowngrade {
		versions, verb = []string{s.InstalledVersion(entry.Name)}, "Stay at version "
	}
	var fixes []Fix
	for _, version := range versions {
		fix := Fix{Kind: FixVersion, Version: version, Title: verb + version}
		if version != entry.Version && s.installable(entry.Name, version) && s.leadsTo(entry.Name, fix, version) && len(fixes) < mostFixes {
			fixes = append(fixes, fix)
		}
	}
	return fixes
}

// installable reports whether release and template of a version let this Kyma have it, and nothing higher is installed.
func (s *KymaContext) installable(name, version string) bool {
	template := s.Template(name, version)
	if template == nil || !s.selects(name) || template.Spec.ModuleName != "" && template.Name != name+"-"+version || template.Spec.Mandatory ||
		hasLabel(template.Labels, v1beta2.LabelBeta) && !hasLabel(s.Kyma.Labels, v1beta2.LabelBeta) ||
		hasLabel(template.Labels, v1beta2.LabelInternal) && !hasLabel(s.Kyma.Labels, v1beta2.LabelInternal) {
		return false
	}
	installed := ""
	if status := s.StatusOf(name); status != nil {
		installed = cmp.Or(status.InstalledVersion, status.Version)
	}
	return installed == "" || !moduleversion.IsDowngrade(installed, version)
}

// selects reports whether the release of a module is for this Kyma.
func (s *KymaContext) selects(name string) bool {
	at := slices.IndexFunc(s.Releases, func(r v1beta2.ModuleReleaseMeta) bool { return r.Name == name })
	if at < 0 || s.Releases[at].Spec.OCMComponentName == "" {
		return false
	}
	if s.Releases[at].Spec.KymaSelector == nil {
		return true
	}
	selector, err := metav1.LabelSelectorAsSelector(s.Releases[at].Spec.KymaSelector)
	return err == nil && !selector.Empty() && selector.Matches(labels.Set(s.Kyma.Labels))
}

func hasLabel(of map[string]string, name string) bool {
	return strings.EqualFold(of[name], v1beta2.EnabledValue)
}

// approval returns the consent that this Kyma's user can give.
func (s *KymaContext) approval(name string) []Fix {
	consent, err := s.FindConsent(name, "")
	if err != nil || consent.Already {
		return nil
	}
	return []Fix{{Kind: FixApprove, Title: "Approve version " + consent.Pending.Version, Reference: consent.Reference}}
}

// additions returns the modules that meet what a module requires: all of them, or none where one of them cannot be had.
func (s *KymaContext) additions(name string) []Fix {
	fix := Fix{Kind: FixAdd}
	var names []string
	for _, lacking := range s.LackingFor([]ModuleRequest{{Name: name}}) {
		if lacking.Why != "" || !s.installable(lacking.Add.Name, lacking.Version) {
			return nil
		}
		fix.Add = append(fix.Add, lacking.Add)
		names = append(names, lacking.Add.Name)
	}
	if len(fix.Add) == 0 {
		return nil
	}
	fix.Title = "Add " + strings.Join(names, ", ")
	return []Fix{fix}
}

// retrial returns the way to try again what a module went back from.
func (s *KymaContext) retrial(name string, history []v1beta2.Revision) []Fix {
	if Retry(s.Asked.DeepCopy(), name, history).Action == Unchanged {
		return nil
	}
	return []Fix{{Kind: FixRetry, Title: "Try it again"}}
}
