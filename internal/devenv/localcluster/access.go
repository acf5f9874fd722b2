//go:build unix

package localcluster

import (
	"context"
	"fmt"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// tokenLifetime outlives every test run and every playground session: nothing here renews a token.
const tokenLifetime = 7 * 24 * time.Hour

// AddUser returns the access of a user with a client certificate. RBAC decides what the user may do: only the members of group
// "system:masters" need no binding.
func (cp *ControlPlane) AddUser(name string, groups ...string) (*rest.Config, error) {
	// A negative QPS disables client-go's own rate limit: API servers limit by themselves.
	user, err := cp.plane.AddUser(envtest.User{Name: name, Groups: groups}, &rest.Config{QPS: -1})
	if err != nil {
		return nil, fmt.Errorf("cannot add user %q to control plane %q: %w", name, cp.Name, err)
	}
	return user.Config(), nil
}

// UserKubeconfig is AddUser as a kubeconfig with inline data only, as in an access Secret.
func (cp *ControlPlane) UserKubeconfig(name string, groups ...string) ([]byte, error) {
	config, err := cp.AddUser(name, groups...)
	if err != nil {
		return nil, err
	}
	return KubeconfigOf(cp.Name, config)
}

// ServiceAccountConfig returns the access of a ServiceAccount, with a token that the API server issues. The ServiceAccount must exist; RBAC
// determines its permissions.
func (cp *ControlPlane) ServiceAccountConfig(ctx context.Context, namespace, name string) (*rest.Config, error) {
	clients, err := kubernetes.NewForConfig(cp.Config)
	if err != nil {
		return nil, fmt.Errorf("cannot make a client for control plane %q: %w", cp.Name, err)
	}
	seconds := int64(tokenLifetime / time.Second)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	request, err = clients.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, name, request, metav1.CreateOptions{})
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("control plane %q has no ServiceAccount %s/%s: create it first: %w", cp.Name, namespace, name, err)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot get a token for ServiceAccount %s/%s: %w", namespace, name, err)
	}
	config := rest.AnonymousClientConfig(cp.Config)
	config.BearerToken = request.Status.Token
	return config, nil
}

// KubeconfigOf renders access as a kubeconfig with one context of the given name and inline data only: it refers to no
// file, so it can be moved, put into a Secret, or outlive the program that wrote it.
func KubeconfigOf(name string, config *rest.Config) ([]byte, error) {
	if config.CAFile != "" || config.CertFile != "" || config.KeyFile != "" || config.BearerTokenFile != "" {
		return nil, fmt.Errorf("cannot render kubeconfig %q: the configuration refers to files, load their data first", name)
	}
	out := clientcmdapi.NewConfig()
	out.Clusters[name] = &clientcmdapi.Cluster{Server: strings.TrimSuffix(config.Host, "/"), CertificateAuthorityData: config.CAData}
	out.AuthInfos[name] = &clientcmdapi.AuthInfo{
		ClientCertificateData: config.CertData,
		ClientKeyData:         config.KeyData,
		Token:                 config.BearerToken,
		Username:              config.Username,
		Password:              config.Password,
	}
	out.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	out.CurrentContext = name
	data, err := clientcmd.Write(*out)
	if err != nil {
		return nil, fmt.Errorf("cannot render kubeconfig %q: %w", name, err)
	}
	return data, nil
}
