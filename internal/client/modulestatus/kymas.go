package modulestatus

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// KymaLine is one Kyma as lists show it.
type KymaLine struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	State     State  `json:"state"`
	Channel   string `json:"channel"`
	// Release is the KymaRelease that it names, OnRelease the last one of which every module was ready.
	Release   string `json:"release,omitempty"`
	OnRelease string `json:"onRelease,omitempty"`
	// Modules counts the ready modules and all modules.
	Modules string `json:"modules"`
	// Local reports whether its modules are in the same cluster; Copy, that it is the copy that a hub keeps in a runtime.
	Local   bool   `json:"local"`
	Copy    bool   `json:"copy,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Created is its creation time, as RFC 3339 in UTC; empty when it is unknown.
	Created string `json:"created,omitempty"`
	// Outdated counts the modules that have a newer version.
	Outdated int `json:"outdated"`
	// Conditions are those of its status.
	Conditions []KymaCondition `json:"conditions,omitempty"`
}

// KymaCondition is a condition of a Kyma.
type KymaCondition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// Kymas returns all Kymas, sorted by namespace and name.
func Kymas(in Inputs) []KymaLine { return kymasWith(in, Modules(in)) }

// kymasWith returns the Kymas of a cluster whose modules are known.
func kymasWith(in Inputs, modules []Module) []KymaLine {
	outdated := map[string]int{}
	all := map[string]int{}
	ready := map[string]int{}
	for i := range modules {
		m := &modules[i]
		if m.Mandatory {
			continue
		}
		all[m.Kyma]++
		if m.Version.Outdated {
			outdated[m.Kyma]++
		}
		if m.State == Ready || m.State == Unmanaged {
			ready[m.Kyma]++
		}
	}
	lines := make([]KymaLine, 0, len(in.Kymas))
	for i := range in.Kymas {
		line := lineOf(&in.Kymas[i])
		key := Key{line.Namespace, line.Name}.String()
		line.Outdated = outdated[key]
		line.Modules = fmt.Sprintf("%d/%d", ready[key], all[key])
		lines = append(lines, line)
	}
	slices.SortFunc(lines, func(a, b KymaLine) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return lines
}

// KymaState returns the state of a Kyma as lists show it.
func KymaState(kyma *v1beta2.Kyma) State { return lineOf(kyma).State }

func lineOf(kyma *v1beta2.Kyma) KymaLine {
	line := KymaLine{
		Namespace: kyma.Namespace, Name: kyma.Name, State: State(kyma.Status.State), Local: kyma.Spec.Remote != nil && !*kyma.Spec.Remote,
		Copy: IsCopy(kyma), OnRelease: kyma.Status.Release,
	}
	spec := Effective(kyma)
	line.Channel, line.Release = cmp.Or(spec.Channel, v1beta2.DefaultChannel), spec.Release
	if line.Copy {
		line.Local = true
	}
	if !kyma.CreationTimestamp.IsZero() {
		line.Created = kyma.CreationTimestamp.UTC().Format("2006-01-02T15:04:05Z07:00")
	}
	for _, c := range kyma.Status.Conditions {
		if ForTools(c.Type) {
			continue
		}
		line.Conditions = append(line.Conditions, KymaCondition{c.Type, string(c.Status), c.Reason, c.Message})
		if c.Type == v1beta2.ConditionReady {
			line.Reason, line.Message = c.Reason, c.Message
		}
	}
	observed := kyma.Status.ObservedGeneration
	switch {
	case kyma.DeletionTimestamp != nil:
		line.State = Deleting
	case line.State == "":
		line.State, line.Reason, line.Message = Processing, v1beta2.ReasonPending, "the lifecycle manager has not reconciled it yet"
	case observed > 0 && observed < kyma.Generation && line.State == Ready:
		line.State, line.Reason, line.Message = Processing, v1beta2.ReasonPending, "the lifecycle manager has not reconciled the last change yet"
	}
	return line
}

// ForTools reports whether a condition says in the words of kstatus what another one says already: lists for people leave it out, in which
// True would look like good news.
func ForTools(kind string) bool {
	return kind == v1beta2.ConditionReconciling || kind == v1beta2.ConditionStalled
}
