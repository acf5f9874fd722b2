package clustercache

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
)

// SecretIndex is the name of the field index for Config.SecretIndexed.
const SecretIndex = "fleet.accessSecret"

// IndexSecret returns a Secret's value for SecretIndex: the Kyma that it belongs to.
func IndexSecret(obj client.Object) []string {
	if kyma := obj.GetLabels()[v1beta2.LabelKymaName]; kyma != "" {
		return []string{kyma}
	}
	return nil
}

// access is the content of an access Secret. The digest shows whether a new connection would equal the old one: a Secret that is
// rewritten with equal content costs no connection.
type access struct {
	kubeconfig []byte // of the cache: never to be changed
	digest     [sha256.Size]byte
}

// findAccess returns the one Secret that gives access to the runtime of a Kyma.
func (f *Clusters) findAccess(ctx context.Context, namespace, kyma string) (access, *runtimes.Problem) {
	var list corev1.SecretList
	var by client.ListOption = client.MatchingLabels{v1beta2.LabelKymaName: kyma}
	if f.cfg.SecretIndexed {
		by = client.MatchingFields{SecretIndex: kyma}
	}
	if err := f.cfg.Secrets.List(ctx, &list, client.InNamespace(namespace), by, client.UnsafeDisableDeepCopy); err != nil {
		return access{}, &runtimes.Problem{
			Reason: v1beta2.ReasonInternal, Retry: firstBackoff, Err: err,
			Message: fmt.Sprintf("access Secrets of Kyma %s/%s cannot be listed", namespace, kyma),
		}
	}
	switch len(list.Items) {
	case 0:
		return access{}, &runtimes.Problem{
			Reason: v1beta2.ReasonAccessSecretNotFound,
			Message: fmt.Sprintf("no Secret in namespace %s has the label %s=%s; create one with the runtime's kubeconfig under the key %s",
				namespace, v1beta2.LabelKymaName, kyma, v1beta2.AccessSecretKey),
		}
	case 1:
		return accessOf(&list.Items[0])
	}
	return access{}, &runtimes.Problem{
		Reason: v1beta2.ReasonAccessSecretAmbiguous,
		Message: fmt.Sprintf("%d Secrets in namespace %s have the label %s=%s: %s; leave one",
			len(list.Items), namespace, v1beta2.LabelKymaName, kyma, someNames(list.Items)),
	}
}

func accessOf(secret *corev1.Secret) (access, *runtimes.Problem) {
	kubeconfig, ok := secret.Data[v1beta2.AccessSecretKey]
	if !ok {
		return access{}, invalidKubeconfig("Secret %s/%s has no key %s", secret.Namespace, secret.Name, v1beta2.AccessSecretKey)
	}
	return access{kubeconfig: kubeconfig, digest: sha256.Sum256(kubeconfig)}, nil
}

// someNames lists names for a message that must stay short.
func someNames(secrets []corev1.Secret) string {
	const most = 5
	names := make([]string, 0, len(secrets))
	for i := range secrets {
		names = append(names, secrets[i].Name)
	}
	slices.Sort(names)
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", ..."
	}
	return strings.Join(names, ", ")
}
