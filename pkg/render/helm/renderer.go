package helm

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// Renderer renders a chart as `helm template --include-crds` does, without a cluster and without DNS: lookup finds what the input says, and
// nothing where that is for no installation. The tree is the chart's directory, or holds it as its one directory.
//
//  1. Values are laid over those of the chart and its subcharts and checked against their schemas.
//  2. The objects of crds/, of the chart and the subcharts in use, are objects like all others: they are installed and upgraded.
//  3. What the templates give is parsed strictly; NOTES.txt is left out after it has had its chance to fail.
//  4. Everything is rendered twice, each time at another "now": a chart whose objects differ is refused, because each reconcile would
//     change what runs. Where they differ by what generators give (passwords, keys), and the input has the values of an installation, those
//     are taken instead, and everything is rendered twice with them.
//  5. Hooks are never dropped in silence: tests are left out, as `helm install` does. The others are an error unless the caller runs them.
//  6. An object with "helm.sh/resource-policy: keep" is marked to be kept.
type Renderer struct{}

// instants are what "now" is in the two renders. They differ in every part that a template may pick; nothing that depends on them is
// accepted, so no real clock is needed.
var instants = [2]time.Time{
	time.Date(2001, time.February, 3, 4, 5, 6, 7, time.UTC),
	time.Date(2032, time.November, 28, 19, 47, 38, 900_000_000, time.UTC),
}

// Render implements render.Renderer.
func (Renderer) Render(ctx context.Context, tree *content.Tree, input render.Input) (rendered render.Rendered, err error) {
	// The chart is hostile until it is rendered, and Helm's code was written for charts of friends.
	defer func() {
		if cause := recover(); cause != nil {
			rendered, err = render.Rendered{}, invalidChart("Helm's library broke off on this chart: %s", shorten(fmt.Sprint(cause)))
		}
	}()
	files, err := chartFiles(tree)
	if err != nil {
		return render.Rendered{}, err
	}
	with := input.Generated
	if with != nil && with.Installation == "" {
		input.Generated = nil // most charts generate nothing, or nothing that is declared
	}
	made, err := renderTwice(ctx, files, input)
	if input.Generated != with && (err != nil || len(made.differences) > 0) && generates(made.varied) {
		input.Generated = with
		made, err = renderTwice(ctx, files, input)
	}
	looks := with != nil && with.Installation == ""
	if err != nil && looks && len(made.lookups) > 0 {
		err = &render.NeedsLookups{Lookups: made.lookups, Err: err}
	}
	if err != nil {
		return render.Rendered{}, err
	}
	if len(made.differences) > 0 {
		return render.Rendered{}, nonDeterministic(files, input, made.differences, made.varied)
	}
	rendered = render.Rendered{
		Steps: [][]*unstructured.Unstructured{made.content.objects}, Hooks: made.content.hookObjects(), Generated: made.generated,
		Lookups: made.lookups,
	}
	if looks {
		rendered.ByRevision = dependsOnRevision(ctx, files, input)
	}
	if input.Explore {
		input.Generated = withResults(input.Generated, made.generated)
		rendered.Conditional, rendered.Untried, err = explore(ctx, files, input, made.content.all())
	}
	return rendered, err
}

// renders are two renders of a chart.
type renders struct {
	// content is that of the first, and differences say what is another one in the second.
	content     *chartContent
	differences []difference
	// varied are the functions that were called and give something else each time; they are known of a failure, too.
	varied map[string]bool
	// generated are the values that generators gave, the same in both.
	generated map[string]json.RawMessage
	// lookups are what was looked up; they are known of a failure, too.
	lookups []render.Lookup
}

// renderTwice renders a chart twice and compares what it declares.
func renderTwice(ctx context.Context, files []content.File, input render.Input) (made renders, err error) {
	var texts [2]renderedChart
	var contents [2]*chartContent
	for i, now := range instants {
		texts[i], err = renderChart(ctx, files, input, now, nil)
		made.varied, made.lookups = texts[i].varied, sortedLookups(texts[i].lookups)
		if err != nil {
			return made, err
		}
		// Equal texts are equal objects: the second render is parsed only if it must be compared.
		if i == 1 && slices.Equal(texts[0].files, texts[1].files) {
			continue
		}
		if contents[i], err = chartObjects(texts[i].files); err != nil {
			return made, err
		}
		if refused := contents[i].refused(input.Hooks); len(refused) > 0 {
			return made, refuseHooks(ctx, files, input, refused)
		}
		input.Generated = withResults(input.Generated, texts[i].generated)
	}
	if contents[1] != nil {
		made.differences = differences(contents[0], contents[1])
	}
	made.content, made.generated = contents[0], texts[0].generated
	return made, nil
}

func invalidChart(format string, args ...any) error {
	return content.Errorf(content.ReasonContentInvalid, format, args...)
}

func invalidValues(format string, args ...any) error {
	return content.Errorf(content.ReasonValuesInvalid, format, args...)
}
