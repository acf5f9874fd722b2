package remotesync

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
)

// settling is the time that the API servers of a runtime get to switch to another storage version: each of them learns of the change
// separately.
const settling = 3 * time.Second

// migrateStorage makes sure that no object is stored in a version that the desired definition no longer has, because the API server could
// not decode it afterwards. The API server refuses such a definition as long as status.storedVersions names the version.
//
//  1. When every stored version stays, there is nothing to do.
//  2. Where the API server stores in a version that is removed, or converts by a webhook, the definition gets the desired versions beside
//     its own, and no webhook. Then nothing else happens until all API servers know that.
//  3. Every object is stored again by a patch that changes nothing. One that cannot be is an error, and the definition stays as it is.
//  4. status.storedVersions is set to the versions that are left.
func (p *pass) migrateStorage(ctx context.Context, client dynamic.ResourceInterface, one *pendingCopy) error {
	kept, _ := versionsOf(one.Object)
	stored, _, _ := unstructured.NestedStringSlice(one.live.Object, "status", "storedVersions")
	left := slices.DeleteFunc(slices.Clone(stored), func(version string) bool { return !slices.Contains(kept, version) })
	if len(left) == len(stored) {
		return nil
	}
	if !storesIn(one.live, kept) {
		return p.changeStorage(ctx, client, one)
	}
	if since, ok := p.memory.switchedAt(one); ok && time.Since(since) < settling {
		return one.passing("stores its objects in another version in a moment")
	}
	_, storage := versionsOf(one.live)
	if err := p.rewrite(ctx, one.live, storage); err != nil {
		return err
	}
	if !slices.Contains(left, storage) {
		left = append(left, storage)
	}
	versions := make([]any, 0, len(left))
	for _, version := range left {
		versions = append(versions, version)
	}
	_, err := p.merge(ctx, client, one, one.live, map[string]any{"status": map[string]any{"storedVersions": versions}}, "status")
	return err
}

// storesIn reports whether a definition stores its objects in one of the versions, and needs no conversion webhook.
func storesIn(definition object, versions []string) bool {
	_, storage := versionsOf(definition)
	strategy, _, _ := unstructured.NestedString(definition.Object, "spec", "conversion", "strategy")
	return slices.Contains(versions, storage) && (strategy == "" || strategy == "None")
}

// changeStorage gives a definition the desired versions and keeps its others, in which nothing is stored from now on.
func (p *pass) changeStorage(ctx context.Context, client dynamic.ResourceInterface, one *pendingCopy) error {
	kept, _ := versionsOf(one.Object)
	wanted, _, _ := unstructured.NestedSlice(one.Object.Object, "spec", "versions")
	live, _, _ := unstructured.NestedSlice(one.live.Object, "spec", "versions")
	for _, version := range live {
		fields, _ := version.(map[string]any)
		if name, _, _ := unstructured.NestedString(fields, "name"); !slices.Contains(kept, name) {
			fields = runtime.DeepCopyJSON(fields)
			fields["storage"] = false
			wanted = append(wanted, fields)
		}
	}
	_, err := p.merge(ctx, client, one, one.live, map[string]any{"spec": map[string]any{
		"versions": wanted, "conversion": map[string]any{"strategy": "None", "webhook": nil},
	}})
	if err != nil {
		return err
	}
	p.memory.switchNow(one)
	changed := one.passing("stores its objects in another version from now on; those that exist follow")
	changed.RetryAfter = settling
	return changed
}

// rewrite makes the API server store every object of a definition again.
func (p *pass) rewrite(ctx context.Context, definition object, storage string) error {
	group, _, _ := unstructured.NestedString(definition.Object, "spec", "group")
	plural, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "plural")
	client := p.Dynamic.Resource(schema.GroupVersionResource{Group: group, Version: storage, Resource: plural})
	options := metav1.ListOptions{Limit: pageSize}
	for {
		page, err := client.List(ctx, options)
		if err != nil {
			return fmt.Errorf("list its objects, which must be stored again: %w", err)
		}
		for i := range page.Items {
			if err := p.touch(ctx, client, &page.Items[i]); err != nil {
				return err
			}
		}
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return nil
		}
	}
}

// touch stores one object again as it is. One that was deleted meanwhile needs nothing.
func (p *pass) touch(ctx context.Context, client dynamic.NamespaceableResourceInterface, live object) error {
	data, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": string(live.GetUID()), "resourceVersion": live.GetResourceVersion()},
	})
	if err != nil {
		return err
	}
	var at dynamic.ResourceInterface = client
	if live.GetNamespace() != "" {
		at = client.Namespace(live.GetNamespace())
	}
	answer, err := at.Patch(ctx, live.GetName(), types.MergePatchType, data, metav1.PatchOptions{})
	if apierrors.IsNotFound(err) && apply.Classify(err) != apply.ClassKindUnknown {
		return nil
	}
	if err != nil {
		return fmt.Errorf("store %s/%s anew: %w", live.GetNamespace(), live.GetName(), err)
	}
	p.learned(answer)
	return nil
}

func (m *memory) switchNow(one *pendingCopy) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.switched[one.id] = time.Now()
}

func (m *memory) switchedAt(one *pendingCopy) (time.Time, bool) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	since, ok := m.switched[one.id]
	return since, ok
}
