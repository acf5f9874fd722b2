package requirements

import (
	"slices"
	"strconv"
)

// Requirement is one thing that a version of a module needs before it is installed: a module, a definition in the cluster, or a version of
// Kubernetes. One of the three is set. It has the fields of the API's Requirement, and converts from and to it.
type Requirement struct {
	// Module that must be there, ready.
	Module string `json:"module,omitempty"`
	// Version is a range that the module's version must be in, such as ">=1.20 <2"; any when empty.
	Version string `json:"version,omitempty"`
	// Definition is the name of a CustomResourceDefinition, such as "gateways.gateway.networking.k8s.io".
	Definition string `json:"definition,omitempty"`
	// Served is a version that the definition must serve; any when empty.
	Served string `json:"served,omitempty"`
	// Kubernetes is a range that the cluster's version must be in, such as ">=1.31".
	Kubernetes string `json:"kubernetes,omitempty"`
}

// String returns the requirement in words, such as "module istio (>=1.20 <2)".
func (r Requirement) String() string {
	switch {
	case r.Module != "" && r.Version != "":
		return "module " + r.Module + " (" + r.Version + ")"
	case r.Module != "":
		return "module " + r.Module
	case r.Definition != "" && r.Served != "":
		return "definition " + r.Definition + " served as " + r.Served
	case r.Definition != "":
		return "definition " + r.Definition
	case r.Kubernetes != "":
		return "Kubernetes " + r.Kubernetes
	}
	return "nothing"
}

// Union returns the requirements of all lists, each once, in the order in which they come.
func Union(lists ...[]Requirement) []Requirement {
	var all []Requirement
	for _, list := range lists {
		for _, one := range list {
			if !slices.Contains(all, one) {
				all = append(all, one)
			}
		}
	}
	return all
}

// Modules returns the names of the modules that a list requires, each once, sorted.
func Modules(list []Requirement) []string {
	var names []string
	for _, one := range list {
		if one.Module != "" {
			names = append(names, one.Module)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// On returns the requirements of a list that are about a module.
func On(list []Requirement, module string) []Requirement {
	var about []Requirement
	for _, one := range list {
		if one.Module == module && module != "" {
			about = append(about, one)
		}
	}
	return about
}

// position names an entry of a list for an error message.
func position(at int) string { return "entry " + strconv.Itoa(at+1) }
