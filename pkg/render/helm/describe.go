package helm

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	chart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// Description is what a chart says of itself.
type Description struct {
	Name, Version string
	// Home, Icon and Sources are links, as their author wrote them.
	Home, Icon string
	Sources    []string
	// Values are the defaults of the chart, with those of its subcharts below their names.
	Values map[string]any
}

// Describe returns what the chart in a tree says of itself. Nothing of it is rendered.
func Describe(tree *content.Tree) (described Description, err error) {
	defer func() { // see Render
		if cause := recover(); cause != nil {
			described, err = Description{}, invalidChart("Helm's library broke off on this chart: %s", shorten(fmt.Sprint(cause)))
		}
	}()
	files, err := chartFiles(tree)
	if err != nil {
		return Description{}, err
	}
	loaded, err := loadChart(files)
	if err != nil {
		return Description{}, err
	}
	about := loaded.Metadata
	return Description{
		Name: about.Name, Version: about.Version, Home: about.Home, Icon: about.Icon, Sources: slices.Clone(about.Sources),
		Values: defaults(loaded),
	}, nil
}

// defaults returns the values that a chart has by default. What it says of a subchart goes before what that says itself.
func defaults(c *chart.Chart) map[string]any {
	all := map[string]any{}
	for _, subchart := range c.Dependencies() {
		if below := defaults(subchart); len(below) > 0 {
			all[subchart.Name()] = below
		}
	}
	own, _ := withFloats(MergeValues(c.Values, nil)).(map[string]any)
	return MergeValues(all, own)
}

// WithoutDefaults returns those of the values that are not what the chart has anyway; nil where none are left. A null stays where it takes
// away a default.
func WithoutDefaults(values, defaults map[string]any) map[string]any {
	left := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		value := values[key]
		has, known := defaults[key]
		table, isTable := value.(map[string]any)
		below, hasTable := has.(map[string]any)
		switch {
		case value == nil && !known, known && reflect.DeepEqual(value, has):
		case isTable && hasTable:
			if inner := WithoutDefaults(table, below); inner != nil {
				left[key] = inner
			}
		default:
			left[key] = copied(value)
		}
	}
	if len(left) == 0 {
		return nil
	}
	return left
}
