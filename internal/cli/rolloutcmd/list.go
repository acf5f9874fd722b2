package rolloutcmd

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/await"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/rollouts"
)

// rolloutList is the output of list and status for programs.
type rolloutList struct {
	console.Versioned
	Items []rollouts.Rollout `json:"items"`
}

// list returns the command that shows a line for each module and channel.
func list(c *call) *cobra.Command {
	command := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the rollouts: a line for each module and channel",
		Example: "  kyma rollout list\n  kyma rollout list -n kcp-system -o wide\n  kyma rollout list --watch",
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return c.follow(command.Context(), "", func(ctx context.Context, from client.Reader, namespace string) error {
				in, err := c.read(ctx, from, namespace, rolloutKind)
				if err != nil {
					return err
				}
				return c.console.Print(c.output.Format, listDocument(rollouts.All(&in), c.now()))
			})
		},
	}
	command.Flags().BoolVarP(&c.everywhere, "all-namespaces", "A", false, "the rollouts of all namespaces, regardless of --namespace")
	c.watchFlag(command)
	c.outputFlag(command, "how to write it")
	return command
}

// follow draws once, and with --watch again whenever a rollout or a release has changed. name may be that of a rollout, with its namespace.
func (c *call) follow(
	ctx context.Context, name string, draw func(ctx context.Context, from client.Reader, namespace string) error,
) error {
	cluster, err := c.target.Client()
	if err != nil {
		return err
	}
	namespace, _, err := c.scope(name)
	if err != nil {
		return err
	}
	if !c.watch {
		return draw(ctx, cluster, namespace)
	}
	events, err := await.Events(ctx, c.console, cluster, namespace, &v1beta2.ModuleRolloutList{}, &v1beta2.ModuleReleaseMetaList{})
	if err != nil {
		return err
	}
	return await.Redraw(ctx, c.console, events, func() error {
		err := draw(ctx, cluster, namespace)
		if code := console.Code(err); code == console.CodeWarning || code == console.CodeError && isQuiet(err) {
			return nil // the output shows the trouble; the exit code follows at the end, which is Ctrl-C
		}
		return err
	})
}

func listDocument(all []rollouts.Rollout, now time.Time) console.Document {
	d := console.Document{
		Data: rolloutList{Versioned: console.Kind("RolloutList"), Items: all},
		Columns: []console.Column{
			{Name: "NAMESPACE", Wide: true}, {Name: "MODULE"}, {Name: "CHANNEL"}, {Name: "FROM"}, {Name: "TO"}, {Name: "PHASE", State: true},
			{Name: "WAVE"}, {Name: "READY"}, {Name: "FAILED"}, {Name: "WAITS FOR"}, {Name: "MESSAGE", Wide: true},
		},
		Empty: "There are no rollouts: what channels name reaches every Kyma at once.",
	}
	for i := range all {
		r := &all[i]
		d.Names = append(d.Names, "modulerollout/"+r.Name)
		for j := range r.Channels {
			c := &r.Channels[j]
			ready, total, failed := sums(c)
			d.Rows = append(d.Rows, []string{
				r.Namespace, r.Name, channelText(c), c.From.Version, c.To.Version, string(c.Phase), c.Step(), fmt.Sprintf("%d/%d", ready, total),
				fmt.Sprint(failed), waitsText(c, now), c.Message,
			})
		}
		if len(r.Channels) == 0 {
			waits := ""
			if r.Phase == rollouts.Pending {
				waits = "the lifecycle manager"
			}
			d.Rows = append(d.Rows, []string{r.Namespace, r.Name, "", "", "", string(r.Phase), "", "", "", waits, r.Trouble()})
		}
	}
	return d
}

// sums adds up the waves of a channel.
func sums(c *rollouts.Channel) (ready, total, failed int32) {
	for i := range c.Waves {
		ready, total, failed = ready+c.Waves[i].Ready, total+c.Waves[i].Total, failed+c.Waves[i].Failed
	}
	return ready, total, failed
}

func channelText(c *rollouts.Channel) string {
	if c.Name == "" {
		return "(mandatory)"
	}
	return c.Name
}

// waitsText returns what a channel waits for, in a few words.
func waitsText(c *rollouts.Channel, now time.Time) string {
	switch c.WaitsFor {
	case rollouts.ForManager:
		return "the lifecycle manager"
	case rollouts.ForResume:
		return "the end of the pause"
	case rollouts.ForApproval:
		return "approval"
	case rollouts.ForEmptyWave:
		return "approval of an empty wave"
	case rollouts.ForDecision:
		return "a decision"
	case rollouts.ForKymas:
		for i := range c.Waves {
			if w := &c.Waves[i]; w.Name == c.Wave {
				return fmt.Sprintf("%d Kymas", w.Waiting+w.Updating)
			}
		}
		return "Kymas"
	case rollouts.ForSoak:
		if left, soaks := remaining(c, now); soaks {
			return "soak, " + left
		}
		return "soak"
	case rollouts.ForWayBack:
		return "the way back"
	case rollouts.ForNothing:
	}
	return ""
}

// remaining returns how long a soak takes from now on.
func remaining(c *rollouts.Channel, now time.Time) (string, bool) {
	at, is := c.Next()
	switch {
	case !is:
		return "", false
	case !at.After(now):
		return "ends now", true
	}
	return duration.HumanDuration(at.Sub(now)) + " more", true
}
