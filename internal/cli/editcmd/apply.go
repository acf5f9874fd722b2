package editcmd

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/await"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/waitfor"
)

// item is one thing that a command changed, or found as requested.
type item struct {
	Name    string          `json:"name"`
	Kyma    string          `json:"kyma,omitempty"`
	Action  kymaedit.Action `json:"action"`
	Fields  []string        `json:"fields,omitempty"`
	Channel string          `json:"channel,omitempty"`
	Version string          `json:"version,omitempty"`
	Release string          `json:"release,omitempty"`
	DryRun  string          `json:"dryRun,omitempty"`
	// Template is NAMESPACE/NAME of the template of a direct installation, and Origin the catalog that it came from.
	Template string `json:"template,omitempty"`
	Origin   string `json:"origin,omitempty"`
	// word is shown in tables in place of Action; may be empty.
	word string
}

// changeList is the output of these commands for programs.
type changeList struct {
	console.Versioned
	Items []item `json:"items"`
	// Kymas is how many Kymas a command for many was about, and Outcomes says what became of them.
	Kymas    int            `json:"kymas,omitempty"`
	Outcomes []outcomeGroup `json:"outcomes,omitempty"`
}

// print writes what changed.
func (c *change) print(items []item) error {
	document := console.Document{
		Data: changeList{Versioned: console.Kind("ChangeList"), Items: items},
		Columns: []console.Column{
			{Name: "NAME"}, {Name: "ACTION"}, {Name: "CHANNEL"}, {Name: "VERSION"}, {Name: "KYMA"},
		},
		Empty: "There is nothing to change.",
	}
	for _, i := range items {
		action := cmp.Or(i.word, string(i.Action))
		if i.DryRun != "" {
			action += " (dry run)"
		}
		document.Rows = append(document.Rows, []string{i.Name, action, i.Channel, i.Version, i.Kyma})
		document.Names = append(document.Names, i.Name)
	}
	return c.console.Print(c.output.Format, document)
}

// editor edits a spec and returns the changes.
type editor func(kyma *v1beta2.Kyma) ([]kymaedit.Change, error)

// applied is the result of an editor.
type applied struct {
	kymaedit.Result
	changes []kymaedit.Change
	// spec is the effective spec of the Kyma after that: its own and the requests of its runtime's user.
	spec v1beta2.KymaSpec
}

// apply changes the Kyma by an editor, shows the difference on a terminal, and writes what changed.
func (c *change) apply(ctx context.Context, s *session, do editor) (applied, error) {
	done, err := edit(ctx, s, do, kymaedit.Options{DryRun: kymaedit.DryRun(c.dryRun), Review: func(before, after *v1beta2.Kyma) error {
		if c.console.Live || c.dry() {
			c.console.Sayf("%s", strings.TrimRight(kymaDiff(before, after), "\n"))
		}
		return nil
	}})
	if err != nil {
		return applied{}, err
	}
	return done, c.print(c.items(s, done))
}

// edit changes the Kyma by an editor.
func edit(ctx context.Context, s *session, do editor, options kymaedit.Options) (applied, error) {
	var done applied
	result, err := kymaedit.Apply(ctx, s.WithWatch, s.Key(), func(kyma *v1beta2.Kyma) error {
		asked := modulestatus.Effective(kyma)
		return kymaedit.EditEffective(kyma, &asked, func(kyma *v1beta2.Kyma) (err error) {
			done.changes, err = do(kyma)
			return err
		})
	}, options)
	if err != nil {
		return applied{}, refusal(err, s.Key().String())
	}
	done.Result, done.spec = result, modulestatus.Effective(result.After)
	return done, nil
}

// refusal returns an error of the API server as a sentence.
func refusal(err error, kyma string) error {
	switch {
	case apierrors.IsNotFound(err):
		return console.NotFound("the Kyma %s is gone", kyma)
	case apierrors.IsForbidden(err):
		return (&console.Failure{Code: console.CodeError, Err: fmt.Errorf("you may not change Kyma %s: %w", kyma, err)}).
			With("ask for the right to get and patch kymas.operator.kyma-project.io in its namespace")
	}
	return err
}

// items returns the changes, for programs and users.
func (c *change) items(s *session, done applied) []item {
	items := []item{}
	for _, change := range done.changes {
		i := item{Name: "module/" + change.Module, Kyma: s.Key().String(), Action: change.Action, Fields: change.Fields}
		if change.Module == "" {
			i.Name = "kyma/" + s.Key().String()
			i.Channel, i.Release = done.spec.Channel, done.spec.Release
		} else if entry := kymaedit.Entry(&done.spec, change.Module); entry != nil {
			i.Channel, i.Version = entry.Channel, cmp.Or(c.goes, s.Version(&done.spec, change.Module))
			if entry.Channel == "" && entry.Version == "" {
				if i.Release = done.spec.Release; i.Release == "" {
					i.Channel = done.spec.Channel
				}
			}
		}
		if c.dry() && change.Action != kymaedit.Unchanged {
			i.DryRun = c.dryRun
		}
		if change.Action == kymaedit.Unchanged && c.unchanged != nil {
			i.word = c.unchanged(s, &done.spec, change.Module)
		}
		items = append(items, i)
	}
	return items
}

// follow waits for modules, unless waiting is disabled or nothing was written.
func (c *change) follow(ctx context.Context, s *session, after *v1beta2.Kyma, wants []waitfor.Expectation) error {
	if !c.wait || c.dry() || len(wants) == 0 {
		return nil
	}
	return await.Follow(ctx, c.console, s.WithWatch, waitfor.Options{
		Kyma: s.Key(), Generation: after.Generation, Modules: wants, Timeout: c.timeout, Again: c.again,
	})
}

// running returns the expectations that modules run in the versions that the spec leads to.
func running(spec *v1beta2.KymaSpec, changes []kymaedit.Change) []waitfor.Expectation {
	var wants []waitfor.Expectation
	for _, change := range changes {
		want := waitfor.Expectation{Module: change.Module}
		// The version of a channel may change during the wait; a pinned one does not.
		if entry := kymaedit.Entry(spec, change.Module); entry != nil {
			want.Version = entry.Version
		}
		wants = append(wants, want)
	}
	return wants
}
