package helm

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"helm.sh/helm/v4/pkg/chart/common"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

const (
	// maxRenders bounds how often a chart is rendered to find out what it declares for other clusters.
	maxRenders = 32
	// nextMinors is how many minor versions of Kubernetes after that of the cluster are tried.
	nextMinors = 3
)

// exploration finds out what a chart declares for other clusters than the one that it is rendered for.
type exploration struct {
	files []content.File
	input render.Input
	// asked are all questions so far, and tried the answers that were rendered.
	asked map[string]bool
	tried []map[string]bool
	// askedVersion is true where templates looked at the version of Kubernetes.
	askedVersion bool
	renders      int
	// declared are the objects of the chart as it is, and found those that are not among them.
	declared map[inventory.ID][]*unstructured.Unstructured
	found    []*unstructured.Unstructured
	untried  bool
}

// explore returns the objects that a chart declares where a cluster serves other APIs, or is of one of the next versions of Kubernetes, and
// that it does not declare like that for the cluster of the input. Up to a handful of questions all combinations of answers are tried.
// Where there are more, or templates read the served APIs as a list, untried is true. An answer with which the chart cannot be rendered, or
// has hooks that are refused, is none that could ever be installed.
func explore(
	ctx context.Context, files []content.File, input render.Input, declared []*unstructured.Unstructured,
) (found []*unstructured.Unstructured, untried bool, err error) {
	e := &exploration{files: files, input: input, asked: map[string]bool{}, declared: map[inventory.ID][]*unstructured.Unstructured{}}
	for _, object := range declared {
		e.note(object)
	}
	e.render(ctx, nil, "")
	e.combine(ctx)
	e.upgrade(ctx)
	return e.found, e.untried, render.Interrupted(ctx)
}

// combine tries answers until no new question comes up.
func (e *exploration) combine(ctx context.Context) {
	for {
		next := e.next()
		if next == nil {
			return
		}
		if e.renders >= maxRenders {
			e.untried = true
			return
		}
		e.render(ctx, next, "")
	}
}

// next returns answers that were not tried yet; nil where there are none.
func (e *exploration) next() map[string]bool {
	questions := slices.Sorted(maps.Keys(e.asked))
	for answers := range e.combinations(questions) {
		if !slices.ContainsFunc(e.tried, func(known map[string]bool) bool { return maps.Equal(e.complete(known), answers) }) {
			return answers
		}
	}
	return nil
}

// combinations yields the answers to try: all of them where they are few; otherwise that everything is served, that nothing is, and each
// that differs in one answer from what the cluster serves.
func (e *exploration) combinations(questions []string) func(yield func(map[string]bool) bool) {
	return func(yield func(map[string]bool) bool) {
		if 1<<min(len(questions), maxRenders) <= maxRenders {
			for bits := 1<<len(questions) - 1; bits >= 0; bits-- {
				if !yield(answersOf(questions, func(i int) bool { return bits&(1<<i) != 0 })) {
					return
				}
			}
			return
		}
		e.untried = true
		present := e.complete(nil)
		some := []map[string]bool{
			answersOf(questions, func(int) bool { return true }), answersOf(questions, func(int) bool { return false }),
		}
		for _, question := range questions {
			other := maps.Clone(present)
			other[question] = !other[question]
			some = append(some, other)
		}
		for _, answers := range some {
			if !yield(answers) {
				return
			}
		}
	}
}

func answersOf(questions []string, is func(int) bool) map[string]bool {
	answers := make(map[string]bool, len(questions))
	for i, question := range questions {
		answers[question] = is(i)
	}
	return answers
}

// complete returns answers to all questions: those that are not given are what the cluster serves.
func (e *exploration) complete(given map[string]bool) map[string]bool {
	all := make(map[string]bool, len(e.asked))
	for question := range e.asked {
		answer, ok := given[question]
		all[question] = ok && answer || !ok && e.present().Has(question)
	}
	return all
}

// upgrade tries the next versions of Kubernetes, where templates look at it: with what is served now, and with everything they ask for.
func (e *exploration) upgrade(ctx context.Context) {
	if !e.askedVersion {
		return
	}
	known := len(e.asked)
	present := e.input.KubeVersion
	if present == "" {
		present = common.DefaultCapabilities.KubeVersion.Version
	}
	at, err := version.ParseGeneric(present)
	if err != nil {
		return // it could not be rendered for
	}
	everything := answersOf(slices.Sorted(maps.Keys(e.asked)), func(int) bool { return true })
	for n := range nextMinors {
		later := "v" + strconv.Itoa(int(at.Major())) + "." + strconv.Itoa(int(at.Minor())+n+1) + ".0"
		e.render(ctx, nil, later)
		e.render(ctx, everything, later)
	}
	e.untried = e.untried || len(e.asked) > known
}

// render renders the chart once and takes in what it declares.
func (e *exploration) render(ctx context.Context, answers map[string]bool, kubeVersion string) {
	e.renders++
	if kubeVersion == "" {
		e.tried = append(e.tried, answers)
	}
	input := e.input
	if kubeVersion != "" {
		input.KubeVersion = kubeVersion
	}
	asks := &cluster{answers: answers, asked: map[string]bool{}}
	rendered, err := renderChart(ctx, e.files, input, instants[0], asks)
	maps.Copy(e.asked, asks.asked)
	e.askedVersion = e.askedVersion || asks.askedVersion
	if err != nil {
		// Where Helm's own type does better, a template read it as a list: then nothing is known of its questions.
		input.APIVersions = e.served(answers)
		if rendered, err = renderChart(ctx, e.files, input, instants[0], nil); err != nil {
			return
		}
		e.untried = true
	}
	if made, err := chartObjects(rendered.files); err == nil && len(made.refused(e.input.Hooks)) == 0 {
		e.add(made.all())
	}
}

// add takes in the objects of one render.
func (e *exploration) add(objects []*unstructured.Unstructured) {
	for _, object := range objects {
		if !e.note(object) {
			continue
		}
		if len(e.found) >= render.MaxObjects {
			e.untried = true
			return
		}
		e.found = append(e.found, object)
	}
}

// served returns the APIs of a cluster that answers like that.
func (e *exploration) served(answers map[string]bool) []string {
	var apis []string
	for _, api := range e.present() {
		if answer, ok := answers[api]; answer || !ok {
			apis = append(apis, api)
		}
	}
	for api, answer := range answers {
		if answer && !slices.Contains(apis, api) {
			apis = append(apis, api)
		}
	}
	return apis
}

// present returns the APIs that the cluster of the input serves.
func (e *exploration) present() common.VersionSet {
	if len(e.input.APIVersions) > 0 {
		return e.input.APIVersions
	}
	return common.DefaultVersionSet
}

// note remembers an object, and reports whether it is new or different from those that are known.
func (e *exploration) note(object *unstructured.Unstructured) bool {
	id := inventory.IDOf(object)
	for _, known := range e.declared[id] {
		if reflect.DeepEqual(known.Object, object.Object) {
			return false
		}
	}
	e.declared[id] = append(e.declared[id], object)
	return true
}
