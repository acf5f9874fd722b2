package clustercmd

import (
	"context"
	"fmt"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/managerinstall"
	"github.com/kyma-project/lifecycle-manager/internal/kubeconfig"
	"github.com/kyma-project/lifecycle-manager/internal/policy"
	"github.com/kyma-project/lifecycle-manager/internal/takeover"
)

// pageSize is how many objects one request lists: a hub may have tens of thousands.
const pageSize = 500

// fromUpstream returns the results of check for a hub that upstream's manager runs on.
func (h *host) fromUpstream(ctx context.Context) ([]managerinstall.Result, error) {
	rules, err := takeoverRules()
	if err != nil {
		return nil, err
	}
	hub, err := h.target.Client()
	if err != nil {
		return nil, err
	}
	// One answer shows that the cluster is there at all; later failures are part of the report.
	if err := hub.Get(ctx, client.ObjectKey{Name: v1beta2.DefaultNamespace}, &corev1.Namespace{}); err != nil && !answered(err) {
		return nil, (&console.Failure{Code: console.CodeError, Err: fmt.Errorf("the cluster does not answer: %w", err)}).
			With("nothing was checked; see --kubeconfig and --context")
	}
	var results []managerinstall.Result
	for _, found := range takeover.Judge(readHub(ctx, hub), rules) {
		results = append(results, managerinstall.Result{
			Name: found.Subject, Verdict: managerinstall.Verdict(found.Level), Message: found.Message, Count: found.Count, Places: found.Places,
		})
	}
	return results, nil
}

// answered reports whether an error is an API server's answer.
func answered(err error) bool { return apierrors.ReasonForError(err) != metav1.StatusReasonUnknown }

// takeoverRules returns how the manager's own code judges content.
func takeoverRules() (takeover.Rules, error) {
	rules := takeover.Rules{
		Policy: policy.CheckWindows,
		Kubeconfig: func(text []byte) string {
			if _, refusal := kubeconfig.Parse(text); refusal != nil {
				return refusal.Message
			}
			return ""
		},
	}
	objects, err := managerinstall.Render(managerinstall.Options{})
	if err != nil {
		return rules, err
	}
	for _, object := range objects {
		if object.GetKind() != "CustomResourceDefinition" {
			continue
		}
		definition := &apiextensionsv1.CustomResourceDefinition{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, definition); err != nil {
			return rules, err
		}
		rules.Definitions = append(rules.Definitions, definition)
	}
	return rules, nil
}

// readHub reads the data for the report, and writes nothing. Failures to read are part of the result.
func readHub(ctx context.Context, from client.Reader) *takeover.Hub {
	within := client.InNamespace(v1beta2.DefaultNamespace)
	hub := &takeover.Hub{
		Kymas: ownKind(ctx, from, "Kyma"), Manifests: ownKind(ctx, from, "Manifest"), Templates: ownKind(ctx, from, "ModuleTemplate"),
		Releases: ownKind(ctx, from, "ModuleReleaseMeta"), Watchers: ownKind(ctx, from, "Watcher"),
	}
	hub.Manager = named[appsv1.Deployment](ctx, from, takeover.ManagerName)
	var definitions apiextensionsv1.CustomResourceDefinitionList
	hub.Definitions.Err = listed(ctx, from, &definitions)
	for i := range definitions.Items {
		if definitions.Items[i].Spec.Group == v1beta2.GroupVersion.Group {
			hub.Definitions.Items = append(hub.Definitions.Items, definitions.Items[i])
		}
	}
	var access corev1.SecretList
	hub.Access.Err = listed(ctx, from, &access, within, client.HasLabels{v1beta2.LabelKymaName})
	hub.Access.Items = access.Items
	var validating admissionregistrationv1.ValidatingWebhookConfigurationList
	hub.Validating.Err = listed(ctx, from, &validating)
	hub.Validating.Items = validating.Items
	var mutating admissionregistrationv1.MutatingWebhookConfigurationList
	hub.Mutating.Err = listed(ctx, from, &mutating)
	hub.Mutating.Items = mutating.Items
	if len(hub.Manager.Items) > 0 {
		settings := takeover.SettingsOf(&hub.Manager.Items[0])
		hub.Named = named[corev1.Secret](ctx, from, settings.Secrets()...)
		if settings.Policy != "" {
			hub.Policies = named[corev1.ConfigMap](ctx, from, settings.Policy)
		}
	}
	return hub
}

// ownKind reads all objects of a kind in the manager's namespace, as they are stored, page by page.
func ownKind(ctx context.Context, from client.Reader, kind string) (read takeover.Read[unstructured.Unstructured]) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(v1beta2.GroupVersion.WithKind(kind + "List"))
	for next := ""; ; {
		read.Err = listed(ctx, from, list, client.InNamespace(v1beta2.DefaultNamespace), client.Limit(pageSize), client.Continue(next))
		if read.Err != "" {
			return takeover.Read[unstructured.Unstructured]{Err: read.Err} // a part of the objects would be mistaken for all
		}
		read.Items = append(read.Items, list.Items...)
		if next = list.GetContinue(); next == "" {
			return read
		}
	}
}

// listed reads a list, and returns why it could not. A kind that the cluster does not serve has no objects.
func listed(ctx context.Context, from client.Reader, into client.ObjectList, options ...client.ListOption) string {
	err := from.List(ctx, into, options...)
	if err == nil || meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
		return ""
	}
	return strings.TrimSpace(err.Error())
}

// named reads some objects of the manager's namespace by their names. Missing ones are left out.
func named[T any, P interface {
	*T
	client.Object
}](ctx context.Context, from client.Reader, names ...string) (read takeover.Read[T]) {
	for _, name := range names {
		object := new(T)
		err := from.Get(ctx, client.ObjectKey{Namespace: v1beta2.DefaultNamespace, Name: name}, P(object))
		switch {
		case err == nil:
			read.Items = append(read.Items, *object)
		case !apierrors.IsNotFound(err):
			read.Err = err.Error()
		}
	}
	return read
}
