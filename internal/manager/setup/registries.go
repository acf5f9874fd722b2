package setup

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/internal/policy"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// registries defines how to connect to the registry that the flags name, directly or by a Secret that may change at any time.
type registries struct {
	config *Config
	file   *policy.RegistryFile
	log    logr.Logger

	mu sync.RWMutex
	// host is the registry as the flag or the Secret names it.
	host string
	// login is the docker config in use; nil when no Secret is named.
	login []byte
	// err is the reason why there is no login although one is required.
	err error
}

// where returns the current registry.
func (r *registries) where() (host string, plainHTTP bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return (&Config{RegistryHost: r.host}).registry()
}

func (r *registries) components() *descriptor.Reader {
	host, plainHTTP := r.where()
	return &descriptor.Reader{
		Registry: host, SubPath: r.config.RegistrySubPath, Mapping: descriptor.Mapping(r.config.NameMapping),
		Registries: descriptor.Registries{PlainHTTP: plainHTTP, Credentials: r.credentials, Policy: r.file.Host},
	}
}

func (r *registries) content() content.Registries {
	return content.Registries{
		PlainHTTP: func(host string) bool {
			ours, plainHTTP := r.where()
			return plainHTTP && host == ours
		},
		Credentials: r.credentials,
		Policy:      r.file.Host,
	}
}

// credentials returns the login for a host; none where the Secret names another host.
func (r *registries) credentials(ctx context.Context, host string) (auth.Credential, error) {
	r.mu.RLock()
	login, err := r.login, r.err
	r.mu.RUnlock()
	if login == nil || err != nil {
		return auth.EmptyCredential, err
	}
	store, err := credentials.NewMemoryStoreFromDockerConfig(login)
	if err != nil {
		// Not the cause itself, which may quote the text that could not be parsed.
		return auth.EmptyCredential, fmt.Errorf("registry Secret %s holds no usable login", r.config.RegistrySecret)
	}
	return store.Get(ctx, host)
}

// start takes the registry from the flag, or registry and login from the Secret. A Secret that does not exist yet, or is invalid, is logged
// and waited for: administrators create the Secret after the manager as often as before it.
func (r *registries) start(ctx context.Context, reader client.Reader) error {
	if r.config.RegistrySecret == "" {
		r.host = r.config.RegistryHost
		return nil
	}
	secret, key := &corev1.Secret{}, types.NamespacedName{Namespace: r.config.OperatorNamespace, Name: r.config.RegistrySecret}
	switch err := reader.Get(ctx, key, secret); {
	case apierrors.IsNotFound(err):
		secret = nil
	case err != nil:
		return fmt.Errorf("read the registry Secret %s of --oci-registry-cred-secret: %w", key, err)
	}
	if _, _, err := r.take(secret); err != nil {
		r.log.Error(err, "Registry Secret cannot be used; modules are resolved once it can")
	}
	return nil
}

// take uses a Secret from now on (nil when it is gone), and reports whether it differs from the previous one and whether it is for another
// host. The error of an unusable Secret is returned wherever a login is required; the host stays until a usable one follows.
func (r *registries) take(secret *corev1.Secret) (changed, moved bool, err error) {
	host, login := "", []byte(nil)
	if secret == nil {
		err = fmt.Errorf("registry Secret %s/%s of --oci-registry-cred-secret does not exist",
			r.config.OperatorNamespace, r.config.RegistrySecret)
	} else {
		login = secret.Data[corev1.DockerConfigJsonKey]
		host, err = hostOf(r.config.RegistrySecret, login)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		changed = r.err == nil || r.err.Error() != err.Error()
		r.err = err
		return changed, false, err
	}
	changed, moved = r.err != nil || !bytes.Equal(r.login, login), r.host != host
	r.login, r.err, r.host = login, nil, host
	return changed, moved, nil
}

// hostOf returns the only registry that a docker config names.
func hostOf(name string, config []byte) (string, error) {
	parsed := struct {
		Auths map[string]json.RawMessage `json:"auths"`
	}{}
	if err := json.Unmarshal(config, &parsed); err != nil {
		return "", fmt.Errorf("registry Secret %s: its key %s is no docker config", name, corev1.DockerConfigJsonKey)
	}
	hosts := slices.Sorted(maps.Keys(parsed.Auths))
	if len(hosts) != 1 || !descriptor.IsAddress(hosts[0]) {
		return "", fmt.Errorf("registry Secret %s names %d registries %v: exactly one host is needed", name, len(hosts), hosts)
	}
	return hosts[0], nil
}
