package modulecontent

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// retrySecret is the pause after which to look again for a missing Secret.
const retrySecret = 10 * time.Second

// knownHosts is the key beside corev1.SSHAuthPrivateKey, as Flux and others use it.
const knownHosts = "known_hosts"

// Logins are the logins in the Secrets that a source selects.
type Logins struct {
	// Docker is a docker config with all registry logins, each for its own host; nil when there is none.
	Docker []byte
	// hosts are the other logins, in the order of the names of their Secrets: see For.
	hosts []hostLogin
	// operators reports whether the operator's own login is used where these have no registry logins.
	operators bool
}

// fingerprint returns a hash that distinguishes logins without storing them.
func (l *Logins) fingerprint() [sha256.Size]byte {
	parts := [][]byte{l.Docker}
	if l.operators {
		parts = append(parts, []byte("operator"))
	}
	for i := range l.hosts {
		one := &l.hosts[i]
		for _, text := range []string{one.Username, one.Password, one.SSHKey, one.KnownHosts, strings.Join(one.hosts, ",")} {
			parts = append(parts, []byte(text))
		}
	}
	return sha256.Sum256(bytes.Join(parts, []byte{0}))
}

// logins reads the Secrets that a selector finds: registry logins (.dockerconfigjson), username and password, or an SSH key.
func (c *Contents) logins(ctx context.Context, namespace string, selector *metav1.LabelSelector) (Logins, error) {
	if selector == nil {
		return Logins{}, nil
	}
	labels, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return Logins{}, sourceInvalid("credSecretSelector: %v", err)
	}
	if labels.Empty() {
		return Logins{}, sourceInvalid("credSecretSelector selects every Secret: name the label of the ones with the login")
	}
	list := &corev1.SecretList{}
	if err := c.Secrets.List(ctx, list, client.InNamespace(namespace), client.MatchingLabelsSelector{Selector: labels}); err != nil {
		return Logins{}, fmt.Errorf("list registry credentials in %s: %w", namespace, err)
	}
	if len(list.Items) == 0 {
		return Logins{}, &content.Error{
			Reason: content.ReasonRegistryUnauthorized,
			Err: fmt.Errorf("no private oci registry auth secret found: create a Secret with the labels %s in namespace %s",
				labels, namespace),
			RetryAfter: retrySecret,
		}
	}
	found, docker := Logins{}, map[string]json.RawMessage{}
	slices.SortFunc(list.Items, func(a, b corev1.Secret) int { return strings.Compare(a.Name, b.Name) })
	for i := range list.Items {
		if err := found.add(&list.Items[i], docker); err != nil {
			return Logins{}, err
		}
	}
	if len(docker) == 0 {
		return found, nil
	}
	if found.Docker, err = json.Marshal(map[string]any{"auths": docker}); err != nil {
		return found, err
	}
	if _, err := credentials.NewMemoryStoreFromDockerConfig(found.Docker); err != nil { // its text may quote a login
		return found, &content.Error{Reason: content.ReasonRegistryUnauthorized, Err: errors.New("the registry Secrets hold no usable logins")}
	}
	return found, nil
}

// add adds the login of one Secret. A password or key counts only in a Secret whose type is that of a login: the author of a Manifest also
// chooses the host that it would be sent to.
func (l *Logins) add(secret *corev1.Secret, docker map[string]json.RawMessage) error {
	if secret.Type != corev1.SecretTypeSSHAuth && secret.Type != corev1.SecretTypeBasicAuth {
		return addDocker(secret, docker)
	}
	found, err := hostLoginOf(secret)
	l.hosts = append(l.hosts, found)
	return err
}

// addDocker adds registry logins, whatever type the Secret has: each is for its own host.
func addDocker(secret *corev1.Secret, docker map[string]json.RawMessage) error {
	config := struct {
		Auths map[string]json.RawMessage `json:"auths"`
	}{}
	if err := json.Unmarshal(secret.Data[corev1.DockerConfigJsonKey], &config); err != nil || len(config.Auths) == 0 {
		return &content.Error{
			Reason: content.ReasonRegistryUnauthorized,
			Err: errors.New("Secret " + secret.Namespace + "/" + secret.Name + " holds no logins: it needs the key .dockerconfigjson, or the type " +
				"kubernetes.io/basic-auth or kubernetes.io/ssh-auth (with known_hosts)"),
		}
	}
	maps.Copy(docker, config.Auths)
	return nil
}

// fetcherKey identifies an OCI client.
type fetcherKey struct {
	logins    [sha256.Size]byte
	plainHTTP bool
}

// fetcher returns the common OCI client with the operator's own login, or one with the logins of a source, without any, or for a registry
// whose address is http. Those are cached, because each stores tokens and the pauses that a registry requested.
func (c *Contents) fetcher(logins Logins, plainHTTP bool) *content.OCI {
	if logins.Docker == nil && !plainHTTP && logins.operators {
		return c.OCI
	}
	key := fetcherKey{logins.fingerprint(), plainHTTP}
	if known, ok := c.fetchers.Get(key); ok {
		oci, _ := known.(*content.OCI)
		return oci
	}
	oci := &content.OCI{Store: c.OCI.Store, Registries: c.OCI.Registries}
	if plainHTTP {
		// The author of a Manifest may switch off TLS, and can then read public content. Only the registries file, or the flag that names the
		// operator's registry, decides whether a login is sent there.
		configured := c.OCI.PlainHTTP
		oci.PlainHTTP = func(string) bool { return true }
		oci.PlainLogins = func(host string) bool { return c.policy(host).PlainHTTP || configured != nil && configured(host) }
	}
	oci.Credentials = nil // the manager's own credentials are never sent without TLS, and are not used for the Manifests of other owners
	if logins.Docker != nil {
		oci.Credentials = dockerLogins(logins.Docker)
	}
	c.fetchers.Add(key, oci)
	return oci
}

// dockerLogins returns the credentials of a docker config that logins has validated.
func dockerLogins(config []byte) func(context.Context, string) (auth.Credential, error) {
	store, err := credentials.NewMemoryStoreFromDockerConfig(config)
	return func(ctx context.Context, host string) (auth.Credential, error) {
		if err != nil {
			return auth.EmptyCredential, errors.New("the registry Secrets hold no usable logins")
		}
		return store.Get(ctx, host)
	}
}
