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

// wish is what is asked for: a channel or an exact version of a module.
type wish struct{ Module, Channel, Version string }

// target is the version that a wish leads to. Channel is empty for a pinned version.
type target struct {
	Channel, Version, Component string
	Template                    *v1beta2.ModuleTemplate
}

func (t target) key() ComponentKey { return ComponentKey{Name: t.Component, Version: t.Version} }

// no is a refusal: the rule and its message.
type no struct {
	rule    rule
	message string
}

func refuse(r rule, pairs ...string) *no { return &no{rule: r, message: r.message(pairs...)} }

// wishOf is what an entry of the spec asks for.
func wishOf(kyma *v1beta2.Kyma, spec *v1beta2.Module) wish {
	asked := wish{Module: spec.Name, Channel: spec.Channel, Version: spec.Version}
	if asked.Version == "" {
		asked.Channel = cmp.Or(spec.Channel, kyma.Spec.Channel, v1beta2.DefaultChannel)
	}
	return asked
}

// find follows rules 1 to 11 of Resolve: from a wish to a template that this Kyma may have.
func find(w World, asked wish) (target, *no) {
	if asked.Channel != "" && asked.Version != "" {
		return target{}, refuse(ruleChannelAndVersion, "channel", asked.Channel, "version", asked.Version)
	}
	if asked.Version != "" && w.Unpinnable[asked.Module] {
		return target{}, refuse(ruleVersionNotAllowed, "version", asked.Version)
	}
	if asked.Channel == v1beta2.NoChannel {
		return target{}, refuse(ruleChannelNone, "channel", asked.Channel)
	}
	release, refused := releaseOf(w, asked.Module)
	if refused != nil {
		return target{}, refused
	}
	found := target{Channel: asked.Channel, Version: asked.Version, Component: release.Spec.OCMComponentName}
	if found.Version == "" {
		if found.Version = offered(release, asked.Channel); found.Version == "" {
			return target{Component: found.Component}, refuse(ruleChannelMissing, "channel", asked.Channel, "module", asked.Module)
		}
	}
	if found.Template, refused = templateOf(w, asked.Module, found.Version); refused != nil {
		return target{Component: found.Component}, refused
	}
	if refused = restriction(w, release, asked.Module); refused != nil {
		return target{Component: found.Component}, refused
	}
	return found, nil
}

// releaseOf is a module's release, if it can be installed from.
func releaseOf(w World, module string) (*v1beta2.ModuleReleaseMeta, *no) {
	release := w.Releases[module]
	switch {
	case release == nil:
		return nil, refuse(ruleReleaseMissing, "module", module, "namespace", w.Kyma.Namespace)
	case release.Spec.Mandatory != nil:
		return nil, refuse(ruleMandatory, "module", module)
	}
	return componentNamed(release)
}

// componentNamed is a release that names its component.
func componentNamed(release *v1beta2.ModuleReleaseMeta) (*v1beta2.ModuleReleaseMeta, *no) {
	if release.Spec.OCMComponentName == "" {
		return nil, refuse(ruleComponentNameMissing, "module", release.Name)
	}
	return release, nil
}

// offered is the version that a channel offers, empty when there is none.
func offered(release *v1beta2.ModuleReleaseMeta, channel string) string {
	for _, entry := range release.Spec.Channels {
		if entry.Channel == channel {
			return entry.Version
		}
	}
	return ""
}

// templateOf is the template of a module's version, if this Kyma may have it.
func templateOf(w World, module, version string) (*v1beta2.ModuleTemplate, *no) {
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

// templateAt is the template of a module's version, whoever may have it.
func templateAt(w World, module, version string) (*v1beta2.ModuleTemplate, *no) {
	name := templateName(module, version)
	template := w.Templates[name]
	if template == nil {
		return nil, refuse(ruleTemplateMissing, "template", name)
	}
	spec := &template.Spec
	if cmp.Or(spec.ModuleName, module) != module || cmp.Or(spec.Version, version) != version {
		return nil, refuse(ruleTemplateOther, "template", name, "detail",
			fmt.Sprintf("it says moduleName %q and version %q", spec.ModuleName, spec.Version))
	}
	return template, nil
}

// hidden says whether a template carries a visibility label that the Kyma does not.
func hidden(kyma *v1beta2.Kyma, template *v1beta2.ModuleTemplate, label string) bool {
	set := func(labels map[string]string) bool { return strings.ToLower(labels[label]) == v1beta2.EnabledValue }
	return set(template.Labels) && !set(kyma.Labels)
}

// restriction joins the operator's list of restricted modules with the selector of the release: neither, or both and a match.
func restriction(w World, release *v1beta2.ModuleReleaseMeta, module string) *no {
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
		// An empty selector selects everything elsewhere. Here it selects nothing: whoever restricts a module says to whom.
		return refuse(ruleSelectorUseless)
	case !matcher.Matches(labels.Set(w.Kyma.Labels)):
		return refuse(ruleNotSelected)
	}
	return nil
}
