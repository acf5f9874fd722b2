package requirements

import (
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
)

// Facts are what is known of a Kyma and its cluster. The zero value knows nothing.
type Facts struct {
	// Modules of the Kyma by name, whatever their state. One that is not listed is not in the Kyma, provided that ModulesKnown.
	Modules map[string]Module
	// ModulesKnown reports whether Modules is complete.
	ModulesKnown bool
	// Definitions that were looked at, by name, also those that are absent. One that is not listed was not looked at.
	Definitions map[string]Definition
	// Kubernetes is the version of the cluster, such as "v1.31.4-gke.1"; empty while it is not known.
	Kubernetes string
	// Problem says why the cluster was not looked at, such as "the runtime cannot be reached"; empty where there is no reason to tell.
	Problem string
}

// Module is what is known of a module.
type Module struct {
	// Version that is installed; empty while none is.
	Version string
	// Ready reports whether it is up completely, in this version.
	Ready bool
	// Unknown reports that the version is not known, as that of a module that is not managed.
	Unknown bool
	// Detail says why it does not count although it may be there, such as "it is being upgraded to 2.0.0"; empty where there is nothing to
	// say.
	Detail string
}

// Definition is what is known of a CustomResourceDefinition that was looked at. The zero value is one that the cluster does not have.
type Definition struct {
	// Present reports whether the cluster has the definition.
	Present bool
	// Served versions; none while the definition is not established.
	Served []string
}

// Missing is a requirement that is not met, as far as is known.
type Missing struct {
	Requirement

	// Have is what there is instead, such as a version; empty where there is nothing.
	Have string
	// Unknown reports that this was not looked at, so that it may be there.
	Unknown bool
	// Sentence says what is missing and why, to follow "needs": "module istio (>=1.20 <2), which has version 1.18.0".
	Sentence string
}

// Check returns those requirements of a valid list that are not met, in their order. A requirement about something that was not looked at
// counts as not met, and is marked Unknown.
func Check(list []Requirement, facts Facts) []Missing {
	var missing []Missing
	for _, one := range list {
		var have, why string
		var unknown bool
		switch {
		case one.Module != "":
			have, why, unknown = one.checkModule(facts)
		case one.Definition != "":
			have, why, unknown = one.checkDefinition(facts)
		default:
			have, why, unknown = one.checkKubernetes(facts)
		}
		if why != "" {
			missing = append(missing, Missing{Requirement: one, Have: have, Unknown: unknown, Sentence: one.String() + ", " + why})
		}
	}
	return missing
}

// Sentences joins what is missing into one text to follow "needs".
func Sentences(missing []Missing) string {
	texts := make([]string, 0, len(missing))
	for _, one := range missing {
		texts = append(texts, one.Sentence)
	}
	return strings.Join(texts, "; ")
}

// Accepts reports whether a version of a module meets all requirements of a list that are about this module. A pre-release is only in a
// range that names a pre-release.
func Accepts(list []Requirement, module, version string) bool {
	for _, one := range list {
		if one.Module == module && one.Version != "" && !satisfies(version, one.Version) {
			return false
		}
	}
	return true
}

func (r Requirement) checkModule(facts Facts) (have, why string, unknown bool) {
	module, listed := facts.Modules[r.Module]
	suffix := ""
	if module.Detail != "" {
		suffix = ": " + module.Detail
	}
	switch {
	case !listed && !facts.ModulesKnown:
		return "", "which was not looked for yet", true
	case !listed:
		return "", "which the Kyma does not have", false
	case module.Unknown:
		return "", "whose version is not known" + suffix, true
	case module.Version == "":
		return "", "which is not installed yet" + suffix, false
	case !Accepts([]Requirement{r}, r.Module, module.Version):
		return module.Version, "which has version " + module.Version + suffix, false
	case !module.Ready:
		return module.Version, "which is not ready" + suffix, false
	}
	return module.Version, "", false
}

func (r Requirement) checkDefinition(facts Facts) (have, why string, unknown bool) {
	definition, looked := facts.Definitions[r.Definition]
	have = strings.Join(definition.Served, ", ")
	switch {
	case !looked:
		return "", "which was not looked for yet" + facts.because(), true
	case !definition.Present:
		return "", "which the cluster does not have", false
	case len(definition.Served) == 0:
		return "", "which the cluster does not serve yet", false
	case r.Served != "" && !slices.Contains(definition.Served, r.Served):
		return have, "and the cluster serves " + have, false
	}
	return have, "", false
}

func (r Requirement) checkKubernetes(facts Facts) (have, why string, unknown bool) {
	switch {
	case facts.Kubernetes == "":
		return "", "and the version of the cluster is not known yet" + facts.because(), true
	case !satisfies(kubernetesVersion(facts.Kubernetes), r.Kubernetes):
		return facts.Kubernetes, "and the cluster has " + facts.Kubernetes, false
	}
	return facts.Kubernetes, "", false
}

func (f Facts) because() string {
	if f.Problem == "" {
		return ""
	}
	return ": " + f.Problem
}

// kubernetesVersion returns the release that a cluster's version is of: v1.31.4-gke.1, v1.31.4+k3s1 and v1.31.4-eks-1a2b are 1.31.4. A
// pre-release counts as its release, since what follows the patch version cannot be told from a vendor's suffix.
func kubernetesVersion(text string) string {
	version, err := semver.NewVersion(text)
	if err != nil {
		return text
	}
	return semver.New(version.Major(), version.Minor(), version.Patch(), "", "").String()
}

func satisfies(version, within string) bool {
	ok, err := moduleversion.Satisfies(version, within)
	return err == nil && ok
}
