package helm

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	chart "helm.sh/helm/v4/pkg/chart/v2"
)

const (
	schemaURL = "file:///values.schema.json"
	// maxFindings is how many findings an error names.
	maxFindings = 10
)

// checkSchemas holds the values against the values.schema.json of the chart and of each subchart, as Helm does.
func checkSchemas(c *chart.Chart, values map[string]any) error {
	findings, err := schemaFindings(c, values, "")
	if err != nil || len(findings) == 0 {
		return err
	}
	rest := ""
	if left := len(findings) - maxFindings; left > 0 {
		findings, rest = findings[:maxFindings], fmt.Sprintf("; and %d more", left)
	}
	return invalidValues("the values do not fit the schema of the chart: %s%s", strings.Join(findings, "; "), rest)
}

func schemaFindings(c *chart.Chart, values map[string]any, at string) ([]string, error) {
	var findings []string
	if c.Schema != nil {
		schema, err := compileSchema(c.Schema)
		if err != nil {
			return nil, invalidChart("values.schema.json of chart %s cannot be used: %s", c.Name(), shorten(err.Error()))
		}
		if problem, ok := errors.AsType[*jsonschema.ValidationError](schema.Validate(values)); ok {
			findings = describe(problem, at)
		}
	}
	for _, subchart := range c.Dependencies() {
		below, ok := values[subchart.Name()].(map[string]any)
		if !ok {
			continue
		}
		more, err := schemaFindings(subchart, below, at+subchart.Name()+".")
		if err != nil {
			return nil, err
		}
		findings = append(findings, more...)
	}
	return findings, nil
}

func compileSchema(text []byte) (*jsonschema.Schema, error) {
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("is malformed: %w", err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(refusingLoader{})
	if err := compiler.AddResource(schemaURL, schema); err != nil {
		return nil, err
	}
	return compiler.Compile(schemaURL)
}

// refusingLoader fetches nothing, neither from the network nor from this machine.
type refusingLoader struct{}

func (refusingLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("it refers to %s, which is not fetched: put that schema into values.schema.json ($defs)", url)
}

// describe lists what is wrong, by field. It never shows values: they may be secret.
func describe(problem *jsonschema.ValidationError, at string) []string {
	if len(problem.Causes) > 0 {
		var findings []string
		for _, cause := range problem.Causes {
			findings = append(findings, describe(cause, at)...)
		}
		return findings
	}
	field := at + strings.Join(problem.InstanceLocation, ".")
	if field == "" {
		field = "the values"
	}
	var text string
	switch problem := problem.ErrorKind.(type) {
	case *kind.Pattern:
		text = "does not match " + problem.Want
	case *kind.Format:
		text = "is not valid " + problem.Want
	case *kind.ContentEncoding, *kind.ContentMediaType, *kind.InvalidJsonValue:
		text = "is not encoded as the schema asks"
	case *kind.Minimum, *kind.Maximum, *kind.ExclusiveMinimum, *kind.ExclusiveMaximum, *kind.MultipleOf:
		text = "is out of bounds: " + strings.Join(problem.KeywordPath(), "/")
	default:
		text = problem.LocalizedString(message.NewPrinter(language.English))
	}
	return []string{strings.TrimSuffix(field, ".") + ": " + shorten(text)}
}
