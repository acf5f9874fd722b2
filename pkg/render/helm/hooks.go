package helm

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/strvals"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/hooks"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// maxSwitches is how many values are tried in the search for those that leave out hooks: each costs a render.
const maxSwitches = 6

// chartHook is an object of a chart that Helm would create and delete at some moment of an installation.
type chartHook struct {
	object *unstructured.Unstructured
	// file is the template that declares it.
	file string
	// unknown: it is for an event that Helm does not know.
	unknown bool
}

// String names the hook with its events and its template.
func (h *chartHook) String() string {
	events := shorten(h.object.GetAnnotations()[hooks.AnnotationEvents])
	return fmt.Sprintf("%s (%s) in %s", inventory.IDOf(h.object), events, h.file)
}

// refuseHooks returns which hooks of a chart are refused, and which values leave them out, where there are any.
func refuseHooks(ctx context.Context, files []content.File, input render.Input, refused []chartHook) error {
	var named []string
	for i := range refused[:min(len(refused), maxNamed)] {
		named = append(named, refused[i].String())
	}
	rest := ""
	if left := len(refused) - len(named); left > 0 {
		rest = fmt.Sprintf(" and %d more", left)
	}
	by := ""
	if switches := switchesOff(ctx, files, input, refused); switches != "" {
		by = " (" + switches + ")"
	}
	why, other := "the chart has hooks, which are not run", "let the module's own operator do what they do"
	if input.Hooks {
		why, other = "the chart has hooks for events that there are not", "correct the annotation "+hooks.AnnotationEvents
	}
	return &content.Error{Reason: content.ReasonHooksRefused, Err: fmt.Errorf("%s: %s%s: switch them off by values%s, or %s",
		why, strings.Join(named, ", "), rest, by, other)}
}

// switchesOff returns the values that leave the hooks out, as for `helm --set`; empty where none was found. The templates of the hooks say
// by which values they decide; each that is true or false is tried with its opposite, and then all of them together. Of several that do it,
// the one counts that keeps most of the other objects: the switch of the hook, and not of all that belongs to it.
func switchesOff(ctx context.Context, files []content.File, input render.Input, refused []chartHook) string {
	templates, values, err := examine(files, input)
	if err != nil {
		return ""
	}
	var found []string
	for _, hook := range refused {
		for _, value := range templates.read(hook.file).asks {
			value = inRoot(hook.file, value)
			now, err := values.PathValue(value)
			on, isSwitch := now.(bool)
			if set := fmt.Sprintf("%s=%t", value, !on); err == nil && isSwitch && !slices.Contains(found, set) {
				found = append(found, set)
			}
		}
	}
	found = found[:min(len(found), maxSwitches)]
	best, most := "", -1
	for _, set := range found {
		if objects, without := withoutHooks(ctx, files, input, set); without && objects > most {
			best, most = set, objects
		}
	}
	if all := strings.Join(found, ","); best == "" && len(found) > 1 {
		if _, without := withoutHooks(ctx, files, input, all); without {
			return all
		}
	}
	return best
}

// withoutHooks renders the chart once with other values, and says whether it has no hook then, and how many objects.
func withoutHooks(ctx context.Context, files []content.File, input render.Input, set string) (objects int, without bool) {
	changes, err := strvals.Parse(set)
	if err != nil {
		return 0, false
	}
	input.Values = MergeValues(input.Values, changes)
	rendered, err := renderChart(ctx, files, input, instants[0], nil)
	if err != nil {
		return 0, false
	}
	made, err := chartObjects(rendered.files)
	if err != nil {
		return 0, false
	}
	return len(made.objects), len(made.refused(input.Hooks)) == 0
}
