package requirements

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
)

// The lengths that the API allows.
const (
	maxModule = 64
	maxRange  = 128
)

// Validate returns what is wrong with a list, one sentence for each fault; none when it is in order.
func Validate(list []Requirement) []error {
	var faults []error
	if len(list) > MaxCount {
		faults = append(faults, fmt.Errorf("the list has %d requirements, and may have %d", len(list), MaxCount))
	}
	for at, one := range list {
		for _, fault := range one.faults() {
			faults = append(faults, fmt.Errorf("%s: %s", position(at), fault))
		}
	}
	return faults
}

func (r Requirement) faults() []string {
	set := 0
	for _, value := range []string{r.Module, r.Definition, r.Kubernetes} {
		if value != "" {
			set++
		}
	}
	var faults []string
	add := func(fault string) {
		if fault != "" {
			faults = append(faults, fault)
		}
	}
	if set != 1 {
		add("set one of module, definition and kubernetes")
	}
	if r.Version != "" && r.Module == "" {
		add("version goes with module")
	}
	if r.Served != "" && r.Definition == "" {
		add("served goes with definition")
	}
	add(badModule(r.Module))
	add(badRange("version", r.Version))
	add(badDefinition(r.Definition))
	add(badServed(r.Served))
	add(badRange("kubernetes", r.Kubernetes))
	return faults
}

func badModule(name string) string {
	if name == "" || len(name) <= maxModule && len(validation.IsDNS1123Subdomain(name)) == 0 {
		return ""
	}
	return fmt.Sprintf("module %q is no name of a module: lower-case letters, digits, - and ., at most %d", shorten(name), maxModule)
}

func badDefinition(name string) string {
	if name == "" || strings.Contains(name, ".") && len(validation.IsDNS1123Subdomain(name)) == 0 {
		return ""
	}
	return fmt.Sprintf("definition %q is no name of a CustomResourceDefinition, such as gateways.gateway.networking.k8s.io", shorten(name))
}

func badServed(version string) string {
	if version == "" || len(validation.IsDNS1035Label(version)) == 0 {
		return ""
	}
	return fmt.Sprintf("served %q is no version of a definition, such as v1", shorten(version))
}

func badRange(field, within string) string {
	if within == "" {
		return ""
	}
	if len(within) > maxRange {
		return fmt.Sprintf("%s has %d characters, and may have %d", field, len(within), maxRange)
	}
	if _, err := moduleversion.Satisfies("0.0.0", within); err != nil || strings.TrimSpace(within) == "" {
		return fmt.Sprintf("%s %q is no range of versions, such as \">=1.20 <2\"", field, within)
	}
	return ""
}

// shorten keeps foreign texts in messages short.
func shorten(text string) string {
	if len(text) > maxRange {
		return text[:maxRange] + "..."
	}
	return text
}
