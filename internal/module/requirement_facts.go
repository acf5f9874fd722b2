package module

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

// maxDefinitions is the number of definitions that are looked at for one Kyma at a time; each costs a stream while it is awaited.
const maxDefinitions = 64

// ClusterFacts are what is known of the cluster that a Kyma's modules are in, as far as NeededFacts asked for it.
type ClusterFacts struct {
	// Definitions that were looked at, by name, also those that are absent.
	Definitions map[string]requirements.Definition
	// Kubernetes is the version of the cluster; empty while it is not known.
	Kubernetes string
	// Problem says why the cluster cannot be looked at; empty when it can, and while it is being looked at for the first time.
	Problem string
}

// ClusterNeeds names facts about the cluster.
type ClusterNeeds struct {
	// Definitions by name, sorted.
	Definitions []string
	// Kubernetes reports whether its version is needed.
	Kubernetes bool
}

// None reports whether nothing is needed.
func (n ClusterNeeds) None() bool { return len(n.Definitions) == 0 && !n.Kubernetes }

// NeededFacts returns which facts about the cluster Resolve depends on: those that versions require which modules do not have yet. At rest
// it is none. Components that are needed must be known.
func NeededFacts(w Snapshot) ClusterNeeds {
	needs := ClusterNeeds{}
	if !requiresAnything(w) {
		return needs
	}
	r := newResolver(w)
	r.resolve()
	for _, gate := range r.needs.gates {
		for _, one := range gate.requires {
			switch {
			case one.Definition != "":
				needs.Definitions = append(needs.Definitions, one.Definition)
			case one.Kubernetes != "":
				needs.Kubernetes = true
			}
		}
	}
	slices.Sort(needs.Definitions)
	needs.Definitions = slices.Compact(needs.Definitions)
	needs.Definitions = needs.Definitions[:min(len(needs.Definitions), maxDefinitions)]
	return needs
}

// HeldByRequirement reports whether a Kyma says of a module that rule 14a holds a version back. The entry is that of the Kyma's status; a
// mandatory module has none, and is in a condition.
func HeldByRequirement(kyma *v1beta2.Kyma, entry *v1beta2.ModuleStatus, module, version string) bool {
	said := ""
	if entry != nil {
		said = entry.Message
	} else if told := conditions.Find(kyma.Status.Conditions, v1beta2.ConditionMandatoryModules); told != nil && module != "" {
		_, said, _ = strings.Cut("; "+told.Message, "; "+module+": ")
		said, _, _ = strings.Cut(said, "; ")
	}
	return said != "" && slices.ContainsFunc([]rule{
		ruleRequirementMissing, ruleRequirementCycle, ruleWouldBreak, ruleBreaksNoMore, ruleRequirementInvalid,
	}, func(r rule) bool {
		lead, _, _ := strings.Cut(r.message("version", version, "template", templateName(module, version)), "{detail}")
		return strings.Contains(said, lead)
	})
}

// requiresAnything reports whether any version that may count requires anything.
func requiresAnything(w Snapshot) bool {
	for _, template := range w.Templates {
		if len(template.Spec.Requires) > 0 || template.Annotations[v1beta2.AnnotationRequires] != "" {
			return true
		}
	}
	for _, component := range w.Components {
		if len(component.Requires) > 0 {
			return true
		}
	}
	for i := range w.Manifests {
		if w.Manifests[i].Annotations[v1beta2.AnnotationRequires] != "" {
			return true
		}
	}
	return false
}

// standsReady reports whether a Manifest's installation is ready as the Manifest asks for it now.
func (r *resolver) standsReady(v *Verdict) bool {
	manifest := v.Manifest
	if manifest == nil || terminating(manifest) || leaving(manifest) || !observed(manifest) {
		return false
	}
	readiness := r.Snapshot.Kyma.Spec.Readiness
	if template := r.Templates[templateName(v.Module, manifest.Spec.Version)]; template != nil {
		readiness = cmp.Or(readiness, template.Spec.Readiness)
	}
	installation := judgeInstallation(manifest)
	switch readiness {
	case v1beta2.ReadinessBoth:
		installation = worse(installation, judgeResource(manifest))
	case v1beta2.ReadinessModuleCR:
		installation = judgeByResource(installation, judgeResource(manifest))
	case v1beta2.ReadinessWorkloads:
	}
	return installation.state == v1beta2.StateReady
}
