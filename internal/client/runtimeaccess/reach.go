package runtimeaccess

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/kubeconfig"
)

// WhyForbidden is the reason when the user may not read the access Secret. The others are those of the API: AccessSecretNotFound,
// AccessSecretAmbiguous, KubeconfigInvalid, KubeconfigRefused, RuntimeReplaced, RuntimeUnreachable, RuntimeUnauthorized.
const WhyForbidden = "AccessSecretForbidden"

// Error is the reason why the user cannot reach a runtime. It contains no credential.
type Error struct {
	Reason, Message string
	// Err is the cause, if there is one.
	Err error
}

// Error returns the problem, its place and the remedy.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ReasonOf returns the reason of an error of this package, and "" for any other error.
func ReasonOf(err error) string {
	if own, ok := errors.AsType[*Error](err); ok {
		return own.Reason
	}
	return ""
}

// IsForbidden reports whether the user may not read the access Secret.
func IsForbidden(err error) bool { return ReasonOf(err) == WhyForbidden }

// identityNamespace exists for as long as its cluster, so its UID identifies the cluster.
const identityNamespace = "kube-system"

// Cluster returns the configuration for the cluster of a Kyma's modules, for the user of hub and hubConfig:
//
//  1. for a local Kyma, and for the copy in a runtime: this very cluster
//  2. otherwise, the only access Secret of the Kyma is read as the user
//  3. its kubeconfig must be self-contained
//  4. the cluster behind it must be the one in the Kyma's status, if that names one
//
// The errors are *Error, and those of the hub's API server. Case 1 needs no request, the others one, and step 4 one more.
func Cluster(ctx context.Context, hub client.Client, hubConfig *rest.Config, kyma *v1beta2.Kyma) (*rest.Config, error) {
	if modulestatus.Here(kyma) {
		return rest.CopyConfig(hubConfig), nil
	}
	secret, err := accessSecret(ctx, hub, client.ObjectKeyFromObject(kyma))
	if err != nil {
		return nil, err
	}
	config, err := configOf(ctx, secret)
	if err != nil {
		return nil, err
	}
	return config, same(ctx, config, kyma)
}

// accessSecret reads the only Secret that leads to the runtime.
func accessSecret(ctx context.Context, hub client.Reader, kyma client.ObjectKey) (*corev1.Secret, error) {
	var found corev1.SecretList
	err := hub.List(ctx, &found, client.InNamespace(kyma.Namespace), client.MatchingLabels{v1beta2.LabelKymaName: kyma.Name})
	if apierrors.IsForbidden(err) {
		return nil, &Error{WhyForbidden, fmt.Sprintf("you may not read the access Secret of Kyma %s, so the content of its runtime "+
			"is not shown: ask for the right to list secrets in namespace %s", kyma, kyma.Namespace), err}
	}
	if err != nil {
		return nil, err
	}
	switch len(found.Items) {
	case 1:
		return &found.Items[0], nil
	case 0:
		return nil, &Error{Reason: v1beta2.ReasonAccessSecretNotFound, Message: fmt.Sprintf(
			"nothing leads to the runtime of Kyma %s: no Secret in namespace %s has the label %s=%s", kyma, kyma.Namespace,
			v1beta2.LabelKymaName, kyma.Name)}
	}
	return nil, &Error{Reason: v1beta2.ReasonAccessSecretAmbiguous, Message: fmt.Sprintf(
		"%d Secrets lead to the runtime of Kyma %s: %s; leave one", len(found.Items), kyma, names(found.Items))}
}

// names lists some of the names of Secrets.
func names(secrets []corev1.Secret) string {
	const most = 5
	var all []string
	for i := range secrets {
		all = append(all, secrets[i].Name)
	}
	slices.Sort(all)
	if len(all) > most {
		all = append(all[:most], "...")
	}
	return strings.Join(all, ", ")
}

// configOf returns the connection that a Secret describes: without a proxy of its own, not to local addresses, and without redirects, which
// would send the credentials elsewhere.
func configOf(ctx context.Context, secret *corev1.Secret) (*rest.Config, error) {
	data, there := secret.Data[v1beta2.AccessSecretKey]
	if !there {
		return nil, &Error{Reason: v1beta2.ReasonKubeconfigInvalid, Message: fmt.Sprintf(
			"Secret %s/%s has no key %s with a kubeconfig", secret.Namespace, secret.Name, v1beta2.AccessSecretKey)}
	}
	config, problem := kubeconfig.Parse(data)
	if problem != nil {
		return nil, &Error{problem.Reason, fmt.Sprintf("Secret %s/%s: %s", secret.Namespace, secret.Name, problem.Message), nil}
	}
	if err := secure(config, boundsOf(ctx)); err != nil {
		return nil, &Error{v1beta2.ReasonKubeconfigInvalid, fmt.Sprintf(
			"Secret %s/%s: the kubeconfig's certificates cannot be used", secret.Namespace, secret.Name), err}
	}
	config.QPS = -1
	return config, nil
}

// same refuses a cluster other than the one in the Kyma's status. It compares nothing if the user may not read the namespace.
func same(ctx context.Context, config *rest.Config, kyma *v1beta2.Kyma) error {
	known := kyma.Status.RuntimeID
	if known == "" {
		return nil
	}
	core, err := corev1client.NewForConfig(config)
	if err != nil {
		return &Error{v1beta2.ReasonKubeconfigInvalid, "the kubeconfig cannot be used", err}
	}
	ctx, done := context.WithTimeout(ctx, 2*dialTimeout)
	defer done()
	namespace, err := core.Namespaces().Get(ctx, identityNamespace, metav1.GetOptions{})
	key := client.ObjectKeyFromObject(kyma)
	switch {
	case err == nil && string(namespace.UID) != known:
		return &Error{Reason: v1beta2.ReasonRuntimeReplaced, Message: fmt.Sprintf("the access Secret of Kyma %s leads to another cluster "+
			"than before: nothing is read or changed there; correct the Secret", key)}
	case err == nil, apierrors.IsForbidden(err), apierrors.IsNotFound(err):
		return nil
	}
	if known, ok := errors.AsType[*Error](err); ok {
		return known
	}
	return &Error{Reason: v1beta2.ReasonRuntimeUnreachable, Message: fmt.Sprintf("the runtime of Kyma %s does not answer: %s", key, why(err))}
}

// why replaces an error that a server caused: the author of an access Secret chooses the server, and its responses must not be readable
// through this program.
func why(err error) string {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return fmt.Sprintf("it refuses to identify its cluster, with status %d", status.Status().Code)
	}
	return firstLine(err.Error())
}

func firstLine(text string) string {
	const most = 300
	line, _, _ := strings.Cut(text, "\n")
	return line[:min(len(line), most)]
}
