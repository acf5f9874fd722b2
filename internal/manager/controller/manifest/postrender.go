package manifest

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/installable"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// deployer is the only module that may take data from Secrets of the hub. It is upstream's name.
const deployer = "deployer"

// postRender makes the objects of the content those of this Manifest, in upstream's order:
//
//  1. Labels and annotations; they overwrite the content's under the same key, except for the two recommended labels of Kubernetes.
//  2. Images according to spec.localizedImages.
//  3. The image pull Secret.
//  4. For module deployer, data of the hub's Secrets.
//
// What it adds is part of an object, and so of the hash that decides whether the object must be applied.
func (r *Reconciler) postRender(ctx context.Context, w *scope, objects []*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	objects = render.Mark(objects, installable.Marks(w.manifest))
	objects, err := render.LocaliseImages(objects, w.manifest.Spec.LocalizedImages)
	if err != nil {
		return nil, invalidContent(err.Error())
	}
	if objects, err = render.PullSecret(objects, r.PullSecret, installable.ManagerIn(objects, w.manifest.Spec.Manager)); err != nil {
		return nil, invalidContent(err.Error())
	}
	w.injected = nil
	if w.manifest.Labels[v1beta2.LabelModuleName] != deployer {
		return objects, nil
	}
	return objects, r.inject(ctx, w, objects)
}

// isPostRendered reports whether the installed objects carry what postRender would add now, apart from what the spec defines. It makes no
// call.
func (r *Reconciler) isPostRendered(ctx context.Context, w *scope) bool {
	return w.manifest.Status.ImagePullSecret == r.PullSecret &&
		!slices.ContainsFunc(w.manifest.Status.Injected, func(injected v1beta2.InjectedSecret) bool {
			secret := r.known(ctx, types.NamespacedName{Namespace: w.key.Namespace, Name: injected.Name})
			return secret == nil || secret.ResourceVersion != injected.ResourceVersion
		})
}

// inject puts the data of the hub's Secrets into those of the content that request it. Objects are copies already.
func (r *Reconciler) inject(ctx context.Context, w *scope, objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		asks := object.GetAnnotations()[v1beta2.AnnotationInjectData] == v1beta2.EnabledValue
		if !asks || object.GetAPIVersion() != "v1" || object.GetKind() != "Secret" {
			continue
		}
		secret, err := r.hubSecret(ctx, types.NamespacedName{Namespace: w.key.Namespace, Name: object.GetName()})
		if err != nil {
			return err
		}
		data := make(map[string]any, len(secret.Data))
		for key, value := range secret.Data {
			data[key] = base64.StdEncoding.EncodeToString(value)
		}
		object.Object["data"] = data
		delete(object.Object, "stringData") // which would go over data
		injected := v1beta2.InjectedSecret{Name: secret.Name, ResourceVersion: secret.ResourceVersion}
		if !slices.Contains(w.injected, injected) { // two namespaces may want the same
			w.injected = append(w.injected, injected)
		}
	}
	slices.SortFunc(w.injected, func(a, b v1beta2.InjectedSecret) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

// known returns a Secret of the hub that is meant for module deployer, as the watch has it.
func (r *Reconciler) known(ctx context.Context, key types.NamespacedName) *corev1.Secret {
	if r.HubSecrets == nil {
		return nil
	}
	return r.HubSecrets.Get(ctx, key)
}

// injectionFailed begins every message about a Secret that cannot be used, as upstream's do: users search for it.
const injectionFailed = "inject-data-from-kcp transform failed: "

// hubSecret reads a Secret that is meant for module deployer. It makes a call only to find out why none is usable. Up to the first
// semicolon its messages are upstream's.
func (r *Reconciler) hubSecret(ctx context.Context, key types.NamespacedName) (*corev1.Secret, error) {
	secret, unusable := r.known(ctx, key), hubSecretUnusable
	if secret == nil {
		// A Secret that is not meant for the module is not watched, so no event reports its next change.
		unusable = func(format string, args ...any) *runtimes.Problem {
			problem := hubSecretUnusable(format, args...)
			problem.Retry = retryRefused
			return problem
		}
		secret = &corev1.Secret{}
		err := r.Reader.Get(ctx, key, secret)
		if apierrors.IsNotFound(err) {
			return nil, unusable("failed to fetch kcp secret %q: failed to get secret %s-%s: secrets %q not found; create Secret %s on the hub, "+
				"with the label %s: %s", key.Name, key.Name, key.Namespace, key.Name, key, v1beta2.LabelModuleName, deployer)
		}
		if err != nil {
			return nil, fmt.Errorf("read Secret %s of the hub: %w", key, err)
		}
	}
	module, labelled := secret.Labels[v1beta2.LabelModuleName]
	switch {
	case !labelled:
		return nil, unusable("kcp source secret is missing the required %s label: secret=%s; set it to %s on Secret %s of the hub if the module "+
			"may have its data", v1beta2.LabelModuleName, key.Name, deployer, key)
	case module != deployer:
		return nil, unusable("kcp source secret %s label does not match the manifest module: secret=%s expected=%s actual=%s; correct the label "+
			"of Secret %s of the hub, or rename the Secret", v1beta2.LabelModuleName, key.Name, deployer, module, key)
	case len(secret.Data) == 0:
		return nil, unusable("Secret %s of the hub holds no data; fill it", key)
	}
	return secret, nil
}

// hubSecretUnusable returns a Problem that waits for the Secret's event.
func hubSecretUnusable(format string, args ...any) *runtimes.Problem {
	return &runtimes.Problem{Reason: v1beta2.ReasonHubSecretUnusable, Message: injectionFailed + fmt.Sprintf(format, args...)}
}
