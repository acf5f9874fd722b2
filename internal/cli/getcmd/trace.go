package getcmd

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/ownedobjects"
)

type traceDocument struct {
	console.Versioned
	Items []traceItem `json:"items"`
}

type traceItem struct {
	Steps []modulestatus.TraceStep `json:"steps"`
	// Cause is why the module is not Ready.
	Cause *modulestatus.Cause `json:"cause,omitempty"`
}

// trace returns the command that shows what an object belongs to.
func trace(s *show) *cobra.Command {
	command := &cobra.Command{
		Use:   "trace KIND/NAME",
		Short: "Say which module, version and Kyma an object belongs to",
		Long: "Say which Manifest, module, version and Kyma an object belongs to. On a hub it is looked for in what is installed in runtimes; " +
			"in a runtime, or where nothing is known of it, what is marked on the object itself or on its owners counts. " +
			"--namespace is that of the object. If the module is not ready, the cause is told, too.",
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
			if traces, err = owned(ctx, cluster, in, asked); err != nil {
				return err
			}
		}
	}
	if len(traces) == 0 {
		return s.untraced(&in, asked)
	}
	return s.printTraces(traces, s.tracedCauses(ctx, &in, traces))
}

// owned traces an object by its mark, or else by what owns it: a pod belongs to the module of its Deployment.
func owned(
	ctx context.Context, cluster client.Client, in modulestatus.Inputs, asked modulestatus.TraceQuery,
) ([][]modulestatus.TraceStep, error) {
	if traces := modulestatus.Trace(in, asked); len(traces) > 0 {
		return traces, nil
	}
	owners, err := ownedobjects.Above(ctx, cluster, asked.Object)
	if err != nil {
		return nil, err
	}
	below := []*unstructured.Unstructured{asked.Object}
	for _, owner := range owners {
		gvk := owner.GroupVersionKind()
		traces := modulestatus.Trace(in, modulestatus.TraceQuery{
			Kind: strings.TrimSuffix(gvk.Kind+"."+gvk.Group, "."), Namespace: owner.GetNamespace(), Name: owner.GetName(), Object: owner,
		})
		for i := range traces {
			for _, o := range below { // the nearest owner is the last one here, and comes first
				step := modulestatus.TraceStep{Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName(), Text: "by its owner"}
				traces[i] = append([]modulestatus.TraceStep{step}, traces[i]...)
			}
		}
		if len(traces) > 0 {
			return traces, nil
		}
		below = append([]*unstructured.Unstructured{owner}, below...)
	}
	return nil, nil
}

// tracedCauses returns for each trace why its module is not Ready.
func (s *show) tracedCauses(ctx context.Context, in *modulestatus.Inputs, traces [][]modulestatus.TraceStep) []*modulestatus.Cause {
	modules := modulestatus.Modules(*in)
	var traced []modulestatus.Module
	at := make([]int, len(traces))
	for i, steps := range traces {
		at[i] = -1
		of := slices.IndexFunc(modules, func(m modulestatus.Module) bool { return installs(&m, steps) })
		if of >= 0 {
			at[i], traced = len(traced), append(traced, modules[of])
		}
	}
	s.findCauses(ctx, in, traced, true)
	causes := make([]*modulestatus.Cause, len(traces))
	for i := range causes {
		if at[i] >= 0 {
			causes[i] = traced[at[i]].Cause
		}
	}
	return causes
}

// installs reports whether a trace leads over the Manifest or the record of a module.
func installs(m *modulestatus.Module, steps []modulestatus.TraceStep) bool {
	return slices.ContainsFunc(steps, func(step modulestatus.TraceStep) bool {
		key := modulestatus.Key{Namespace: step.Namespace, Name: step.Name}
		return step.Kind == "Manifest" && m.Manifest != nil && *m.Manifest == key ||
			step.Kind == "Secret" && m.Record != nil && *m.Record == key
	})
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

func (s *show) printTraces(traces [][]modulestatus.TraceStep, causes []*modulestatus.Cause) error {
	document := traceDocument{Versioned: console.Kind("ObjectTrace")}
	var text strings.Builder
	for i, steps := range traces {
		document.Items = append(document.Items, traceItem{Steps: steps, Cause: causes[i]})
		if i > 0 {
			text.WriteByte('\n')
		}
		for depth, step := range steps {
			text.WriteString(s.traceLine(depth, step))
		}
		explainCause(&text, "", causes[i], true)
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
