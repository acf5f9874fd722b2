package getcmd

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

type traceDocument struct {
	console.Versioned
	Items []traceItem `json:"items"`
}

type traceItem struct {
	Steps []modulestatus.TraceStep `json:"steps"`
}

// trace returns the command that shows what an object belongs to.
func trace(s *show) *cobra.Command {
	command := &cobra.Command{
		Use:   "trace KIND/NAME",
		Short: "Say which module, version and Kyma an object belongs to",
		Long: "Say which Manifest, module, version and Kyma an object belongs to. On a hub it is looked for in what is installed in runtimes; " +
			"in a runtime, or where nothing is known of it, what is marked on the object itself counts. --namespace is that of the object.",
		Example: "  kyma trace deployment/beacon-manager -n kyma-system\n  kyma trace deployments.apps/beacon-manager -o json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || strings.Count(args[0], "/") != 1 || strings.HasPrefix(args[0], "/") || strings.HasSuffix(args[0], "/") {
				return console.Usage("an object is named KIND/NAME").With("kyma trace deployment/beacon-manager -n kyma-system")
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(command *cobra.Command, args []string) error {
			return s.trace(command.Context(), args[0])
		},
	}
	s.outputFlag(command, console.Table, console.JSON, console.YAML)
	return command
}

func (s *show) trace(ctx context.Context, name string) error {
	cluster, err := s.target.Client()
	if err != nil {
		return err
	}
	namespace, explicit, err := s.target.Namespace()
	if err != nil {
		return err
	}
	s.everywhere = true
	in, err := s.readInputs(ctx)
	if err != nil {
		return err
	}
	var asked modulestatus.TraceQuery
	asked.Kind, asked.Name, _ = strings.Cut(name, "/")
	if explicit {
		asked.Namespace = namespace
	}
	traces := modulestatus.Trace(in, asked)
	if len(traces) == 0 {
		object, err := find(ctx, cluster, asked, namespace)
		if err != nil {
			return err
		}
		if asked.Object = object; object != nil {
			traces = modulestatus.Trace(in, asked)
		}
	}
	if len(traces) == 0 {
		return s.untraced(&in, asked)
	}
	return s.printTraces(traces)
}

// untraced returns why there is nothing to show.
func (s *show) untraced(in *modulestatus.Inputs, asked modulestatus.TraceQuery) error {
	if len(in.Unread) > 0 {
		return fmt.Errorf("the owner of %s/%s is unknown: not everything could be read", asked.Kind, asked.Name)
	}
	if asked.Object == nil {
		return console.NotFound("no module has %s/%s, here or in a runtime", asked.Kind, asked.Name).
			With("set its namespace with --namespace")
	}
	return console.NotFound("%s/%s belongs to no module", asked.Kind, asked.Name)
}

// find reads the object itself, nil if it is not in this cluster.
func find(ctx context.Context, cluster client.Client, asked modulestatus.TraceQuery, namespace string) (*unstructured.Unstructured, error) {
	mapping := mappingOf(cluster.RESTMapper(), asked.Kind)
	if mapping == nil {
		return nil, nil //nolint:nilnil // no such kind, no such object
	}
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(mapping.GroupVersionKind)
	key := client.ObjectKey{Namespace: cmp.Or(asked.Namespace, namespace), Name: asked.Name}
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		key.Namespace = ""
	}
	if err := cluster.Get(ctx, key, object); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return object, nil
}

// mappingOf returns the mapping for a word for a kind: its plural, its singular or the kind itself, with or without a group.
func mappingOf(mapper meta.RESTMapper, word string) *meta.RESTMapping {
	resource, group, _ := strings.Cut(strings.ToLower(word), ".")
	kind := schema.ParseGroupKind(word)
	version := ""
	if found, err := mapper.KindFor(schema.GroupVersionResource{Group: group, Resource: resource}); err == nil {
		kind, version = found.GroupKind(), found.Version
	}
	mapping, err := mapper.RESTMapping(kind, version)
	if err != nil {
		return nil
	}
	return mapping
}

func (s *show) printTraces(traces [][]modulestatus.TraceStep) error {
	document := traceDocument{Versioned: console.Kind("ObjectTrace")}
	var text strings.Builder
	for i, steps := range traces {
		document.Items = append(document.Items, traceItem{Steps: steps})
		if i > 0 {
			text.WriteByte('\n')
		}
		for depth, step := range steps {
			text.WriteString(s.traceLine(depth, step))
		}
	}
	if s.output.Format != console.Table {
		return s.console.Print(s.output.Format, console.Document{Data: document})
	}
	_, err := io.WriteString(s.console.Out, text.String())
	return err
}

func (s *show) traceLine(depth int, step modulestatus.TraceStep) string {
	node := modulestatus.Node{Kind: step.Kind, Namespace: step.Namespace, Name: step.Name, State: step.State}
	line := s.label(&node)
	if step.Text != "" {
		line += "  (" + oneLine(step.Text) + ")"
	}
	if depth > 0 {
		line = strings.Repeat("   ", depth-1) + "└─ " + line
	}
	return line + "\n"
}
