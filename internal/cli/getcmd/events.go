package getcmd

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

type eventList struct {
	console.Versioned
	Items []event `json:"items"`
}

type event struct {
	Last    time.Time `json:"last"`
	Type    string    `json:"type"`
	Reason  string    `json:"reason"`
	Object  string    `json:"object"`
	Message string    `json:"message"`
	Count   int32     `json:"count"`
}

// events returns the command that shows the events of modules.
func events(s *show) *cobra.Command {
	var warnings bool
	command := &cobra.Command{
		Use:   "events [MODULE...]",
		Short: "Show the events of Kymas and modules, the latest last",
		Long: "Show the events of Kymas, their Manifests and what these installed in this cluster, the latest last: of the modules that are " +
			"named, with those of their Kymas that name them, or of all.",
		Example:           "  kyma events\n  kyma events beacon --warnings\n  kyma events beacon -o json",
		ValidArgsFunction: s.completeModules,
		RunE: func(command *cobra.Command, names []string) error {
			ctx := command.Context()
			in, err := s.readInputs(ctx)
			if err != nil {
				return err
			}
			if _, err := pick(&in, s.modules(&in), names); err != nil {
				return err
			}
			found, err := s.reported(ctx, s.tree(&in, names), s.modules(&in), names)
			if err != nil {
				return err
			}
			if warnings {
				found = slices.DeleteFunc(found, func(e event) bool { return e.Type == corev1.EventTypeNormal })
			}
			return s.console.Print(s.output.Format, eventDocument(found, time.Now()))
		},
	}
	s.flags(command, console.Table, console.JSON, console.YAML)
	command.Flags().BoolVar(&warnings, "warnings", false, "only warnings")
	return command
}

// involved identifies an object that events may be about.
type involved struct{ kind, namespace, name string }

// concern describes the requested events: those of some objects, and of Kymas only those that name one of the modules.
type concern struct {
	objects map[involved]bool
	names   []string
}

// has reports whether an event is requested. A refusal before anything of a module is installed, such as of its signature, is an event of
// the Kyma alone: "...; NAME: REASON: ...".
func (c concern) has(e *corev1.Event) bool {
	of := &e.InvolvedObject
	switch {
	case !c.objects[involved{of.Kind, of.Namespace, of.Name}]:
		return false
	case of.Kind != kindKyma || len(c.names) == 0:
		return true
	}
	return slices.ContainsFunc(c.names, func(name string) bool { return strings.Contains(e.Message, "; "+name+": ") })
}

const kindKyma = "Kyma"

// about returns the objects of a tree, and the Manifests of its modules.
func about(roots []modulestatus.Node, modules []modulestatus.Module, names []string) map[involved]bool {
	all := map[involved]bool{}
	var walk func([]modulestatus.Node)
	walk = func(nodes []modulestatus.Node) {
		for i := range nodes {
			n := &nodes[i]
			if n.Kind != modulestatus.KindModule {
				all[involved{n.Kind, n.Namespace, n.Name}] = true
			}
			walk(n.Children)
		}
	}
	walk(roots)
	for i := range modules {
		m := &modules[i]
		if m.Manifest != nil && (len(names) == 0 || slices.Contains(names, m.Name)) {
			all[involved{"Manifest", m.Manifest.Namespace, m.Manifest.Name}] = true
		}
	}
	return all
}

// reported reads the events: of each namespace if there are few, of all at once otherwise.
func (s *show) reported(ctx context.Context, roots []modulestatus.Node, modules []modulestatus.Module, names []string) ([]event, error) {
	cluster, err := s.target.Client()
	if err != nil {
		return nil, err
	}
	asked := concern{objects: about(roots, modules, names), names: names}
	var namespaces []string
	for object := range asked.objects {
		namespaces = append(namespaces, cmp.Or(object.namespace, corev1.NamespaceDefault))
	}
	slices.Sort(namespaces)
	if namespaces = slices.Compact(namespaces); len(namespaces) > 5 {
		namespaces = []string{""}
	}
	var found []event
	for _, namespace := range namespaces {
		var list corev1.EventList
		if err := cluster.List(ctx, &list, client.InNamespace(namespace)); err != nil {
			if !apierrors.IsForbidden(err) {
				return nil, err
			}
			s.console.Sayf("Warning: you may not list events in namespace %s", cmp.Or(namespace, "(all)"))
			continue
		}
		for i := range list.Items {
			if asked.has(&list.Items[i]) {
				found = append(found, eventOf(&list.Items[i]))
			}
		}
	}
	slices.SortStableFunc(found, func(a, b event) int { return a.Last.Compare(b.Last) })
	return found, nil
}

func eventOf(e *corev1.Event) event {
	last := e.LastTimestamp.Time
	count := max(e.Count, 1)
	if e.Series != nil {
		last, count = e.Series.LastObservedTime.Time, max(count, e.Series.Count)
	}
	if last.IsZero() {
		last = e.EventTime.Time
	}
	if last.IsZero() {
		last = e.CreationTimestamp.Time
	}
	of := modulestatus.Ref{Kind: e.InvolvedObject.Kind, Namespace: e.InvolvedObject.Namespace, Name: e.InvolvedObject.Name}
	return event{Last: last.UTC(), Type: e.Type, Reason: e.Reason, Object: of.String(), Message: e.Message, Count: count}
}

func eventDocument(found []event, now time.Time) console.Document {
	d := console.Document{
		Data: eventList{Versioned: console.Kind("EventList"), Items: append([]event{}, found...)},
		Columns: []console.Column{
			{Name: "LAST"}, {Name: "TYPE", State: true}, {Name: "REASON"}, {Name: "OBJECT"}, {Name: "COUNT"}, {Name: "MESSAGE"},
		},
		Empty: "No events.",
	}
	for _, e := range found {
		d.Rows = append(d.Rows, []string{
			duration.HumanDuration(now.Sub(e.Last)), e.Type, e.Reason, e.Object, strconv.Itoa(int(e.Count)), e.Message,
		})
	}
	return d
}
