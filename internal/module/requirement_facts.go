package module

import (
	"cmp"
	"fmt"
	"regexp"
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
	// Problem says that more definitions are needed than are named; empty where all are.
	Problem string
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
	for _, one := range r.needs.later { // its definitions wait until the wave begins: each takes a stream
		needs.Kubernetes = needs.Kubernetes || one.Kubernetes != ""
	}
	slices.Sort(needs.Definitions)
	needs.Definitions = slices.Compact(needs.Definitions)
	if len(needs.Definitions) > maxDefinitions {
		needs.Definitions = needs.Definitions[:maxDefinitions]
		needs.Problem = fmt.Sprintf("more than %d definitions are awaited", maxDefinitions)
	}
	return needs
}

// requirementDetails are the messages of rule 14a, each with what its detail begins with: a version can also need downtime, and wait until
// its rollout goes on.
var requirementDetails = map[rule][]string{
	ruleRequirementMissing: {"module ", "definition ", "Kubernetes "},
	ruleBreaksNoMore:       {"module ", "other modules "},
	ruleRequirementCycle:   {""},
	ruleWouldBreak:         {""},
	ruleRequirementInvalid: {""},
}

// HeldByRequirement reports whether a Kyma says of a module that rule 14a holds a version back. The entry is that of the Kyma's status; a
// mandatory module has none, and is in a condition.
func HeldByRequirement(kyma *v1beta2.Kyma, entry *v1beta2.ModuleStatus, module, version string) bool {
	said := ""
	if entry != nil {
		said = entry.Message
	} else if told := conditions.Find(kyma.Status.Conditions, v1beta2.ConditionMandatoryModules); told != nil {
		said = toldOf(told.Message, module)
	}
	for r, details := range requirementDetails {
		lead, _, _ := strings.Cut(r.message("version", version, "template", templateName(module, version)), "{detail}")
		if slices.ContainsFunc(details, func(detail string) bool { return strings.Contains(said, lead+detail) }) {
			return true
		}
	}
	return false
}

// nextTold is where the message of a condition goes on with another module: its name and its reason.
var nextTold = regexp.MustCompile(`; [a-z0-9.-]+: [A-Z][A-Za-z]+: `)

// toldOf returns what the message of condition MandatoryModules says of a module, which may be more than one sentence.
func toldOf(message, module string) string {
	_, said, _ := strings.Cut(message, "; "+module+": ")
	if next := nextTold.FindStringIndex(said); next != nil {
		said = said[:next[0]]
	}
	return said
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
