package releasepreview

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/crdsafety"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
	"github.com/kyma-project/lifecycle-manager/pkg/permissions"
)

// Side is one version of a module, rendered.
type Side struct {
	// Version, and the digest of what it installs.
	Version, Digest string
	// Template of the version; nil where it is not known.
	Template *v1beta2.ModuleTemplate
	// Objects that it installs.
	Objects []*unstructured.Unstructured
	// Conditional objects, and Untried, are those of versioncontent.Version: what it may do includes them.
	Conditional []*unstructured.Unstructured
	Untried     bool
	// Requires lists what it needs before it is installed.
	Requires []v1beta2.Requirement
	// Caveats, and Secrets whose values are hidden, are those of versioncontent.Version.
	Caveats []string
	Secrets []*unstructured.Unstructured
}

// Rights returns what the version may do.
func (s *Side) Rights() permissions.Report {
	return permissions.AnalyseContent(permissions.Content{Objects: s.Objects, Conditional: s.Conditional, Untried: s.Untried})
}

// Ref names a version and its content.
type Ref struct {
	Version string `json:"version"`
	Digest  string `json:"digest,omitempty"`
}

// Changes is what changes from one version of a module to another. A first installation changes from nothing.
type Changes struct {
	From *Ref `json:"from,omitempty"`
	To   Ref  `json:"to"`
	// Rights are how what the two versions may do differs: rights, definitions, webhooks, API services and images.
	Rights permissions.Difference `json:"rights"`
	// Objects are how their objects differ.
	Objects ObjectChanges `json:"objects"`
	// Definitions are the changes of definitions that clusters refuse, or refuse unless they are allowed by name.
	Definitions []DefinitionFinding `json:"definitions,omitempty"`
	// Template are the differences of the ModuleTemplates beside the version.
	Template []Field `json:"template,omitempty"`
	// Requirements that come and go, in words.
	Requirements RequirementChanges `json:"requirements,omitzero"`
	// Downtime is true where the later version needs a maintenance window.
	Downtime bool `json:"downtime,omitempty"`
	// WayBack says whether a Kyma can go back from the later version to the earlier one.
	WayBack WayBack `json:"wayBack"`
}

// DefinitionFinding is a change of a definition that is not safe.
type DefinitionFinding struct {
	Definition string `json:"definition"`
	Rule       string `json:"rule"`
	Message    string `json:"message"`
	// Refused is true where the ModuleTemplate does not allow it: clusters that have the definition refuse the upgrade, those that have
	// objects which it concerns where OnlyWithObjects is set.
	Refused         bool `json:"refused"`
	OnlyWithObjects bool `json:"onlyWithObjects,omitempty"`
}

// RequirementChanges are the requirements of one version that the other does not have.
type RequirementChanges struct {
	Added   []v1beta2.Requirement `json:"added,omitempty"`
	Removed []v1beta2.Requirement `json:"removed,omitempty"`
}

// WayBack is what the author of a version says about going back from it.
type WayBack struct {
	// RollbackTo is the range of versions that the author vouches for; empty where there is none.
	RollbackTo string `json:"rollbackTo,omitempty"`
	// Vouched is true where the earlier version is in it.
	Vouched bool `json:"vouched"`
}

// Compare returns what changes from one version to another; before is nil where nothing is installed.
func Compare(before, after *Side) Changes {
	made := Changes{To: Ref{after.Version, after.Digest}}
	old := before
	if old == nil {
		old = &Side{}
	} else {
		made.From = &Ref{before.Version, before.Digest}
	}
	made.Rights = permissions.Compare(old.Rights(), after.Rights())
	made.Objects = DiffObjects(old.Objects, after.Objects, slices.Concat(old.Secrets, after.Secrets)...)
	made.Requirements = RequirementChanges{
		Added: lacking(after.Requires, old.Requires), Removed: lacking(old.Requires, after.Requires),
	}
	made.Definitions = definitionFindings(old, after)
	made.Template = templateFields(old, after)
	if after.Template != nil {
		made.Downtime = after.Template.Spec.RequiresDowntime && before != nil
		made.WayBack = wayBack(before, after.Template)
	}
	return made
}

// Empty reports whether the versions install the same.
func (c *Changes) Empty() bool {
	return c.Objects.Empty() && c.Rights.Empty() && len(c.Template) == 0 && len(c.Requirements.Added)+len(c.Requirements.Removed) == 0
}

func lacking(all, without []v1beta2.Requirement) []v1beta2.Requirement {
	return slices.DeleteFunc(slices.Clone(all), func(one v1beta2.Requirement) bool { return slices.Contains(without, one) })
}

// definitionFindings returns what is not safe about the change of definitions.
func definitionFindings(before, after *Side) []DefinitionFinding {
	var allowed []string
	if after.Template != nil {
		for _, rule := range after.Template.Spec.AllowCRDChanges {
			allowed = append(allowed, string(rule))
		}
	}
	var all []DefinitionFinding
	for _, finding := range crdsafety.CompareAll(before.Objects, after.Objects) {
		all = append(all, DefinitionFinding{
			Definition: finding.Definition, Rule: finding.Rule, Message: finding.String(), OnlyWithObjects: finding.Values,
			Refused: !slices.Contains(allowed, finding.Rule),
		})
	}
	return all
}

// wayBack returns what the author of a version says about going back to another.
func wayBack(before *Side, template *v1beta2.ModuleTemplate) WayBack {
	way := WayBack{RollbackTo: template.Spec.RollbackTo}
	if before == nil || way.RollbackTo == "" {
		return way
	}
	covered, err := moduleversion.Satisfies(before.Version, way.RollbackTo)
	way.Vouched = err == nil && covered
	return way
}
