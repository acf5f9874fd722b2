package oracle

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/faults/operation"
	"github.com/kyma-project/lifecycle-manager/tests/faults/rig"
)

// State is the content of the clusters that belongs to a Scenario, without names, times and versions that differ from run to run. Its keys
// are "<cluster> <kind> <namespace>/<name>".
type State map[string]any

// kinds are read in every cluster, besides those of the Scenario's own definitions.
var kinds = []schema.GroupVersionKind{
	{Version: "v1", Kind: "Namespace"}, {Version: "v1", Kind: "ConfigMap"}, {Version: "v1", Kind: "Secret"},
	{Version: "v1", Kind: "ServiceAccount"}, {Version: "v1", Kind: "Service"},
	{Group: "apps", Version: "v1", Kind: "Deployment"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRoleBinding"},
	{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"},
}

// Take reads the present State of a Scenario, bypassing all proxies: all objects on the hub and in the runtimes with the Scenario's name,
// and the hub's copies in a runtime.
func Take(ctx context.Context, s *operation.Scenario) (State, error) {
	state := State{}
	for _, server := range s.Rig.Servers() {
		all, err := kindsOf(ctx, server)
		if err != nil {
			return nil, err
		}
		for _, kind := range all {
			if err := take(ctx, s, server, kind, state); err != nil {
				return nil, err
			}
		}
	}
	return state, nil
}

// kindsOf returns the kinds of a cluster that may have objects of a Scenario.
func kindsOf(ctx context.Context, server *rig.Server) ([]schema.GroupVersionKind, error) {
	all := slices.Clone(kinds)
	definitions := &apiextensionsv1.CustomResourceDefinitionList{}
	if err := server.Client.List(ctx, definitions); err != nil {
		return nil, fmt.Errorf("cannot list the definitions of %s: %w", server.Proxy.Name(), err)
	}
	for i := range definitions.Items {
		spec := definitions.Items[i].Spec
		for _, version := range spec.Versions {
			if version.Storage && version.Served {
				all = append(all, schema.GroupVersionKind{Group: spec.Group, Version: version.Name, Kind: spec.Names.Kind})
			}
		}
	}
	return all, nil
}

func take(ctx context.Context, s *operation.Scenario, server *rig.Server, kind schema.GroupVersionKind, state State) error {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if err := server.Client.List(ctx, list); err != nil {
		if apierrors.IsNotFound(err) || strings.Contains(err.Error(), "no matches for kind") {
			return nil // its definition is being deleted
		}
		return fmt.Errorf("cannot list %s of %s: %w", kind.Kind, server.Proxy.Name(), err)
	}
	for i := range list.Items {
		object := &list.Items[i]
		if !concerns(s, server, object) {
			continue
		}
		plain := normalise(s, object)
		key := fmt.Sprintf("%s %s %s/%s", server.Proxy.Name(), kind.Kind, object.GetNamespace(), object.GetName())
		state[rename(s, key)] = plain
	}
	return nil
}

// concerns reports whether an object belongs to the Scenario, or to the hub's copies in the Scenario's runtime.
func concerns(s *operation.Scenario, server *rig.Server, object *unstructured.Unstructured) bool {
	if strings.Contains(strings.ToLower(object.GetName()), s.ID) || object.GroupVersionKind().Group == "testkit.kyma-project.io" {
		return true
	}
	if server != s.Home {
		return false
	}
	kept := object.GetLabels()[v1beta2.LabelManagedBy] == v1beta2.ManagedByKyma
	catalog := object.GetKind() == "ModuleTemplate" || object.GetKind() == "ModuleReleaseMeta"
	return kept && !catalog
}

// diffBytes are enough to see the problem; the rest is similar.
const diffBytes = 3000

// Diff returns how a State differs from the wanted one; "" when it does not.
func Diff(want, got State) string {
	var out strings.Builder
	keys := slices.Sorted(maps.Keys(want))
	for key := range got {
		if _, known := want[key]; !known {
			keys = append(keys, key)
		}
	}
	for _, key := range keys {
		w, wanted := want[key]
		g, there := got[key]
		switch {
		case !there:
			fmt.Fprintf(&out, "%s is missing\n", key)
		case !wanted:
			fmt.Fprintf(&out, "%s should not be there\n", key)
		default:
			if diff := cmp.Diff(w, g); diff != "" {
				fmt.Fprintf(&out, "%s (-want +got):\n%s", key, diff)
			}
		}
	}
	if text := out.String(); len(text) > diffBytes {
		return text[:diffBytes] + "\n... and more"
	}
	return out.String()
}

// restFor is the time between two takes that must be equal.
const restFor = 500 * time.Millisecond

// Rest waits until the State of a Scenario no longer changes: the awaited state may be reached while the manager still reports it, for
// instance in the runtime's Kyma.
func Rest(ctx context.Context, s *operation.Scenario, within time.Duration) (State, error) {
	before, err := Take(ctx, s)
	for late := time.Now().Add(within); err == nil; {
		select {
		case <-ctx.Done():
			return before, ctx.Err()
		case <-time.After(restFor):
		}
		var now State
		if now, err = Take(ctx, s); err != nil {
			break
		}
		diff := Diff(before, now)
		if diff == "" {
			return now, nil
		}
		if before = now; time.Now().After(late) {
			return now, fmt.Errorf("the state still changes after %s:\n%s", within, diff)
		}
	}
	return before, err
}

// Converge waits until the Scenario is in a State, and otherwise returns the difference. Only the wait is bounded: the first take may need
// as long as necessary.
func Converge(ctx context.Context, s *operation.Scenario, want State, within time.Duration) (State, string) {
	got, err := Take(ctx, s)
	diff := ""
	if err != nil {
		diff = err.Error()
	} else if diff = Diff(want, got); diff == "" {
		return got, ""
	}
	_ = operation.Await(ctx, s, func(ctx context.Context, s *operation.Scenario) error {
		state, err := Take(ctx, s)
		if err != nil {
			return err
		}
		got, diff = state, Diff(want, state)
		if diff != "" {
			return fmt.Errorf("differs: %s", diff)
		}
		return nil
	}, within)
	return got, diff
}
