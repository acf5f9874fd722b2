package artifact

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/lru"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// keptContents bounds the parsed contents that are kept; the store on disk keeps the rest.
const keptContents = 64

// Objects reads which objects a source declares.
type Objects struct {
	// OCI fetches layers, verified, into a store.
	OCI *content.OCI
	// Secrets reads registry credentials, past any cache.
	Secrets client.Reader

	parsed   *lru.Cache
	fetchers *lru.Cache
	calls    *calls[wanted, []*unstructured.Unstructured]
}

// wanted is a content and who fetches it: that one login is refused says nothing of another.
type wanted struct {
	by        *content.OCI
	reference content.Reference
	kind      v1beta2.RefType
}

// ErrPending says that content is being fetched for the first time; nothing has failed.
var ErrPending = errors.New("the content is being fetched")

// NewObjects reads by oci; secrets is asked for the credentials that a source selects.
func NewObjects(oci *content.OCI, secrets client.Reader) *Objects {
	return &Objects{
		OCI: oci, Secrets: secrets, parsed: lru.New(keptContents), fetchers: lru.New(keptContents),
		calls: newCalls[wanted, []*unstructured.Unstructured](),
	}
}

// Objects returns the objects of a Manifest's source, verified and parsed. They are shared: whoever changes one copies it first.
// The error is a *content.Error where the content or the registry is to blame, and ErrPending while it is on its way.
func (o *Objects) Objects(ctx context.Context, manifest *v1beta2.Manifest, source v1beta2.ImageSpec) ([]*unstructured.Unstructured, error) {
	reference, plainHTTP, err := content.ParseReference(source.Repo, source.Name, source.Ref)
	if err != nil {
		return nil, err
	}
	if objects, ok := o.recall(reference, source.Type); ok {
		return objects, nil
	}
	oci, err := o.fetcher(ctx, manifest.Namespace, source, plainHTTP)
	if err != nil {
		return nil, err
	}
	want := wanted{by: oci, reference: reference, kind: source.Type}
	objects, retry, err := o.calls.do(ctx, want, func(ctx context.Context) ([]*unstructured.Unstructured, error) { return o.fetch(ctx, want) })
	if typed, ok := errors.AsType[*content.Error](err); ok {
		return nil, &content.Error{Reason: typed.Reason, Err: err, RetryAfter: retry}
	}
	if err == nil && retry > 0 {
		return nil, ErrPending
	}
	return objects, err
}

// parsedKey is what objects are kept by: what is verified does not depend on where it came from.
type parsedKey struct {
	digest string
	kind   v1beta2.RefType
}

func (o *Objects) recall(reference content.Reference, kind v1beta2.RefType) ([]*unstructured.Unstructured, bool) {
	known, _ := o.parsed.Get(parsedKey{reference.Digest, kind})
	objects, ok := known.([]*unstructured.Unstructured)
	return objects, ok
}

func (o *Objects) fetch(ctx context.Context, want wanted) ([]*unstructured.Unstructured, error) {
	if objects, ok := o.recall(want.reference, want.kind); ok {
		return objects, nil // fetched since the caller looked
	}
	path, err := want.by.Layer(ctx, want.reference)
	if err != nil {
		return nil, err
	}
	objects, err := parse(path, want.kind, want.by.Store.Limits)
	if err != nil {
		return nil, err
	}
	o.parsed.Add(parsedKey{want.reference.Digest, want.kind}, objects)
	return objects, nil
}

func parse(path string, kind v1beta2.RefType, limits content.Limits) ([]*unstructured.Unstructured, error) {
	open := content.Plain
	if kind == v1beta2.RefTypeOCIDir {
		open = content.FirstFile
	}
	reader, err := open(path, limits)
	if err != nil {
		return nil, err
	}
	defer func() { _ = reader.Close() }()
	return render.Parse(reader, render.DefaultLimit)
}

// fetcher is the common one, or one that says how to reach this source's registry. Those are kept by what they were made from, because
// each remembers tokens and how long a registry asked to be left alone.
func (o *Objects) fetcher(ctx context.Context, namespace string, source v1beta2.ImageSpec, plainHTTP bool) (*content.OCI, error) {
	if source.CredSecretSelector == nil && !plainHTTP {
		return o.OCI, nil
	}
	var logins []byte
	if source.CredSecretSelector != nil {
		var err error
		if logins, err = o.logins(ctx, namespace, source.CredSecretSelector); err != nil {
			return nil, err
		}
	}
	key := fetcherKey{logins: sha256.Sum256(logins), plainHTTP: plainHTTP}
	if known, ok := o.fetchers.Get(key); ok {
		oci, _ := known.(*content.OCI)
		return oci, nil
	}
	oci := &content.OCI{Store: o.OCI.Store, Registries: o.OCI.Registries}
	if plainHTTP {
		oci.PlainHTTP = func(string) bool { return true }
	}
	if logins != nil {
		store, err := credentials.NewMemoryStoreFromDockerConfig(logins)
		if err != nil {
			return nil, &content.Error{Reason: content.ReasonRegistryUnauthorized, Err: errors.New("the registry Secrets hold no usable logins")}
		}
		oci.Credentials = func(ctx context.Context, host string) (auth.Credential, error) { return store.Get(ctx, host) }
	}
	o.fetchers.Add(key, oci)
	return oci, nil
}

type fetcherKey struct {
	logins    [sha256.Size]byte
	plainHTTP bool
}

// logins collects the logins of all Secrets that the selector finds, as one docker config.
func (o *Objects) logins(ctx context.Context, namespace string, selector *metav1.LabelSelector) ([]byte, error) {
	labels, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return nil, &content.Error{Reason: content.ReasonSourceInvalid, Err: fmt.Errorf("credSecretSelector: %w", err)}
	}
	list := &corev1.SecretList{}
	if err := o.Secrets.List(ctx, list, client.InNamespace(namespace), client.MatchingLabelsSelector{Selector: labels}); err != nil {
		return nil, fmt.Errorf("list registry credentials in %s: %w", namespace, err)
	}
	if len(list.Items) == 0 {
		return nil, &content.Error{
			Reason: content.ReasonRegistryUnauthorized,
			Err: fmt.Errorf("no private oci registry auth secret found: create a Secret with the labels %s in namespace %s",
				labels, namespace),
			RetryAfter: 10 * time.Second,
		}
	}
	merged := map[string]json.RawMessage{}
	for i := range list.Items {
		if err := addLogins(&list.Items[i], merged); err != nil {
			return nil, err
		}
	}
	return json.Marshal(map[string]any{"auths": merged})
}

// addLogins adds the logins of a Secret of type kubernetes.io/dockerconfigjson.
func addLogins(secret *corev1.Secret, into map[string]json.RawMessage) error {
	config := struct {
		Auths map[string]json.RawMessage `json:"auths"`
	}{}
	if err := json.Unmarshal(secret.Data[corev1.DockerConfigJsonKey], &config); err != nil || len(config.Auths) == 0 {
		return &content.Error{
			Reason: content.ReasonRegistryUnauthorized,
			Err:    errors.New("Secret " + secret.Namespace + "/" + secret.Name + " holds no registry logins: it needs the key .dockerconfigjson"),
		}
	}
	maps.Copy(into, config.Auths)
	return nil
}
