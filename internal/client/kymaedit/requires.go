package kymaedit

import (
	"cmp"
	"maps"
	"slices"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

// Met says how far a requirement is met.
type Met string

// How far a requirement is met.
const (
	// MetReady: it is there.
	MetReady Met = "Ready"
	// MetWrongVersion: there is another version of it.
	MetWrongVersion Met = "WrongVersion"
	// MetNotReady: it is on its way, or has a problem.
	MetNotReady Met = "NotReady"
	// MetMissing: it is not there.
	MetMissing Met = "Missing"
	// MetUnknown: it was not looked at, or could not be read.
	MetUnknown Met = "Unknown"
)

// Required is a requirement, and what there is of it.
type Required struct {
	requirements.Requirement

	State Met `json:"state"`
	// Have is what there is, such as a version.
	Have string `json:"have,omitempty"`
	// Message says why it does not count; empty when it is ready.
	Message string `json:"message,omitempty"`
}

// CheckRequired returns how far each requirement of a list is met.
func CheckRequired(list []requirements.Requirement, facts requirements.Facts) []Required {
	all := make([]Required, 0, len(list))
	for _, one := range list {
		is := Required{Requirement: one, State: MetReady, Have: facts.Modules[one.Module].Version}
		if missing := requirements.Check([]requirements.Requirement{one}, facts); len(missing) > 0 {
			is.Have, is.Message = missing[0].Have, missing[0].Sentence
			is.State = metOf(missing[0], facts)
		}
		all = append(all, is)
	}
	return all
}

// metOf returns how far a requirement is met that is not met completely.
func metOf(missing requirements.Missing, facts requirements.Facts) Met {
	_, listed := facts.Modules[missing.Module]
	switch {
	case missing.Unknown:
		return MetUnknown
	case missing.Have == "" && listed, missing.Have == "" && facts.Definitions[missing.Definition].Present:
		return MetNotReady
	case missing.Have == "":
		return MetMissing
	case missing.Module != "" && requirements.Accepts([]requirements.Requirement{missing.Requirement}, missing.Module, missing.Have):
		return MetNotReady
	}
	return MetWrongVersion
}

// Facts returns what a Kyma says of its modules. What is in its cluster besides, it does not know.
func (s *KymaContext) Facts() requirements.Facts {
	facts := requirements.Facts{Modules: map[string]requirements.Module{}, ModulesKnown: true}
	for name, offer := range s.Offers {
		if offer.Mandatory {
			facts.Modules[name] = requirements.Module{Unknown: true, Detail: "it is mandatory, and its Manifest has its version"}
		}
	}
	for i := range s.Asked.Modules {
		entry := &s.Asked.Modules[i]
		facts.Modules[entry.Name] = factOf(entry, s.StatusOf(entry.Name))
	}
	return facts
}

func factOf(entry *v1beta2.Module, status *v1beta2.ModuleStatus) requirements.Module {
	switch {
	case !IsManaged(entry):
		return requirements.Module{Unknown: true, Detail: "it is not managed"}
	case status == nil:
		return requirements.Module{}
	case status.State == v1beta2.StateReady:
		return requirements.Module{Version: status.Version, Ready: true}
	}
	fact := requirements.Module{Version: status.InstalledVersion}
	if status.State == v1beta2.StateWarning {
		fact.Version = cmp.Or(fact.Version, status.Version)
	}
	if fact.Version != "" && status.Message != "" {
		fact.Detail = status.Message
	}
	return fact
}

// Requires returns what a version of a module needs, as its template says; none when there is no template.
func (s *KymaContext) Requires(name, version string) []requirements.Requirement {
	return modulestatus.Requires(s.Template(name, version))
}

// Graph returns which modules of the Kyma need which other modules: both by the installed version and by the one that the spec leads to,
// since the lifecycle manager keeps what either needs.
func (s *KymaContext) Graph() requirements.Graph {
	needs := map[string][]requirements.Requirement{}
	for name := range s.known() {
		installed := modulestatus.Requires(s.Installed(name))
		needs[name] = requirements.Union(installed, s.Requires(name, s.Version(&s.Asked, name)))
	}
	return requirements.NewGraph(needs)
}

// known returns the names of the modules that the Kyma requests or its status still lists.
func (s *KymaContext) known() map[string]bool {
	names := map[string]bool{}
	for i := range s.Asked.Modules {
		names[s.Asked.Modules[i].Name] = true
	}
	for i := range s.Kyma.Status.Modules {
		names[s.Kyma.Status.Modules[i].Name] = true
	}
	return names
}

// Dependents returns the modules of the Kyma that need one of some modules and are not among them, each with the modules that it needs.
func (s *KymaContext) Dependents(modules ...string) map[string][]string {
	graph, found := s.Graph(), map[string][]string{}
	for _, name := range modules {
		for _, dependent := range graph.Dependents(name) {
			if !slices.Contains(modules, dependent) && s.Has(dependent) {
				found[dependent] = append(found[dependent], name)
			}
		}
	}
	return found
}

// Cascade returns what must be removed from the Kyma with some modules: these and all that need them, in the order of removal.
func (s *KymaContext) Cascade(modules ...string) []string {
	return slices.DeleteFunc(s.Graph().Cascade(modules...), func(name string) bool {
		return !s.Has(name) && !slices.Contains(modules, name)
	})
}

// Lacking is a module that another one needs.
type Lacking struct {
	requirements.Requirement

	// For are the requested modules that need it.
	For []string
	// Add is the request that meets it: of the Kyma's channel, or else of the channel that offers a version in range. It is zero where none
	// does, or where the Kyma has the module already.
	Add ModuleRequest
	// Version that Add leads to.
	Version string
	// Why says why it cannot simply be added; empty where Add meets it.
	Why string
}

// LackingFor returns the modules that some requests need and that neither they nor the Kyma brings, in the order in which they are needed;
// what those need in turn is among them. Only modules are looked at.
func (s *KymaContext) LackingFor(wishes []ModuleRequest) []Lacking {
	look := &lookup{KymaContext: s, spec: *s.Asked.DeepCopy()}
	var open []string
	for _, wish := range wishes {
		Enable(&look.spec, wish)
		open = append(open, wish.Name)
	}
	for ; len(open) > 0; open = open[1:] {
		name := open[0]
		for _, one := range s.Requires(name, s.Version(&look.spec, name)) {
			if added := look.need(name, one); added != "" {
				open = append(open, added)
			}
		}
	}
	return look.found
}

// lookup collects what is lacking.
type lookup struct {
	*KymaContext
	spec  v1beta2.KymaSpec
	found []Lacking
}

// need notes a requirement of a module that is not met, and returns the name of the module that is to be added for it.
func (l *lookup) need(by string, one requirements.Requirement) (added string) {
	if one.Module == "" {
		return ""
	}
	if at := slices.IndexFunc(l.found, func(f Lacking) bool { return f.Requirement == one }); at >= 0 {
		l.found[at].For = append(l.found[at].For, by)
		return ""
	}
	version := l.Version(&l.spec, one.Module)
	switch entry := find(&l.spec, one.Module); {
	case l.Offers[one.Module].Mandatory:
		return ""
	case entry != nil && (version == "" || requirements.Accepts([]requirements.Requirement{one}, one.Module, version)):
		return ""
	case entry != nil:
		l.found = append(l.found, Lacking{Requirement: one, For: []string{by}, Why: "the Kyma asks for version " + version + " of it"})
		return ""
	}
	lacking := l.offered(one)
	lacking.For = []string{by}
	l.found = append(l.found, lacking)
	if lacking.Why != "" {
		return ""
	}
	Enable(&l.spec, lacking.Add)
	return one.Module
}

// offered returns how a module can be added that the Kyma does not have.
func (l *lookup) offered(one requirements.Requirement) Lacking {
	lacking := Lacking{Requirement: one}
	offer, known := l.Offers[one.Module]
	if !known {
		lacking.Why = "it is not available here"
		return lacking
	}
	own := cmp.Or(l.spec.Channel, v1beta2.DefaultChannel)
	channels := append([]string{own}, slices.Sorted(maps.Keys(offer.Channels))...)
	for _, channel := range channels {
		version, offers := offer.Channels[channel]
		if !offers || !requirements.Accepts([]requirements.Requirement{one}, one.Module, version) {
			continue
		}
		lacking.Add, lacking.Version = ModuleRequest{Name: one.Module}, version
		if channel != own {
			lacking.Add.Channel = channel
		}
		return lacking
	}
	lacking.Why = "no channel offers a version in that range"
	return lacking
}
