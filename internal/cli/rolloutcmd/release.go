package rolloutcmd

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/rollouts"
	"github.com/kyma-project/lifecycle-manager/internal/client/statusreader"
)

// releaseDocument is the output of release status for programs.
type releaseDocument struct {
	console.Versioned
	rollouts.Release
}

// releaseStatus returns the command that counts the versions of a module.
func releaseStatus(c *call) *cobra.Command {
	command := &cobra.Command{
		Use:   "status MODULE",
		Short: "Show how far a module's versions are: in how many Kymas, and where they fail",
		Long: "Count the Kymas that have each version of a module, how far the versions are that its channels offer, and name those whose\n" +
			"module is not ready. It works with and without a ModuleRollout.",
		Example:           "  kyma release status eventing\n  kyma release status eventing -o json",
		Args:              named(true),
		ValidArgsFunction: c.completeReleases,
		RunE: func(command *cobra.Command, args []string) error {
			return c.runReleaseStatus(command.Context(), args[0])
		},
	}
	c.outputFlag(command, "how to write it")
	return command
}

func (c *call) runReleaseStatus(ctx context.Context, name string) error {
	cluster, err := c.target.Client()
	if err != nil {
		return err
	}
	in, release, err := c.release(ctx, cluster, name)
	if err != nil {
		return err
	}
	members, err := statusreader.ReadMembers(ctx, cluster, release)
	switch {
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("the cluster cannot be read: %w", err)
	}
	for _, unread := range members.Unread {
		return unreadable(unread)
	}
	return c.printRelease(rollouts.OfRelease(&members, release, in.RolloutOf(release.Namespace, release.Name)))
}

// release returns the release with a name.
func (c *call) release(ctx context.Context, from client.Reader, name string) (modulestatus.Inputs, *v1beta2.ModuleReleaseMeta, error) {
	namespace, bare, err := c.scope(name)
	if err != nil {
		return modulestatus.Inputs{}, nil, err
	}
	in, err := c.read(ctx, from, namespace, releaseKind)
	if err != nil {
		return in, nil, err
	}
	var found []*v1beta2.ModuleReleaseMeta
	var all []string
	for i := range in.Releases {
		all = append(all, in.Releases[i].Name)
		if in.Releases[i].Name == bare {
			found = append(found, &in.Releases[i])
		}
	}
	switch {
	case len(found) == 1:
		return in, found[0], nil
	case len(found) > 1:
		return in, nil, several(releaseKind, bare, keysOf(found))
	case unserved(&in, releaseKind):
		return in, nil, console.NotFound("this cluster has no ModuleReleaseMetas: the lifecycle manager is not installed").
			With("kyma install puts it there")
	}
	failure := console.NotFound("there is no ModuleReleaseMeta %s", bare)
	if len(all) == 0 {
		return in, nil, failure.With("kyma release set NAME CHANNEL=VERSION --component COMPONENT begins one")
	}
	return in, nil, failure.Known("releases", kymaedit.Similar(bare, all), all)
}

func (c *call) printRelease(r rollouts.Release) error {
	if !c.isText() {
		return c.console.Print(c.output.Format, console.Document{
			Data: releaseDocument{console.Kind("ReleaseStatus"), r}, Names: []string{"modulereleasemeta/" + r.Name},
		})
	}
	var text strings.Builder
	fmt.Fprintf(&text, "release/%s/%s: %s\n", r.Namespace, r.Name, kymas(r.Kymas))
	writeTable(&text, channelRows(r.Channels))
	if len(r.Versions) > 0 {
		writeTable(&text, versionRows(r.Versions))
		more(&text, r.MoreVersions, "versions")
	}
	if len(r.Failing) > 0 {
		writeTable(&text, failingRows(r.Failing))
		more(&text, r.MoreFailing, "Kymas")
	}
	_, err := io.WriteString(c.console.Out, text.String())
	return err
}

func kymas(n int) string {
	if n == 1 {
		return "1 Kyma"
	}
	return strconv.Itoa(n) + " Kymas"
}

func more(to io.Writer, n int, what string) {
	if n > 0 {
		fmt.Fprintf(to, "  and %d more %s\n", n, what)
	}
}

func channelRows(channels []rollouts.ReleaseChannel) [][]string {
	rows := [][]string{{"CHANNEL", "OFFERS", "KYMAS", "READY", "UPDATING", "FAILING", "WAITING", "DONE", "ROLLOUT"}}
	for _, c := range channels {
		name, rollout := c.Name, string(c.Phase)
		if name == "" {
			name = "(mandatory)"
		}
		if c.Wave != "" {
			rollout += " in wave " + c.Wave
		}
		done := ""
		if c.Kymas > 0 {
			done = fmt.Sprintf("%d %%", c.Ready*100/c.Kymas)
		}
		row := []string{name, c.Version}
		for _, count := range []int{c.Kymas, c.Ready, c.Updating, c.Failing, c.Waiting} {
			row = append(row, strconv.Itoa(count))
		}
		rows = append(rows, append(row, done, rollout))
	}
	return rows
}

func versionRows(versions []rollouts.VersionCount) [][]string {
	rows := [][]string{{"VERSION", "KYMAS", "READY", "FAILING"}}
	for _, v := range versions {
		name := v.Version
		if name == "" {
			name = "(none yet)"
		}
		rows = append(rows, []string{name, strconv.Itoa(v.Kymas), strconv.Itoa(v.Ready), strconv.Itoa(v.Failing)})
	}
	return rows
}

func failingRows(failing []rollouts.FailingKyma) [][]string {
	rows := [][]string{{"NOT READY", "VERSION", "CHANNEL", "STATE", "MESSAGE"}}
	for _, f := range failing {
		rows = append(rows, []string{f.Kyma, f.Version, f.Channel, string(f.State), f.Message})
	}
	return rows
}
