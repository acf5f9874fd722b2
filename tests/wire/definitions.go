package wire

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// gatherDefinitions reads the CustomResourceDefinitions: names, versions, columns and every field.
func gatherDefinitions(root string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(root, "config/crd/bases/*.yaml"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no definitions below %s: %w", root, err)
	}
	var facts []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(text, &crd); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		facts = append(facts, factsOf(&crd)...)
	}
	return facts, nil
}

func factsOf(crd *apiextensionsv1.CustomResourceDefinition) []string {
	names := crd.Spec.Names
	facts := []string{fmt.Sprintf("%s kind=%s list=%s singular=%s short=%s scope=%s", crd.Name, names.Kind, names.ListKind, names.Singular,
		strings.Join(names.ShortNames, ","), crd.Spec.Scope)}
	for _, version := range crd.Spec.Versions {
		of := crd.Name + " " + version.Name
		facts = append(facts, fmt.Sprintf("%s served=%t storage=%t", of, version.Served, version.Storage))
		for _, column := range version.AdditionalPrinterColumns {
			facts = append(facts, fmt.Sprintf("%s column %s %s", of, column.Name, column.JSONPath))
		}
		if version.Schema != nil && version.Schema.OpenAPIV3Schema != nil {
			facts = append(facts, fields(of, "", version.Schema.OpenAPIV3Schema)...)
		}
	}
	return facts
}

// fields lists a schema and what is below it.
func fields(of, path string, schema *apiextensionsv1.JSONSchemaProps) []string {
	var notes []string
	for _, value := range schema.Enum {
		notes = append(notes, "enum="+string(value.Raw))
	}
	if schema.Default != nil {
		notes = append(notes, "default="+string(schema.Default.Raw))
	}
	required := slices.Clone(schema.Required)
	slices.Sort(required)
	if len(required) > 0 {
		notes = append(notes, "required="+strings.Join(required, ","))
	}
	for _, rule := range schema.XValidations {
		notes = append(notes, "rule="+strings.Join(strings.Fields(rule.Rule), " "))
	}
	facts := []string{strings.TrimSpace(fmt.Sprintf("%s %s %s %s", of, orRoot(path), schema.Type, strings.Join(notes, " ")))}
	for name := range schema.Properties {
		property := schema.Properties[name]
		facts = append(facts, fields(of, path+"."+name, &property)...)
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		facts = append(facts, fields(of, path+"[]", schema.Items.Schema)...)
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		facts = append(facts, fields(of, path+"{}", schema.AdditionalProperties.Schema)...)
	}
	return facts
}

func orRoot(path string) string {
	if path == "" {
		return "."
	}
	return path
}
