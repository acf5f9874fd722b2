package communitycatalog

import (
	"slices"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/diagnostics"
	"github.com/kyma-project/lifecycle-manager/pkg/modulelint"
)

// The rules of this package.
const (
	RuleLayout        = "layout"
	RuleReadable      = "readable"
	RuleRequired      = "required"
	RuleName          = "name"
	RuleVersion       = "version"
	RuleFileName      = "file-name"
	RuleDuplicate     = "duplicate"
	RuleUnknownField  = "unknown-field"
	RuleLink          = "link"
	RuleMovingLink    = "moving-link"
	RuleDigest        = "digest"
	RuleContent       = "content"
	RuleDefault       = "default-resource"
	RuleScope         = "scope"
	RuleOperator      = "operator"
	RuleKinds         = "kinds"
	RuleIcon          = "icon"
	RuleDocumentation = "documentation"
	RuleLabel         = "label"
	RuleDeprecated    = "deprecated"
	RuleRelease       = "release"
)

// Rules returns all rules with their texts, including those for the content of modules.
func Rules() []diagnostics.Rule {
	own := []diagnostics.Rule{
		{Name: RuleLayout, Text: "A catalog's folder has modules/NAME/NAME-VERSION.yaml for each version, and nothing else below modules."},
		{Name: RuleReadable, Text: "Each file is one ModuleTemplate, or one ModuleReleaseMeta, that can be read."},
		{Name: RuleRequired, Text: "Name, module, version and the link to the module's objects are there."},
		{Name: RuleName, Text: "A ModuleTemplate takes the module's name, and is called MODULE-VERSION itself."},
		{Name: RuleVersion, Text: "The version is major, minor and patch, without a v, and one that a ModuleTemplate takes."},
		{Name: RuleFileName, Text: "The file and its folder are called as what is in it."},
		{Name: RuleDuplicate, Text: "Every version of a module is there once."},
		{Name: RuleUnknownField, Text: "Every field has a meaning."},
		{Name: RuleLink, Text: "Links are https URLs with a host and without a login."},
		{Name: RuleMovingLink, Text: "Links of a version lead to content that stays as it is: no branch, and no latest release."},
		{Name: RuleDigest, Text: "The annotation " + v1beta2.AnnotationRawManifestDigest + " pins the content of the link rawManifest."},
		{Name: RuleContent, Text: "What the link rawManifest leads to is there, and is the module's objects."},
		{Name: RuleDefault, Text: "The default custom resource is a whole one, and brings no status."},
		{Name: RuleScope, Text: "The annotation is-cluster-scoped says what the default custom resource and its definition say."},
		{Name: RuleOperator, Text: "The template names the object that runs the module's operator, by which its version is found."},
		{Name: RuleKinds, Text: "The template names the kinds that users make with the module, so that nothing is left behind when it goes."},
		{Name: RuleIcon, Text: "The module has an icon of its own."},
		{Name: RuleDocumentation, Text: "The module says where its documentation and its source code are."},
		{Name: RuleLabel, Text: "Labels and annotations that tools go by say what the fields say, and none claims the module for the operator."},
		{Name: RuleDeprecated, Text: "No field is set that has no effect any more."},
		{Name: RuleRelease, Text: "The channels of a release lead to versions that are there."},
	}
	for _, rule := range modulelint.Rules() {
		if rule.Name != modulelint.RuleReachable && rule.Name != modulelint.RuleCRDChange {
			own = append(own, rule)
		}
	}
	return own
}

// Known reports whether there is a rule of that name.
func Known(rule string) bool {
	return slices.ContainsFunc(Rules(), func(r diagnostics.Rule) bool { return r.Name == rule })
}
