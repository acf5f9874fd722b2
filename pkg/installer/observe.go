package installer

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/health"
	"github.com/kyma-project/lifecycle-manager/pkg/installer/engine"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

const (
	// saveTimeout is how long writing the record may take after the caller has given up.
	saveTimeout = 30 * time.Second
	// definitionTimeout is how long a definition may take to be established in a call that does not wait.
	definitionTimeout = 10 * time.Second
)

// observe reads objects, a few at a time.
func (c *call) observe(ctx context.Context, objects []*unstructured.Unstructured) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(apply.DefaultWorkers)
	for _, object := range objects {
		group.Go(func() error {
			_, err := c.read(ctx, object.GroupVersionKind(), inventory.IDOf(object))
			return err
		})
	}
	return group.Wait()
}

// read reads one object, in another version when the one that is requested is not served; nil when it does not exist.
func (c *call) read(ctx context.Context, gvk schema.GroupVersionKind, id inventory.ID) (*unstructured.Unstructured, error) {
	var live *unstructured.Unstructured
	resource, err := c.engine.ResourceInAnyVersion(ctx, gvk)
	if err == nil {
		live, err = c.cluster.in(resource, id.Namespace).Get(ctx, id.Name, metav1.GetOptions{})
	}
	if _, unknown := errors.AsType[*apply.UnknownKindError](err); unknown || apierrors.IsNotFound(err) {
		live, err = nil, nil
	}
	if err != nil {
		return nil, called("read", id, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[id] = live
	return live, nil
}

// awaitDefinitions returns which of the definitions that were just applied is not established after a moment; nil when all are.
func (c *call) awaitDefinitions(ctx context.Context, steps []inventory.Step) *waiting {
	missing := engine.AwaitDefinitions(ctx, steps, definitionTimeout, c.serves)
	if missing == nil {
		return nil
	}
	message := inventory.IDOf(missing).String() + " is not yet established"
	return &waiting{reason: ReasonWaitingForCRDs, message: message, on: []wanted{wantedOf(missing)}}
}

// serves reports whether a definition is established and that its objects can be read: the server gets there a moment after it says so.
func (c *call) serves(ctx context.Context, definition *unstructured.Unstructured) bool {
	live, err := c.read(ctx, definition.GroupVersionKind(), inventory.IDOf(definition))
	if err != nil || live == nil || health.Of(live).Status != health.Ready {
		return false
	}
	text := func(path ...string) string {
		value, _, _ := unstructured.NestedString(live.Object, path...)
		return value
	}
	versions, _, _ := unstructured.NestedSlice(live.Object, "spec", "versions")
	for _, item := range versions {
		version, _ := item.(map[string]any)
		if version["served"] != true {
			continue
		}
		name, _ := version["name"].(string)
		resource := schema.GroupVersionResource{Group: text("spec", "group"), Version: name, Resource: text("spec", "names", "plural")}
		_, err := c.cluster.Dynamic.Resource(resource).List(ctx, metav1.ListOptions{Limit: 1})
		if apierrors.IsNotFound(err) {
			return false
		}
	}
	return true
}

// ensureNamespaces makes the namespaces that are missing, where that is requested.
func (c *call) ensureNamespaces(ctx context.Context) error {
	if !c.inst.CreateNamespace {
		return nil
	}
	for _, namespace := range c.namespaces() {
		id := inventory.IDOf(namespace)
		live, err := c.read(ctx, namespaceKind, id)
		if err != nil {
			return err
		}
		if live != nil {
			continue
		}
		client := c.cluster.Dynamic.Resource(corev1.SchemeGroupVersion.WithResource("namespaces"))
		_, err = client.Create(ctx, namespace, metav1.CreateOptions{FieldManager: c.inst.FieldManager})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return called("create", id, err, namespace)
		}
	}
	return nil
}

// namespaces returns those of the installation and its sources. One that the content itself declares is made when its turn comes, and
// therefore made as declared where it is needed before, for the record.
func (c *call) namespaces() []*unstructured.Unstructured {
	names := sets.New(c.inst.Namespace)
	for i := range c.inst.Sources {
		names.Insert(c.inst.Sources[i].Namespace)
	}
	var missing []*unstructured.Unstructured
	for _, object := range c.desired {
		if id := inventory.IDOf(object); id.GroupKind() == namespaceKind.GroupKind() && names.Has(id.Name) {
			names.Delete(id.Name)
			if id.Name == c.inst.Namespace {
				missing = append(missing, object)
			}
		}
	}
	for _, name := range sets.List(names.Delete("")) {
		namespace := &unstructured.Unstructured{}
		namespace.SetGroupVersionKind(namespaceKind)
		namespace.SetName(name)
		missing = append(missing, namespace)
	}
	return missing
}
