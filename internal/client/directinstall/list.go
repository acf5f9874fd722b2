package directinstall

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/pkg/installer"
)

// List returns the modules that are installed directly, sorted by name. It sends one request.
func List(ctx context.Context, reader client.Reader) ([]modulestatus.Direct, error) {
	var secrets corev1.SecretList
	err := reader.List(ctx, &secrets, client.InNamespace(modulestatus.DirectNamespace), client.HasLabels{modulestatus.LabelDirect})
	if err != nil {
		return nil, err
	}
	return FromSecrets(secrets.Items), nil
}

// Find returns the record of one module, nil if it is not installed directly. It sends one request.
func Find(ctx context.Context, reader client.Reader, module string) (*modulestatus.Direct, error) {
	installed, err := List(ctx, reader)
	if err != nil {
		return nil, err
	}
	if at := slices.IndexFunc(installed, func(d modulestatus.Direct) bool { return d.Module == module }); at >= 0 {
		return &installed[at], nil
	}
	return nil, nil
}

// WantsDefault reports whether a module gets its default custom resource: if the policy requests it, and with the first installation unless
// the policy excludes it. A module that was installed without one stays without. before is the module's record, nil for none.
func WantsDefault(policy v1beta2.CustomResourcePolicy, before *modulestatus.Direct) bool {
	if policy != "" {
		return policy == v1beta2.CustomResourcePolicyCreateAndDelete
	}
	return before == nil || !before.Complete && before.Before == ""
}

// FromSecrets is List for callers that have read the Secrets already.
func FromSecrets(secrets []corev1.Secret) []modulestatus.Direct {
	records := installer.Records(secrets)
	found := make([]modulestatus.Direct, 0, len(records))
	for _, record := range records {
		direct := modulestatus.DirectOf(&metav1.ObjectMeta{
			Namespace: record.Namespace, Name: record.Name, Labels: record.Labels, Annotations: record.Annotations,
		})
		direct.Inventory = record.Entries
		if record.Err != nil && direct.Unreadable == "" {
			direct.Unreadable = record.Err.Error()
		}
		found = append(found, direct)
	}
	slices.SortFunc(found, func(a, b modulestatus.Direct) int { return strings.Compare(a.Module, b.Module) })
	return found
}
