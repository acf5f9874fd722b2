package rolloutcmd

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/cli-runtime/pkg/printers"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/rollouts"
)

// status returns the command that explains one rollout.
func status(c *call) *cobra.Command {
	command := &cobra.Command{
		Use:   "status [NAME]",
		Short: "Explain how far a rollout is, and what it waits for",
		Long: "Explain how far a rollout is: its waves, what it waits for, which Kymas failed, and what can be done. NAME may be left out\n" +
			"where there is only one. The exit code is 0 while it goes on and once it is completed or aborted, 2 when nothing goes on before a\n" +
			"person acts, and 1 when too many Kymas failed or the plan cannot be carried out.\n\n" +
			"--wait returns when it has completed. It ends with exit code 1 when it halts, goes back or is aborted, and with 3 after --timeout.",
		Example: "  kyma rollout status eventing\n  kyma rollout status eventing --watch\n" +
			"  kyma rollout status eventing --wait --timeout 12h --channel regular\n  kyma rollout status eventing -o json",
		Args:              named(false),
		ValidArgsFunction: c.completeRollouts,
		RunE: func(command *cobra.Command, args []string) error {
			return c.runStatus(command.Context(), strings.Join(args, ""))
		},
	}
	c.watchFlag(command)
	command.Flags().BoolVar(&c.wait, "wait", false, "wait until it has completed, and show the progress")
	command.Flags().DurationVar(&c.timeout, "timeout", 0, "how long to wait with --wait (default: as long as it takes)")
	c.channelFlag(command, "only this channel")
	c.outputFlag(command, "how to write it")
	return command
}

func (c *call) runStatus(ctx context.Context, name string) error {
	switch {
	case c.wait && c.watch:
		return console.Usage("--wait and --watch exclude each other").With("--wait shows the progress, too")
	case c.timeout < 0 || c.timeout > 0 && !c.wait:
		return console.Usage("--timeout=%s makes no sense", c.timeout).With("it is for --wait, and positive")
	case c.wait:
		return c.waitCompleted(ctx, name)
	}
	return c.follow(ctx, name, func(ctx context.Context, from client.Reader, _ string) error {
		r, err := c.described(ctx, from, name)
		if err != nil {
			return err
		}
		if err := c.printStatus(&r); err != nil {
			return err
		}
		return console.Quiet(code(&r))
	})
}

// described returns a rollout, limited to the channel of --channel.
func (c *call) described(ctx context.Context, from client.Reader, name string) (rollouts.Rollout, error) {
	in, found, err := c.find(ctx, from, name)
	if err != nil {
		return rollouts.Rollout{}, err
	}
	r := rollouts.Describe(found, rollouts.ReleaseOf(&in, found))
	if c.channel == "" {
		return r, nil
	}
	var all []string
	for _, channel := range r.Channels {
		all = append(all, channel.Name)
		if channel.Name == c.channel {
			r.Channels, r.Phase = []rollouts.Channel{channel}, channel.Phase
			return r, nil
		}
	}
	return r, judged(&rollouts.UnknownChannelError{Rollout: r.Name, Channel: c.channel, Channels: all})
}

// code returns the exit code of a rollout.
func code(r *rollouts.Rollout) int {
	worst := console.CodeOK
	if r.Problem != "" {
		return console.CodeError
	}
	for i := range r.Channels {
		channel := &r.Channels[i]
		if channel.Offered != "" {
			continue // the status speaks of an earlier version
		}
		switch channel.Phase {
		case v1beta2.RolloutHalted, v1beta2.RolloutRollingBack, v1beta2.RolloutRolledBack:
			return console.CodeError
		default:
			if channel.WaitsFor.NeedsPerson() {
				worst = console.CodeWarning
			}
		}
	}
	return worst
}

// isQuiet reports whether an error is an exit code only.
func isQuiet(err error) bool {
	failure, is := err.(*console.Failure) //nolint:errorlint // those of Quiet are wrapped by nothing
	return is && failure.Err == nil
}

func (c *call) printStatus(r *rollouts.Rollout) error {
	if !c.isText() {
		return c.console.Print(c.output.Format, listDocument([]rollouts.Rollout{*r}, c.now()))
	}
	var text strings.Builder
	c.explain(&text, r)
	_, err := io.WriteString(c.console.Out, text.String())
	return err
}

// explain writes everything about a rollout.
func (c *call) explain(to io.Writer, r *rollouts.Rollout) {
	fmt.Fprintf(to, "rollout/%s/%s: %s\n", r.Namespace, r.Name, c.console.State(string(r.Phase)))
	line := func(name, text string) {
		if text = console.OneLine(text); text != "" {
			fmt.Fprintf(to, "  %-10s %s\n", name, text)
		}
	}
	line("note", r.Trouble())
	if r.Deleting {
		line("deleted", "it is removed once every version that its channels name is released to every Kyma")
	}
	if r.Paused {
		line("paused", "no further Kyma is admitted")
	}
	if !r.Observed && r.Phase != rollouts.Pending {
		line("observed", "the lifecycle manager has not taken up the last change yet")
	}
	line("decision", c.decisionText(r.Decision))
	for i := range r.Channels {
		c.explainChannel(to, &r.Channels[i])
	}
}

func (c *call) decisionText(d *rollouts.Decision) string {
	if d == nil {
		return ""
	}
	version, _, _ := strings.Cut(d.Target, "@")
	text := fmt.Sprintf("%s of %s", d.Action, version)
	if d.Channel != "" {
		text += " on channel " + d.Channel
	}
	if d.Wave != "" {
		text += ", wave " + d.Wave
	}
	if d.By != "" {
		text += ", by " + d.By
	}
	if age := c.ago(d.At); age != "" {
		text += ", " + age + " ago"
	}
	return text
}

// ago returns how long ago a time was; empty when it is unknown.
func (c *call) ago(at string) string {
	parsed, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return ""
	}
	return duration.HumanDuration(max(0, c.now().Sub(parsed)))
}

// explainChannel writes how far one channel is.
func (c *call) explainChannel(to io.Writer, channel *rollouts.Channel) {
	title := channel.Title()
	if channel.Name == "" {
		title = "mandatory"
	}
	fmt.Fprintf(to, "\n%s: %s\n", title, c.console.State(string(channel.Phase)))
	line := func(name, text string) {
		if text = console.OneLine(text); text != "" {
			fmt.Fprintf(to, "  %-10s %s\n", name, text)
		}
	}
	version := channel.To.Version
	if before := channel.From.Version; before != "" && before != version {
		version = before + " -> " + version
	}
	line("version", version)
	line("wave", channel.Step())
	if waits := waitsText(channel, c.now()); waits != "" {
		line("waits for", waits+": "+channel.Message)
	} else {
		line("result", channel.Message)
	}
	if left, soaks := remaining(channel, c.now()); soaks {
		line("next", fmt.Sprintf("the soak of wave %s ends at %s (%s)", channel.Wave, channel.NextAt, left))
	}
	c.explainWaves(to, channel)
	c.explainWorst(to, channel.Worst)
	explainActions(to, channel.Actions)
}

func (c *call) explainWaves(to io.Writer, channel *rollouts.Channel) {
	if len(channel.Waves) == 0 {
		return
	}
	rows := [][]string{{"WAVE", "STATE", "KYMAS", "WAITING", "UPDATING", "READY", "FAILED", "BROKEN BEFORE", "SKIPPED", "PLAN"}}
	for i := range channel.Waves {
		w := &channel.Waves[i]
		row := []string{w.Name, w.State}
		for _, count := range []int32{w.Total, w.Waiting, w.Updating, w.Ready, w.Failed, w.BrokenBefore, w.Skipped} {
			row = append(row, fmt.Sprint(count))
		}
		rows = append(rows, append(row, planText(w)))
	}
	writeTable(to, rows)
}

// planText repeats the plan of a wave.
func planText(w *rollouts.Wave) string {
	var parts []string
	add := func(does bool, format string, args ...any) {
		if does {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	add(w.Share != "", "%s", w.Share)
	add(w.MaxConcurrent > 0, "%d at a time", w.MaxConcurrent)
	add(w.Allowed > 0, "%d may fail", w.Allowed)
	add(w.Soak != "", "soak %s", w.Soak)
	add(w.Approval, "approval")
	return strings.Join(parts, ", ")
}

func (c *call) explainWorst(to io.Writer, worst []rollouts.Failure) {
	if len(worst) == 0 {
		return
	}
	rows := [][]string{{"FAILED", "REASON", "SINCE", "MESSAGE"}}
	for _, f := range worst {
		rows = append(rows, []string{f.Kyma, f.Reason, c.ago(f.Since), f.Message})
	}
	writeTable(to, rows)
}

func explainActions(to io.Writer, actions []rollouts.Action) {
	if len(actions) == 0 {
		return
	}
	rows := [][]string{{"COMMAND", "WHAT IT DOES"}}
	for _, a := range actions {
		rows = append(rows, []string{a.Command, a.Effect})
	}
	writeTable(to, rows)
}

// writeTable writes rows below a heading, with an empty line before them.
func writeTable(to io.Writer, rows [][]string) {
	var text strings.Builder
	writer := printers.GetNewTabWriter(&text)
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			if cells[i] = console.OneLine(cell); cells[i] == "" {
				cells[i] = "-"
			}
		}
		fmt.Fprintln(writer, strings.Join(cells, "\t"))
	}
	_ = writer.Flush()
	fmt.Fprintln(to)
	for line := range strings.Lines(text.String()) {
		fmt.Fprintln(to, "  "+strings.TrimRight(line, " \n"))
	}
}
