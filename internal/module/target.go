package module

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// moduleRequest is a request for a channel, an exact version, or the version that a release has of a module.
type moduleRequest struct{ Module, Channel, Version, Release string }

// target is the version that a request leads to. Channel is empty for a pinned version and for one of a release, which Release names.
type target struct {
	Channel, Version, Component, Release string

	Template *v1beta2.ModuleTemplate
	// admission is what a rollout says about the version that the channel offers. While it is closed, the version above is the one before, or
	// empty.
	admission admission
}

func (t target) key() ComponentKey { return ComponentKey{Name: t.Component, Version: t.Version} }

// refusal holds the rule that refuses a request, and its message.
type refusal struct {
	rule    rule
	message string
}

func refuse(r rule, pairs ...string) *refusal { return &refusal{rule: r, message: r.message(pairs...)} }

// moduleRequestOf returns the request of an entry of the spec: its own version or channel, then the Kyma's release, then its channel.
func moduleRequestOf(kyma *v1beta2.Kyma, spec *v1beta2.Module) moduleRequest {
	asked := moduleRequest{Module: spec.Name, Channel: spec.Channel, Version: spec.Version}
	switch {
	case FollowsRelease(kyma, spec):
		asked.Release = kyma.Spec.Release
	case asked.Version == "":
		asked.Channel = cmp.Or(spec.Channel, kyma.Spec.Channel, v1beta2.DefaultChannel)
	}
	return asked
}

// find implements rules 1 to 11 of Resolve without 6a: from a request to a template that this Kyma may have.
func find(w Snapshot, asked moduleRequest) (target, *refusal) {
	found, refused := requested(w, asked)
	if refused != nil {
		return found, refused
	}
	return permitted(w, asked.Module, found)
}

// requested implements rules 1 to 6 and 6b of Resolve: from a request to a version.
func requested(w Snapshot, asked moduleRequest) (target, *refusal) {
	var unversioned target // it still knows which module this one may take the place of
	if release := w.Releases[asked.Module]; release != nil {
		unversioned.Component = release.Spec.OCMComponentName
	}
	if asked.Channel != "" && asked.Version != "" {
		return unversioned, refuse(ruleChannelAndVersion, "channel", asked.Channel, "version", asked.Version)
	}
	if asked.Version != "" && w.Unpinnable[asked.Module] {
		return unversioned, refuse(ruleVersionNotAllowed, "version", asked.Version)
	}
	if asked.Channel == v1beta2.NoChannel {
		return unversioned, refuse(ruleChannelNone, "channel", asked.Channel)
	}
	release, refused := releaseOf(w, asked.Module)
	if refused != nil {
		return target{}, refused
	}
	found := target{Channel: asked.Channel, Version: asked.Version, Component: release.Spec.OCMComponentName, Release: asked.Release}
	switch {
	case asked.Release != "":
		if found.Version, refused = releasedVersion(w, asked); refused != nil {
			return unversioned, refused
		}
	case found.Version == "":
		if found.Version = offered(release, asked.Channel); found.Version == "" {
			return unversioned, refuse(ruleChannelMissing, "channel", asked.Channel, "module", asked.Module)
		}
	}
	return found, nil
}

// permitted implements rules 7 to 11 of Resolve: from a version to a template that this Kyma may have.
func permitted(w Snapshot, module string, found target) (target, *refusal) {
	var refused *refusal
	if found.Template, refused = templateOf(w, module, found.Version); refused == nil {
		refused = restriction(w, w.Releases[module], module)
	}
	if refused != nil {
		return target{Component: found.Component}, refused
	}
	return found, nil
}

// releaseOf returns a module's release if the module can be installed from it.
func releaseOf(w Snapshot, module string) (*v1beta2.ModuleReleaseMeta, *refusal) {
	release := w.Releases[module]
	switch {
	case release == nil:
		return nil, refuse(ruleReleaseMissing, "module", module, "namespace", w.Kyma.Namespace)
	case release.Spec.Mandatory != nil:
		return nil, refuse(ruleMandatory, "module", module)
	}
	return componentNamed(release)
}

// componentNamed returns the release if it names its component.
func componentNamed(release *v1beta2.ModuleReleaseMeta) (*v1beta2.ModuleReleaseMeta, *refusal) {
	if release.Spec.OCMComponentName == "" {
		return nil, refuse(ruleComponentNameMissing, "module", release.Name)
	}
	return release, nil
}

// offered returns the version that a channel offers, empty when there is none.
func offered(release *v1beta2.ModuleReleaseMeta, channel string) string {
	for _, entry := range release.Spec.Channels {
		if entry.Channel == channel {
			return entry.Version
		}
	}
	return ""
}

// templateOf returns the template of a module's version, if this Kyma may have it.
func templateOf(w Snapshot, module, version string) (*v1beta2.ModuleTemplate, *refusal) {
	template, refused := templateAt(w, module, version)
	switch {
	case refused != nil:
		return nil, refused
	case hidden(w.Kyma, template, v1beta2.LabelInternal):
		return nil, refuse(ruleInternalModule)
	case hidden(w.Kyma, template, v1beta2.LabelBeta):
		return nil, refuse(ruleBetaModule)
	case template.Spec.Mandatory:
		return nil, refuse(ruleMandatory, "module", module)
	}
	return template, nil
}

// templateAt returns the template of a module's version, without access checks.
func templateAt(w Snapshot, module, version string) (*v1beta2.ModuleTemplate, *refusal) {
	name := templateName(module, version)
	template := w.Templates[name]
	if template == nil {
		return nil, refuse(ruleTemplateMissing, "template", name)
	}
	spec := &template.Spec
	if cmp.Or(spec.ModuleName, module) != module || cmp.Or(spec.Version, version) != version {
		return nil, refuse(ruleTemplateOther, "template", name, "detail",
			fmt.Sprintf("it has moduleName %q and version %q", spec.ModuleName, spec.Version))
	}
	return template, nil
}

// hidden reports whether a template carries a visibility label that the Kyma does not.
func hidden(kyma *v1beta2.Kyma, template *v1beta2.ModuleTemplate, label string) bool {
	set := func(labels map[string]string) bool { return strings.ToLower(labels[label]) == v1beta2.EnabledValue }
	return set(template.Labels) && !set(kyma.Labels)
}

// restriction checks the operator's list of restricted modules against the selector of the release: it requires neither, or both and a
// match.
func restriction(w Snapshot, release *v1beta2.ModuleReleaseMeta, module string) *refusal {
	listed, selector := slices.Contains(w.Restricted, module), release.Spec.KymaSelector
	switch {
	case !listed && selector == nil:
		return nil
	case !listed:
		return refuse(ruleNotListed)
	case selector == nil:
		return refuse(ruleNoSelector)
	}
	matcher, err := metav1.LabelSelectorAsSelector(selector)
	switch {
	case err != nil || matcher.Empty():
		// An empty selector selects everything elsewhere. Here it selects nothing: a restriction must name its Kymas.
		return refuse(ruleSelectorUseless)
	case !matcher.Matches(labels.Set(w.Kyma.Labels)):
		return refuse(ruleNotSelected)
	}
	return nil
}
