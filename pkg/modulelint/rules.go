package modulelint

import (
	"slices"

	"github.com/kyma-project/lifecycle-manager/pkg/diagnostics"
)

// The rules of this package.
const (
	RuleManifest       = "manifest"
	RuleImage          = "image"
	RuleImageTwins     = "image-twins"
	RuleNoNamespace    = "no-namespace"
	RuleManager        = "manager"
	RuleManagerVersion = "manager-version"
	RuleDefinition     = "definition"
	RuleDefaultCR      = "default-cr"
	RuleDefaultCRKind  = "default-cr-kind"
	RuleStateContract  = "state-contract"
	RuleAssociated     = "associated"
	RuleCRDChange      = "crd-change"
	RuleReachable      = "reachable"

	RuleWildcardRights   = "wildcard-rights"
	RuleRequirementCycle = "requirement-cycle"
)

// Rules returns the rules of this package and their meaning.
func Rules() []diagnostics.Rule {
	return []diagnostics.Rule{
		{Name: RuleManifest, Text: "The manifest declares objects, and each of them once."},
		{Name: RuleImage, Text: "Every image names a version by a tag other than latest and main, or by a digest."},
		{Name: RuleImageTwins, Text: "Images of different repositories differ in name or tag, so that copies of them can be told apart."},
		{Name: RuleNoNamespace, Text: "Namespaced objects name their namespace, or the configuration says where they go."},
		{Name: RuleManager, Text: "The manager that the configuration names is in the manifest."},
		{Name: RuleManagerVersion, Text: "A container of the manager has the version of the module as its tag."},
		{Name: RuleDefinition, Text: "An API server takes the CustomResourceDefinitions."},
		{Name: RuleDefaultCR, Text: "The default custom resource fits its definition, by schema and by CEL rules."},
		{Name: RuleDefaultCRKind, Text: "The kind of the default custom resource is defined in the manifest."},
		{Name: RuleStateContract, Text: "The module's custom resource tells its state in status.state, in the words of Kyma modules."},
		{Name: RuleAssociated, Text: "Associated resources whose group the manifest defines are among its definitions."},
		{Name: RuleCRDChange, Text: "CustomResourceDefinitions change so that clusters with an earlier version can upgrade."},
		{Name: RuleReachable, Text: "Links can be read."},
		{Name: RuleWildcardRights, Text: "Roles list the API groups, resources and verbs that the module needs."},
		{Name: RuleRequirementCycle, Text: "Modules do not require each other in a circle."},
	}
}

// Known reports whether there is a rule of that name.
func Known(rule string) bool {
	return slices.ContainsFunc(Rules(), func(r diagnostics.Rule) bool { return r.Name == rule })
}
