package hubcontent

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/takeover"
)

// manager adds the references of the manager's Deployment.
func (e *export) manager(ctx context.Context) error {
	if len(e.Namespaces) > 0 && !slices.Contains(e.Namespaces, e.ManagerNamespace) {
		return nil
	}
	deployment, key := &appsv1.Deployment{}, client.ObjectKey{Namespace: e.ManagerNamespace, Name: takeover.ManagerName}
	err := e.from.Get(ctx, key, deployment)
	switch {
	case apierrors.IsForbidden(err), apierrors.IsNotFound(err):
		e.content.warnf("the Secrets and ConfigMaps of the manager itself are left out, since Deployment %s could not be read", key)
	case err != nil:
		return fmt.Errorf("read Deployment %s: %w", key, err)
	default:
		e.refs.ofManager(deployment)
	}
	return nil
}

// referenced adds the access Secrets, and the Secrets and ConfigMaps that something depends on.
func (e *export) referenced(ctx context.Context) error {
	found := map[ID]*unstructured.Unstructured{}
	if !e.WithoutSecrets {
		if err := e.selectedSecrets(ctx, found); err != nil {
			return err
		}
	}
	var missing []string
	for _, id := range slices.SortedFunc(maps.Keys(e.refs.named), compareIDs) {
		if found[id] != nil || id.Kind == kindSecret && e.WithoutSecrets {
			continue
		}
		object, err := getOne(ctx, e.from, corev1.SchemeGroupVersion.WithKind(id.Kind), client.ObjectKey{Namespace: id.Namespace, Name: id.Name})
		switch {
		case err != nil:
			return err
		case object == nil:
			missing = append(missing, fmt.Sprintf("%s, which %s names", id, e.refs.named[id]))
		default:
			found[id] = object
		}
	}
	if len(missing) > 0 {
		e.content.warnf("missing: %s", fewest(missing))
	}
	for _, object := range found {
		clean(object)
		e.content.Objects = append(e.content.Objects, object)
	}
	return nil
}

func compareIDs(a, b ID) int {
	return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// selectedSecrets reads the access Secrets of what is exported, and those that selectors find.
func (e *export) selectedSecrets(ctx context.Context, found map[ID]*unstructured.Unstructured) error {
	kind := corev1.SchemeGroupVersion.WithKind(kindSecret)
	wanted := map[client.ObjectKey]bool{}
	for _, o := range e.content.Objects {
		switch o.GetKind() {
		case kindKyma:
			wanted[client.ObjectKeyFromObject(o)] = true
		case kindManifest:
			wanted[client.ObjectKey{Namespace: o.GetNamespace(), Name: o.GetLabels()[v1beta2.LabelKymaName]}] = true
		}
	}
	access, err := listAll(ctx, e.from, kind, e.Namespaces, client.HasLabels{v1beta2.LabelKymaName})
	if err != nil {
		return err
	}
	for _, secret := range access {
		if wanted[client.ObjectKey{Namespace: secret.GetNamespace(), Name: secret.GetLabels()[v1beta2.LabelKymaName]}] {
			found[idOf(secret)] = secret
		}
	}
	for selected := range e.refs.selected {
		selector, err := labels.Parse(selected.selector)
		if err != nil {
			return fmt.Errorf("%s selects Secrets by %q: %w", e.refs.selected[selected], selected.selector, err)
		}
		secrets, err := listAll(ctx, e.from, kind, []string{selected.namespace}, client.MatchingLabelsSelector{Selector: selector})
		if err != nil {
			return err
		}
		for _, secret := range secrets {
			found[idOf(secret)] = secret
		}
	}
	return nil
}

// namespaces adds the namespaces of everything else. One that may not be read is made by its name.
func (e *export) namespaces(ctx context.Context) error {
	names := map[string]bool{}
	for _, o := range e.content.Objects {
		names[o.GetNamespace()] = true
	}
	for name := range names {
		kind := corev1.SchemeGroupVersion.WithKind(kindNamespace)
		namespace, err := getOne(ctx, e.from, kind, client.ObjectKey{Name: name})
		if err != nil && !apierrors.IsForbidden(err) {
			return err
		}
		if namespace == nil {
			namespace = &unstructured.Unstructured{}
			namespace.SetName(name)
		}
		cleanNamespace(namespace)
		e.content.Objects = append(e.content.Objects, namespace)
	}
	return nil
}
