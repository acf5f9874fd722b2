package setup

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/internal/policy"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// registries says how to talk to the registry that the flags name.
type registries struct {
	config *Config
	reader client.Reader
	file   *policy.RegistryFile
}

func (r *registries) components() *descriptor.Reader {
	host, plainHTTP := r.config.registry()
	return &descriptor.Reader{
		Registry: host, SubPath: r.config.RegistrySubPath,
		Registries: descriptor.Registries{PlainHTTP: plainHTTP, Credentials: r.credentials, Policy: r.file.Host},
	}
}

func (r *registries) content() content.Registries {
	ours, plainHTTP := r.config.registry()
	return content.Registries{
		PlainHTTP:   func(host string) bool { return plainHTTP && host == ours },
		Credentials: r.credentials,
		Policy:      r.file.Host,
	}
}

// credentials reads the Secret at each login, which is rare, so that a changed password needs no restart.
func (r *registries) credentials(ctx context.Context, host string) (auth.Credential, error) {
	if r.config.RegistrySecret == "" {
		return auth.EmptyCredential, nil
	}
	config, err := dockerConfig(ctx, r.reader, r.config)
	if err != nil {
		return auth.EmptyCredential, err
	}
	store, err := credentials.NewMemoryStoreFromDockerConfig(config)
	if err != nil {
		// Not the cause itself, which may quote what it could not read.
		return auth.EmptyCredential, fmt.Errorf("registry Secret %s holds no usable login", r.config.RegistrySecret)
	}
	return store.Get(ctx, host)
}

func dockerConfig(ctx context.Context, reader client.Reader, c *Config) ([]byte, error) {
	secret, key := &corev1.Secret{}, types.NamespacedName{Namespace: c.OperatorNamespace, Name: c.RegistrySecret}
	if err := reader.Get(ctx, key, secret); err != nil {
		return nil, fmt.Errorf("read the registry Secret %s of --oci-registry-cred-secret: %w", key, err)
	}
	return secret.Data[corev1.DockerConfigJsonKey], nil
}

// useRegistrySecret takes the registry's host from the Secret, which must name exactly one.
func useRegistrySecret(ctx context.Context, reader client.Reader, c *Config) error {
	if c.RegistrySecret == "" {
		return nil
	}
	config, err := dockerConfig(ctx, reader, c)
	if err != nil {
		return err
	}
	parsed := struct {
		Auths map[string]json.RawMessage `json:"auths"`
	}{}
	if err := json.Unmarshal(config, &parsed); err != nil {
		return fmt.Errorf("registry Secret %s: its key %s is no docker config", c.RegistrySecret, corev1.DockerConfigJsonKey)
	}
	hosts := slices.Sorted(maps.Keys(parsed.Auths))
	if len(hosts) != 1 || !hostPattern.MatchString(hosts[0]) {
		return fmt.Errorf("registry Secret %s names %d registries %v: exactly one host is needed", c.RegistrySecret, len(hosts), hosts)
	}
	c.RegistryHost = hosts[0]
	return nil
}
