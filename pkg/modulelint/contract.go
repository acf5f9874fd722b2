package modulelint

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/kyma-project/lifecycle-manager/pkg/diagnostics"
)

// states are the values of status.state that a lifecycle manager understands.
var states = []string{"Processing", "Deleting", "Ready", "Error", "Warning"}

// stateContract warns where the module's custom resource does not report its state as Kyma modules do.
//
//  1. status is a subresource, so that only the module's operator writes it.
//  2. status.state is a string, unless state checks of the configuration read another field.
//  3. Where it has an enum, it allows exactly the five states.
func (l *linter) stateContract(d *definition, version *apiextensionsv1.CustomResourceDefinitionVersion) {
	i := slices.IndexFunc(d.crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == version.Name })
	at := fmt.Sprintf("spec.versions[%d]", i)
	note := func(field, message, fix string) {
		l.inObject(l.manifest, d.id, RuleStateContract, diagnostics.Warning, at+field, fmt.Sprintf("%s: %s", d.id, message), fix)
	}
	if version.Subresources == nil || version.Subresources.Status == nil {
		note("", "has no status subresource: every user who may write the resource may write its state", "add subresources: {status: {}}")
	}
	if len(l.Config.CustomStateCheck) > 0 || version.Schema == nil || version.Schema.OpenAPIV3Schema == nil {
		return
	}
	const path = ".schema.openAPIV3Schema.properties.status.properties.state"
	root := version.Schema.OpenAPIV3Schema
	status := root.Properties["status"]
	state, there := status.Properties["state"]
	switch {
	case keeps(root) || keeps(&status):
	case !there:
		note(path, "has no status.state: the readiness of the module cannot be determined", "add it, or map another field by customStateCheck")
	case state.Type != "string":
		note(path, "has a status.state that is not a string", "make it a string")
	case len(state.Enum) > 0:
		if missing, unknown := compare(state.Enum); len(missing)+len(unknown) > 0 {
			note(path, "has a status.state with different values: "+differences(missing, unknown), "allow "+strings.Join(states, ", "))
		}
	}
}

// keeps reports whether fields are kept that no schema names.
func keeps(schema *apiextensionsv1.JSONSchemaProps) bool {
	return schema.XPreserveUnknownFields != nil && *schema.XPreserveUnknownFields
}

// compare returns the states that an enum lacks, and its words that are not states. The empty word stands for a state that is not set yet.
func compare(enum []apiextensionsv1.JSON) (missing, unknown []string) {
	var words []string
	for _, value := range enum {
		word := ""
		if json.Unmarshal(value.Raw, &word) == nil && word != "" {
			words = append(words, word)
		}
	}
	for _, state := range states {
		if !slices.Contains(words, state) {
			missing = append(missing, state)
		}
	}
	for _, word := range words {
		if !slices.Contains(states, word) {
			unknown = append(unknown, word)
		}
	}
	return missing, unknown
}

func differences(missing, unknown []string) string {
	var parts []string
	if len(missing) > 0 {
		parts = append(parts, "without "+strings.Join(missing, ", "))
	}
	if len(unknown) > 0 {
		parts = append(parts, "with "+strings.Join(unknown, ", "))
	}
	return strings.Join(parts, ", ")
}
