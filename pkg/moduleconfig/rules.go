package moduleconfig

import "github.com/kyma-project/lifecycle-manager/pkg/diagnostics"

// The rules of this package.
const (
	RuleSyntax       = "syntax"
	RuleUnknownKey   = "unknown-key"
	RuleDuplicateKey = "duplicate-key"
	RuleWrongType    = "wrong-type"
	RuleRequired     = "required"
	RuleName         = "name"
	RuleVersion      = "version"
	RuleTemplate     = "template"
	RuleLink         = "link"
	RulePath         = "path"
	RuleDuplicate    = "duplicate-name"
	RuleMetadata     = "metadata"
	RuleKind         = "kind"
	RuleChannel      = "channel"
	RuleNamespace    = "namespace"
	RuleStateCheck   = "state-check"
	RuleChoice       = "choice"
	RuleIgnored      = "ignored"
	RuleRequires     = "requires"
	RuleRollback     = "rollback-to"
)

// Rules returns the rules of this package and their meaning.
func Rules() []diagnostics.Rule {
	return []diagnostics.Rule{
		{Name: RuleSyntax, Text: "The configuration is one YAML document, a mapping, without aliases of lists and mappings."},
		{Name: RuleUnknownKey, Text: "Every key of the configuration has a meaning."},
		{Name: RuleDuplicateKey, Text: "Every key is set once."},
		{Name: RuleWrongType, Text: "Texts, booleans, lists and mappings stand where they are expected."},
		{Name: RuleRequired, Text: "What a module must have is there."},
		{Name: RuleName, Text: "The module's name is an OCM component name whose last segment is a DNS label of at least 3 characters."},
		{Name: RuleVersion, Text: "The version is a semantic version: major, minor and patch."},
		{Name: RuleTemplate, Text: "Name and version fit into a ModuleTemplate."},
		{Name: RuleLink, Text: "Links are https URLs with a host and without a login."},
		{Name: RulePath, Text: "Paths are relative to the configuration."},
		{Name: RuleDuplicate, Text: "Icons and resources have different names."},
		{Name: RuleMetadata, Text: "Labels and annotations are what Kubernetes takes."},
		{Name: RuleKind, Text: "Group, version and kind are written as Kubernetes has them."},
		{Name: RuleChannel, Text: "A channel has 3 to 32 lower-case letters."},
		{Name: RuleNamespace, Text: "The namespace is a DNS label."},
		{Name: RuleStateCheck, Text: "State checks have a JSONPath and a known state, and there is one for Ready and one for Error."},
		{Name: RuleChoice, Text: "A field with a few known values has one of them."},
		{Name: RuleRequires, Text: "Each requirement names one module, definition or range of Kubernetes versions, and not the module itself."},
		{Name: RuleRollback, Text: "The versions that can take over from this one are a range."},
		{Name: RuleIgnored, Text: "No field is set that has no effect."},
	}
}
