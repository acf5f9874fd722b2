package helm

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/strvals"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// maxSwitches is how many values are tried in the search for those that leave out hooks: each costs a render.
const maxSwitches = 6

// chartHook is an object of a chart that Helm would create and delete at some moment of an installation.
type chartHook struct {
	// object names it, with its events; file is the template that declares it.
	object, file string
}

// refuseHooks returns which hooks a chart has, and which values leave them out, where there are any.
func refuseHooks(ctx context.Context, files []content.File, input render.Input, hooks []chartHook) error {
	var named []string
	for _, hook := range hooks[:min(len(hooks), maxNamed)] {
		named = append(named, hook.object+" in "+hook.file)
	}
	rest := ""
	if left := len(hooks) - len(named); left > 0 {
		rest = fmt.Sprintf(" and %d more", left)
	}
	by := ""
	if switches := switchesOff(ctx, files, input, hooks); switches != "" {
		by = " (" + switches + ")"
	}
	return &content.Error{Reason: content.ReasonHooksRefused, Err: fmt.Errorf("the chart has hooks, which are not run: %s%s: "+
		"switch them off by values%s, or let the module's own operator do what they do", strings.Join(named, ", "), rest, by)}
}

// switchesOff returns the values that leave the hooks out, as for `helm --set`; empty where none was found. The templates of the hooks say
// by which values they decide; each that is true or false is tried with its opposite, and then all of them together. Of several that do it,
// the one counts that keeps most of the other objects: the switch of the hook, and not of all that belongs to it.
func switchesOff(ctx context.Context, files []content.File, input render.Input, hooks []chartHook) string {
	templates, values, err := examine(files, input)
	if err != nil {
		return ""
	}
	var found []string
	for _, hook := range hooks {
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
	return len(made.objects), len(made.hooks) == 0
}
