package runtimeaccess

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/kubeconfig"
)

// Parse returns a kubeconfig that a user brings for a runtime, reduced to its current context, and the connection that it describes, with
// the bounds of this package. Only inline values are used: it reads no file and runs nothing. The errors are *Error, and repeat no value.
func Parse(ctx context.Context, data []byte) ([]byte, *rest.Config, error) {
	invalid := func(why string) error {
		return &Error{Reason: v1beta2.ReasonKubeconfigInvalid, Message: "the kubeconfig cannot be used: " + why}
	}
	if len(data) > kubeconfig.MaxSize {
		return nil, nil, invalid(fmt.Sprintf("it has %d bytes, at most %d are read", len(data), kubeconfig.MaxSize))
	}
	file, err := clientcmd.Load(data)
	if err != nil { // the parser's error repeats its input, which may be a token
		return nil, nil, invalid("it is no valid kubeconfig of version v1")
	}
	if err := clientcmdapi.MinifyConfig(file); err != nil { // names of contexts are all that it repeats, and they may be secret, too
		return nil, nil, invalid("its current-context leads to no cluster and user of the file")
	}
	reduced, err := clientcmd.Write(*file)
	if err != nil {
		return nil, nil, invalid("it cannot be written again")
	}
	config, problem := kubeconfig.Parse(reduced)
	if problem != nil {
		return nil, nil, &Error{Reason: problem.Reason, Message: problem.Message}
	}
	if err := secure(config, boundsOf(ctx)); err != nil {
		return nil, nil, invalid("its certificates cannot be used")
	}
	config.QPS = -1
	return reduced, config, nil
}

// Identify returns the identity of the cluster that a configuration leads to. It fails if the cluster does not answer, or does not accept
// the credentials.
func Identify(ctx context.Context, config *rest.Config) (types.UID, error) {
	core, err := corev1client.NewForConfig(config)
	if err != nil {
		return "", &Error{v1beta2.ReasonKubeconfigInvalid, "the kubeconfig cannot be used", err}
	}
	ctx, done := context.WithTimeout(ctx, 3*dialTimeout)
	defer done()
	namespace, err := core.Namespaces().Get(ctx, identityNamespace, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	return namespace.UID, nil
}

// Explain returns an error of Identify as one that may be shown: the author of a kubeconfig chooses the server, whose responses are not
// repeated.
func Explain(err error) error {
	own, is := errors.AsType[*Error](err)
	switch {
	case apierrors.IsUnauthorized(err), ReasonOf(err) == v1beta2.ReasonRuntimeUnauthorized:
		return &Error{Reason: v1beta2.ReasonRuntimeUnauthorized, Message: "the cluster does not accept the credentials of the kubeconfig"}
	case apierrors.IsForbidden(err):
		return &Error{Reason: v1beta2.ReasonRuntimeForbidden, Message: "the kubeconfig may not read namespace " + identityNamespace +
			" of its cluster, by which the lifecycle manager tells clusters apart"}
	case is:
		return own
	}
	return &Error{Reason: v1beta2.ReasonRuntimeUnreachable, Message: "the cluster of the kubeconfig does not answer: " + why(err)}
}

// AmbiguousError is a Kyma with more than one access Secret.
type AmbiguousError struct {
	Kyma    client.ObjectKey
	Secrets []string
}

// Error names two of the Secrets.
func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("kyma %s has %d access Secrets: leave one of %s and %s", e.Kyma, len(e.Secrets), e.Secrets[0], e.Secrets[1])
}

// TakenError is a Secret of the Kyma's name that is not its access Secret.
type TakenError struct{ Kyma client.ObjectKey }

// Error names the Secret.
func (e *TakenError) Error() string {
	return fmt.Sprintf("secret %s exists and is not the access Secret of Kyma %s: rename or delete it", e.Kyma, e.Kyma)
}

// Stored is what Store did, or would do.
type Stored struct {
	// Secret is the access Secret.
	Secret client.ObjectKey
	// Created reports whether it is new, and Changed whether it is new or has other content.
	Created, Changed bool
}

// Secrets returns the access Secrets of a Kyma: those that the lifecycle manager would find.
func Secrets(ctx context.Context, hub client.Reader, kyma client.ObjectKey) ([]corev1.Secret, error) {
	var secrets corev1.SecretList
	err := hub.List(ctx, &secrets, client.InNamespace(kyma.Namespace), client.MatchingLabels{v1beta2.LabelKymaName: kyma.Name})
	return secrets.Items, err
}

// Writing is how Store writes.
type Writing struct {
	// Manager is the field manager.
	Manager string
	// DryRun lets the API server check it, Nothing does not even send it.
	DryRun, Nothing bool
}

// Store writes a kubeconfig as the access Secret of a Kyma: the one that it has, or else one of the Kyma's name. The errors are
// *AmbiguousError, *TakenError, and those of the API server.
func Store(ctx context.Context, hub client.Client, kyma client.ObjectKey, kubeconfig []byte, how Writing) (Stored, error) {
	secrets, err := Secrets(ctx, hub, kyma)
	if err != nil {
		return Stored{}, err
	}
	if len(secrets) > 1 {
		return Stored{}, &AmbiguousError{kyma, []string{secrets[0].Name, secrets[1].Name}}
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: kyma.Namespace, Name: kyma.Name}}
	if len(secrets) == 1 {
		secret = &secrets[0]
	}
	is := Stored{Secret: client.ObjectKeyFromObject(secret), Created: len(secrets) == 0}
	if bytes.Equal(secret.Data[v1beta2.AccessSecretKey], kubeconfig) {
		return is, nil
	}
	is.Changed = true
	before := secret.DeepCopy()
	if secret.Labels == nil {
		secret.Labels = map[string]string{}
	}
	secret.Labels[v1beta2.LabelKymaName] = kyma.Name
	secret.Data = map[string][]byte{v1beta2.AccessSecretKey: kubeconfig}
	if how.Nothing {
		return is, nil
	}
	return is, write(ctx, hub, before, secret, is.Created, how)
}

func write(ctx context.Context, hub client.Client, before, secret *corev1.Secret, create bool, how Writing) error {
	var dry []string
	if how.DryRun {
		dry = []string{metav1.DryRunAll}
	}
	if !create {
		lock := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
		return hub.Patch(ctx, secret, lock, &client.PatchOptions{DryRun: dry, FieldManager: how.Manager})
	}
	err := hub.Create(ctx, secret, &client.CreateOptions{DryRun: dry, FieldManager: how.Manager})
	if apierrors.IsAlreadyExists(err) {
		return &TakenError{client.ObjectKeyFromObject(secret)}
	}
	return err
}
