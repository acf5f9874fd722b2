package helm

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// lookup takes the place of Helm's function, which asks the cluster while it renders. Here the answer is a part of the input: of an
// installation everything that is looked up must have one, and where content is only looked at nothing is found.
func (b *templateBounds) lookup(apiVersion, kind, namespace, name string) (map[string]any, error) {
	query := render.Lookup{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name}
	b.lookups[query] = true
	if len(b.lookups) > render.MaxLookups {
		b.err = content.Errorf(content.ReasonContentTooLarge, "the templates of the chart look up more than %d objects", render.MaxLookups)
		return nil, b.err
	}
	found := map[string]any{}
	if b.generated == nil || b.generated.invents {
		return found, b.spend(turn)
	}
	answer, ok := b.generated.found[query.String()]
	if !ok {
		b.err = &render.Unanswered{Lookup: query}
		return nil, b.err
	}
	if err := b.spend(turn + int64(4*len(answer))); err != nil || string(answer) == "null" {
		return found, err
	}
	if err := json.Unmarshal(answer, &found); err != nil {
		b.err = content.Errorf(content.ReasonGeneratedValuesLost, "what is kept of %s, which the chart looks up, is no object", query)
	}
	return found, b.err
}

// sortedLookups returns what was looked up, in an order of its own.
func sortedLookups(asked map[render.Lookup]bool) []render.Lookup {
	return slices.SortedFunc(maps.Keys(asked), func(a, b render.Lookup) int { return strings.Compare(a.String(), b.String()) })
}

// releaseFields are what templates know of the release beside its name, and what tells an upgrade from an installation.
var releaseFields = []string{"IsUpgrade", "IsInstall", "Revision"}

// namesRevision reports whether a template of the chart or its subcharts names one of these fields.
func namesRevision(c *chart.Chart) bool {
	names := func(file *common.File) bool {
		return slices.ContainsFunc(releaseFields, func(field string) bool { return bytes.Contains(file.Data, []byte(field)) })
	}
	return slices.ContainsFunc(c.Templates, names) || slices.ContainsFunc(c.Dependencies(), namesRevision)
}

// dependsOnRevision reports whether an upgrade declares something else than an installation does, or nothing at all. It costs two renders
// more of a chart that names one of these fields, and nothing otherwise.
func dependsOnRevision(ctx context.Context, files []content.File, input render.Input) bool {
	if loaded, err := loadChart(files); err != nil || !namesRevision(loaded) {
		return false
	}
	input.Generated = &render.Generated{Revision: 1}
	first, err := renderChart(ctx, files, input, instants[0], nil)
	if err != nil {
		return false
	}
	input.Generated = &render.Generated{Revision: 2}
	second, err := renderChart(ctx, files, input, instants[0], nil)
	return err != nil || !slices.Equal(first.files, second.files)
}
