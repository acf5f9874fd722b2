package helm

import (
	"cmp"
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	"helm.sh/helm/v4/pkg/chart/common"
	chartvalues "helm.sh/helm/v4/pkg/chart/common/util"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

const (
	notesFile = "NOTES.txt"
	// keyCapabilities is the name by which templates know the cluster.
	keyCapabilities = "Capabilities"
	// maxProblem cuts what Helm says: it repeats what it was given.
	maxProblem = 600
)

// renderedFile is what happened to a template, or a file of crds/. Its name begins with that of the chart.
type renderedFile struct{ name, text string }

// renderedChart is what happened to a chart.
type renderedChart struct {
	// files are those that declare objects, those of crds/ first.
	files []renderedFile
	// varied are the functions that were called and give something else each time. They are known of a render that failed, too.
	varied map[string]bool
	// generated are the results of generators that were called, unless these differ each time.
	generated map[string]json.RawMessage
	// lookups are what was looked up in the cluster; they are known of a failure, too.
	lookups map[render.Lookup]bool
}

// renderChart renders a chart once. Where asks is not nil, its answers are those of the cluster that the input describes, and it notes what
// it was asked.
func renderChart(ctx context.Context, files []content.File, input render.Input, now time.Time, asks *cluster) (renderedChart, error) {
	loaded, err := loadChart(files)
	if err != nil {
		return renderedChart{}, err
	}
	values, err := renderValues(loaded, input)
	if err != nil {
		return renderedChart{}, err
	}
	bounds := newTemplateBounds(func() error { return render.Interrupted(ctx) }, now)
	bounds.generated = newGeneration(input.Generated)
	if err := bounds.instrument(loaded); err != nil {
		return renderedChart{}, err
	}
	if asks != nil {
		asks.Capabilities, _ = values[keyCapabilities].(*common.Capabilities)
		values[keyCapabilities] = asks
	}
	// Without EnableDNS nothing is looked up there.
	texts, err := engine.Engine{CustomTemplateFuncs: bounds.functions()}.RenderWithContext(ctx, loaded, values)
	if bounds.err != nil {
		return renderedChart{varied: bounds.varied, lookups: bounds.lookups}, bounds.err
	}
	if err != nil {
		problem := invalidChart("the chart cannot be rendered with these values: %s", templateProblem(err))
		return renderedChart{varied: bounds.varied, lookups: bounds.lookups}, problem
	}
	return renderedChart{declaring(loaded, texts), bounds.varied, bounds.generated.results(), bounds.lookups}, nil
}

// renderValues checks chart and values and lays one over the other, as the templates see them.
func renderValues(c *chart.Chart, input render.Input) (common.Values, error) {
	capabilities, err := capabilitiesOf(input)
	if err != nil {
		return nil, err
	}
	if err := checkChart(c, capabilities); err != nil {
		return nil, err
	}
	if err := util.ValidateReleaseName(input.Name); err != nil {
		return nil, invalidValues("the release name %q is not accepted: use at most 53 lower-case letters, digits, '-' and '.'",
			shorten(input.Name))
	}
	values := MergeValues(nil, input.Values)
	if err := util.ProcessDependencies(c, values); err != nil {
		return nil, invalidValues("the values do not fit chart %s and its subcharts: %s", c.Name(), shorten(err.Error()))
	}
	revision := 1
	if input.Generated != nil {
		revision = max(revision, input.Generated.Revision)
	}
	options := common.ReleaseOptions{
		Name: input.Name, Namespace: cmp.Or(input.Namespace, render.DefaultNamespace),
		Revision: revision, IsInstall: revision == 1, IsUpgrade: revision > 1,
	}
	// Helm's own check of the schemas fetches what they refer to from the network and from local files: checkSchemas does not.
	top, err := chartvalues.ToRenderValuesWithSchemaValidation(c, values, options, capabilities, true)
	if err != nil {
		return nil, invalidValues("the values do not fit chart %s and its subcharts: %s", c.Name(), shorten(err.Error()))
	}
	merged, err := top.Table("Values")
	if err != nil {
		return nil, invalidChart("chart %s has no values: %w", c.Name(), err)
	}
	return top, checkSchemas(c, merged)
}

// capabilitiesOf returns those of the cluster that Input describes, or Helm's own idea of one.
func capabilitiesOf(input render.Input) (*common.Capabilities, error) {
	capabilities := common.DefaultCapabilities.Copy()
	if input.KubeVersion != "" {
		version, err := common.ParseKubeVersion(input.KubeVersion)
		if err != nil {
			return nil, invalidValues("%q is no version of Kubernetes", shorten(input.KubeVersion))
		}
		capabilities.KubeVersion = *version
	}
	if len(input.APIVersions) > 0 {
		capabilities.APIVersions = slices.Clone(input.APIVersions)
	}
	return capabilities, nil
}

func declaring(c *chart.Chart, texts map[string]string) []renderedFile {
	var crds, templates []renderedFile
	for _, crd := range c.CRDObjects() {
		crds = append(crds, renderedFile{crd.Filename, string(crd.File.Data)})
	}
	for name, text := range texts {
		if !strings.HasSuffix(name, notesFile) {
			templates = append(templates, renderedFile{name, text})
		}
	}
	byName := func(a, b renderedFile) int { return cmp.Compare(a.name, b.name) }
	slices.SortFunc(crds, byName)
	slices.SortFunc(templates, byName)
	return append(crds, templates...)
}

var (
	// tplText is how the engine quotes the text that a template gave to tpl. It may come from the values, which may be secret.
	tplText = regexp.MustCompile(`(cannot parse template|during tpl function execution for) "(?:[^"\\]|\\.)*"`)
	// ownCall is what instrument put into a template.
	ownCall = regexp.MustCompile(`\(` + textFunction + ` ([^()]*)\)`)
)

// templateProblem returns what the engine says, in one line.
func templateProblem(err error) string {
	text := tplText.ReplaceAllString(err.Error(), "$1 a text")
	text = strings.Join(strings.Fields(ownCall.ReplaceAllString(text, "$1")), " ")
	if runes := []rune(text); len(runes) > maxProblem {
		// Where it began is at the beginning, and why at the end.
		return string(runes[:maxProblem/2]) + " ... " + string(runes[len(runes)-maxProblem/2:])
	}
	return text
}

// shorten makes one line of at most maxProblem characters.
func shorten(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > maxProblem {
		return string(runes[:maxProblem]) + "..."
	}
	return text
}
