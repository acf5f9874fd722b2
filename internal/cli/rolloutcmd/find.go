package rolloutcmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/statusreader"
)

// The kinds that these commands read, as messages name them.
const (
	rolloutKind = "ModuleRollout"
	releaseKind = "ModuleReleaseMeta"
)

// scope returns the namespace that is read, empty for all, and the name without it. A name may be NAMESPACE/NAME.
func (c *call) scope(name string) (namespace, bare string, err error) {
	if before, after, cut := strings.Cut(name, "/"); cut {
		return before, after, nil
	}
	namespace, explicit, err := c.target.Namespace()
	if err != nil || !explicit || c.everywhere {
		return "", name, err
	}
	return namespace, name, nil
}

// read returns the rollouts and releases of a namespace. A kind that cannot be read is an error if there is nothing to show without it,
// and a warning otherwise.
func (c *call) read(ctx context.Context, from client.Reader, namespace string, needed string) (modulestatus.Inputs, error) {
	in, err := statusreader.ReadRollouts(ctx, from, namespace)
	switch {
	case err != nil && ctx.Err() != nil:
		return in, ctx.Err()
	case err != nil:
		return in, fmt.Errorf("the cluster cannot be read: %w", err)
	}
	for _, unread := range in.Unread {
		if unread.Kind == needed {
			return in, unreadable(unread)
		}
		c.console.Sayf("Warning: %s", unread.Message())
	}
	if needed == rolloutKind && unserved(&in, rolloutKind) {
		return in, noKind(&in)
	}
	if namespace != "" && len(in.Rollouts)+len(in.Releases) == 0 {
		return in, c.target.CheckNamespace(ctx, from)
	}
	return in, nil
}

func unreadable(unread modulestatus.Unread) error {
	failure := &console.Failure{Code: console.CodeError, Err: fmt.Errorf("nothing can be shown: %s", unread.Message())}
	if unread.Forbidden && unread.Namespace == "" {
		return failure.With("--namespace asks in one namespace only")
	}
	if unread.Forbidden {
		return failure.With("ask an administrator of the cluster for the right to list %s", unread.GroupKind)
	}
	return failure
}

func unserved(in *modulestatus.Inputs, kind string) bool {
	return slices.ContainsFunc(in.Unserved, func(k schema.GroupKind) bool { return k.Kind == kind })
}

// noKind returns the error for a cluster that does not know ModuleRollouts.
func noKind(in *modulestatus.Inputs) error {
	if unserved(in, releaseKind) {
		return console.NotFound("this cluster has no ModuleRollouts: the lifecycle manager is not installed").With("kyma install puts it there")
	}
	return console.NotFound("this cluster has no ModuleRollouts: its lifecycle manager is too old for releases in waves").
		With("kyma install brings it up to date; until then a channel that moves reaches every Kyma at once")
}

// find returns the rollout with a name, or the only one there is.
func (c *call) find(ctx context.Context, from client.Reader, name string) (modulestatus.Inputs, *v1beta2.ModuleRollout, error) {
	namespace, bare, err := c.scope(name)
	if err != nil {
		return modulestatus.Inputs{}, nil, err
	}
	in, err := c.read(ctx, from, namespace, rolloutKind)
	if err != nil {
		return in, nil, err
	}
	var found []*v1beta2.ModuleRollout
	var all []string
	for i := range in.Rollouts {
		all = append(all, in.Rollouts[i].Name)
		if bare == "" || in.Rollouts[i].Name == bare {
			found = append(found, &in.Rollouts[i])
		}
	}
	switch {
	case len(found) == 1:
		return in, found[0], nil
	case len(found) > 1:
		return in, nil, several("ModuleRollout", bare, keysOf(found))
	case bare == "":
		return in, nil, console.NotFound("there is no ModuleRollout").With("without one, a channel that moves reaches every Kyma at once")
	}
	return in, nil, c.absent(&in, bare, all)
}

// absent returns the error for a module without a rollout.
func (c *call) absent(in *modulestatus.Inputs, name string, all []string) error {
	if slices.ContainsFunc(in.Releases, func(r v1beta2.ModuleReleaseMeta) bool { return r.Name == name }) {
		return console.NotFound("module %s has no ModuleRollout: what its channels name reaches every Kyma at once", name).
			With("kyma release status %s shows how far its versions are", name)
	}
	failure := console.NotFound("there is no ModuleRollout %s", name)
	if len(all) == 0 {
		return failure.With("without one, a channel that moves reaches every Kyma at once")
	}
	return failure.Known("rollouts", kymaedit.Similar(name, all), all)
}

// several returns the error for a name that several namespaces have.
func several(kind, name string, keys []string) error {
	slices.Sort(keys)
	text := fmt.Sprintf("there are %d %ss", len(keys), kind)
	if name != "" {
		text += " " + name
	}
	return console.Usage("%s, and none is named: %s", text, strings.Join(keys[:min(len(keys), 10)], ", ")).With("name one as NAMESPACE/NAME")
}

func keysOf[T client.Object](objects []T) []string {
	var keys []string
	for _, o := range objects {
		keys = append(keys, client.ObjectKeyFromObject(o).String())
	}
	return keys
}

// nothing is the directive that completes no file names.
const nothing = cobra.ShellCompDirectiveNoFileComp

// glance returns what completion needs, and nothing if that cannot be read.
func (c *call) glance(ctx context.Context, name string) modulestatus.Inputs {
	cluster, err := c.target.Client()
	if err != nil {
		return modulestatus.Inputs{}
	}
	namespace, _, err := c.scope(name)
	if err != nil {
		return modulestatus.Inputs{}
	}
	in, err := statusreader.ReadRollouts(ctx, cluster, namespace)
	if err != nil {
		return modulestatus.Inputs{}
	}
	return in
}

// completeRollouts completes the names of rollouts.
func (c *call) completeRollouts(command *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, nothing
	}
	in := c.glance(command.Context(), "")
	var names []string
	for i := range in.Rollouts {
		names = append(names, in.Rollouts[i].Name)
	}
	slices.Sort(names)
	return slices.Compact(names), nothing
}

// completeReleases completes the names of modules that have a release.
func (c *call) completeReleases(command *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, nothing
	}
	in := c.glance(command.Context(), "")
	var names []string
	for i := range in.Releases {
		names = append(names, in.Releases[i].Name)
	}
	slices.Sort(names)
	return slices.Compact(names), nothing
}

// completeChannels completes the channels of the named rollout, or of all.
func (c *call) completeChannels(command *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return c.wordsOf(command, args, func(channel *v1beta2.RolloutChannel) string { return channel.Name }), nothing
}

// completeWaves completes the waves that are under way.
func (c *call) completeWaves(command *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return c.wordsOf(command, args, func(channel *v1beta2.RolloutChannel) string { return channel.Wave }), nothing
}

// wordsOf returns a word of each channel of the named rollout, or of all rollouts.
func (c *call) wordsOf(command *cobra.Command, args []string, of func(*v1beta2.RolloutChannel) string) []string {
	name := strings.Join(args[:min(len(args), 1)], "")
	in := c.glance(command.Context(), name)
	var words []string
	for i := range in.Rollouts {
		if name != "" && in.Rollouts[i].Name != name[strings.LastIndex(name, "/")+1:] {
			continue
		}
		for j := range in.Rollouts[i].Status.Channels {
			if word := of(&in.Rollouts[i].Status.Channels[j]); word != "" {
				words = append(words, word)
			}
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}
