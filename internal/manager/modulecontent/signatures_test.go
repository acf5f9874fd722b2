package modulecontent

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

const imageDigest = "sha256:4444444444444444444444444444444444444444444444444444444444444444"

var signer = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

// signable is a component version of a test: its descriptor when it is signed, and the changes made afterwards.
type signable struct {
	labels  string            // of raw-manifest
	change  map[string]string // in the text, after it was signed
	without bool              // a signature
}

// publishSigned pushes a component version and returns the digests of its two layers, raw-manifest and crds. {other} stands for the digest
// of an unsigned layer.
func (f *fake) publishSigned(t *testing.T, s signable) (manifest, definitions string) {
	t.Helper()
	layers := []ocispec.Descriptor{f.push(t, "application/yaml", configMap), f.push(t, "application/yaml", "# x\n"+configMap), f.push(t, "application/yaml", "other: x")}
	digest := func(layer ocispec.Descriptor) string {
		return `{hashAlgorithm: SHA-256, normalisationAlgorithm: genericBlobDigest/v1, value: "` + layer.Digest.Encoded() + `"}`
	}
	text := fmt.Sprintf(`
meta: {schemaVersion: v2}
component:
  name: %s
  version: 1.0.0
  provider: example.com
  repositoryContexts: []
  sources: []
  componentReferences: []
  resources:
  - {name: raw-manifest, type: PlainText, version: 1.0.0, relation: local, labels: [%s], access: {type: localBlob, localReference: "%s", mediaType: application/yaml}, digest: %s}
  - {name: crds, type: PlainText, version: 1.0.0, relation: local, access: {type: localBlob, localReference: "%s", mediaType: application/yaml}, digest: %s}
  - {name: operator, type: ociImage, version: 1.0.0, relation: external, access: {type: ociArtifact, imageReference: "example.com/operator:1.0.0"}, digest: {hashAlgorithm: SHA-256, normalisationAlgorithm: ociArtifactDigest/v1, value: "%s"}}
`, component, s.labels, layers[0].Digest, digest(layers[0]), layers[1].Digest, digest(layers[1]), strings.TrimPrefix(imageDigest, "sha256:"))
	if !s.without {
		text += signatureOf(t, text)
	}
	for from, to := range s.change {
		if !strings.Contains(text, from) {
			t.Fatalf("%q is not there", from)
		}
		text = strings.ReplaceAll(text, from, strings.ReplaceAll(to, "{other}", layers[2].Digest.String()))
	}
	described := f.push(t, "application/vnd.ocm.software.component-descriptor.v2+yaml", text)
	f.tag(t, described, layers...)
	return layers[0].Digest.String(), layers[1].Digest.String()
}

func signatureOf(t *testing.T, text string) string {
	t.Helper()
	normalised, err := descriptor.Normalise([]byte(text), descriptor.NormalisationV2)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(normalised)
	value, err := rsa.SignPKCS1v15(nil, signer(), crypto.SHA256, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`
signatures:
- name: kyma-module-signature
  digest: {hashAlgorithm: SHA-256, normalisationAlgorithm: jsonNormalisation/v2, value: "%x"}
  signature: {algorithm: RSASSA-PKCS1-V1_5, mediaType: application/vnd.ocm.signature.rsa, value: "%s"}
`, sum, hex.EncodeToString(value))
}

func policyOf(require descriptor.Requirement, keys ...*rsa.PrivateKey) *descriptor.SignaturePolicy {
	policy := &descriptor.SignaturePolicy{Require: require, Trust: descriptor.Trust{Names: []string{descriptor.SignatureName}}}
	for _, key := range keys {
		policy.Trust.PublicKeys = append(policy.Trust.PublicKeys, &key.PublicKey)
	}
	return policy
}

// ruled returns components with a policy that can be changed.
func (f *fake) ruled(policy *descriptor.SignaturePolicy) (*Components, *atomic.Pointer[descriptor.SignaturePolicy]) {
	components, rule := f.components(), &atomic.Pointer[descriptor.SignaturePolicy]{}
	rule.Store(policy)
	components.Signatures = func(string) *descriptor.SignaturePolicy { return rule.Load() }
	return components, rule
}

func TestSignatures_AComponentIsHeldToItsSignature(t *testing.T) {
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	digestOf := func(text string) string { sum := sha256.Sum256([]byte(text)); return hex.EncodeToString(sum[:]) }
	for name, test := range map[string]struct {
		component       signable
		trusted         *rsa.PrivateKey
		reason, message string
	}{
		"one that is signed":              {signable{}, signer(), "", ""},
		"one that is not":                 {signable{without: true}, signer(), v1beta2.ReasonSignatureMissing, "no signature named kyma-module-signature"},
		"one that another user signed":    {signable{}, other, v1beta2.ReasonSignatureUntrusted, "no key or certificate"},
		"one that was changed afterwards": {signable{change: map[string]string{"provider: example.com": "provider: example.org"}}, signer(), v1beta2.ReasonSignatureInvalid, "changed after it was signed"},
		"a resource that points elsewhere, which is not signed": {
			signable{change: map[string]string{`"sha256:` + digestOf(configMap) + `"`: `"{other}"`}}, signer(), v1beta2.ReasonSignatureInvalid, "resource raw-manifest points to",
		},
		"definitions that point elsewhere": {
			signable{change: map[string]string{`"sha256:` + digestOf("# x\n"+configMap) + `"`: `"{other}"`}}, signer(), v1beta2.ReasonSignatureInvalid, "resource crds points to",
		},
		"an image that points elsewhere": {
			signable{change: map[string]string{"example.com/operator:1.0.0": "example.com/operator:1.0.0@" + strings.ReplaceAll(imageDigest, "4", "5")}},
			signer(), v1beta2.ReasonSignatureInvalid, "image operator points to",
		},
		"an unsigned label that selects the renderer": {
			signable{labels: `{name: operator.kyma-project.io/renderer, value: oci-ref}`}, signer(), v1beta2.ReasonSignatureInvalid, "label",
		},
		"the same label, signed":                    {signable{labels: `{name: operator.kyma-project.io/renderer, value: oci-ref, signing: true}`}, signer(), "", ""},
		"a signature with an unknown normalisation": {signable{change: map[string]string{"jsonNormalisation/v2": "jsonNormalisation/v9"}}, signer(), v1beta2.ReasonSignatureInvalid, "jsonNormalisation/v9"},
	} {
		t.Run(name, func(t *testing.T) {
			f := startRegistry(t)
			layer, _ := f.publishSigned(t, test.component)
			components, rule := f.ruled(policyOf(descriptor.RequireEnforce, test.trusted))
			got, retry := components.Describe(t.Context(), key)
			if got.Reason != test.reason || !strings.Contains(got.Message, test.message) || (got.Source == nil) != (test.reason != "") ||
				(retry == 0) != (test.reason == "") {
				t.Errorf("enforce: got %+v, retry %s", got, retry)
			}
			if test.reason == "" {
				if got.Source.Ref != layer || !slices.Equal(got.LocalizedImages, []string{"example.com/operator:1.0.0@" + imageDigest}) {
					t.Errorf("got %+v", got)
				}
			}
			asked := f.requests.Load()
			rule.Store(policyOf(descriptor.RequireAudit, test.trusted))
			if got, retry := components.Describe(t.Context(), key); got.Reason != "" || got.Source == nil || retry != 0 ||
				!strings.Contains(got.Warning, test.message) || (got.Warning == "") != (test.reason == "") {
				t.Errorf("warn: got %+v, retry %s", got, retry)
			}
			rule.Store(nil)
			if got, retry := components.Describe(t.Context(), key); got.Reason != "" || got.Warning != "" || retry != 0 {
				t.Errorf("off: got %+v, retry %s", got, retry)
			}
			if f.requests.Load() != asked {
				t.Error("another policy costs requests although everything is known")
			}
		})
	}
}

func TestSignatures_AComponentThatIsSignedLaterHeals(t *testing.T) {
	f := startRegistry(t)
	f.publishSigned(t, signable{without: true})
	components, _ := f.ruled(policyOf(descriptor.RequireEnforce, signer()))
	now := &clock{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	components.calls.now = now.read
	if got, retry := components.Describe(t.Context(), key); got.Reason != v1beta2.ReasonSignatureMissing || retry != shortestPause {
		t.Fatalf("got %+v, retry %s", got, retry)
	}
	asked := f.requests.Load()
	if _, retry := components.Describe(t.Context(), key); retry != shortestPause || f.requests.Load() != asked {
		t.Error("it is read again at once")
	}
	f.publishSigned(t, signable{})
	now.move(shortestPause)
	if got, retry := components.Describe(t.Context(), key); got.Reason != "" || retry != 0 {
		t.Errorf("got %+v, retry %s", got, retry)
	}
}

func TestSignatures_AStricterPolicyIsHeldToWithoutTheRegistry(t *testing.T) {
	f := startRegistry(t)
	f.publishSigned(t, signable{without: true})
	components, rule := f.ruled(nil)
	if got, _ := components.Describe(t.Context(), key); got.Reason != "" {
		t.Fatalf("got %+v", got)
	}
	f.status.Store(http.StatusServiceUnavailable)
	rule.Store(policyOf(descriptor.RequireEnforce, signer()))
	if got, retry := components.Describe(t.Context(), key); got.Reason != v1beta2.ReasonSignatureMissing || retry == 0 {
		t.Errorf("got %+v, retry %s", got, retry)
	}
}

// asking returns a Manifest that names the component version if named is set.
func asking(named bool, install v1beta2.ImageSpec) *v1beta2.Manifest {
	m := manifest.DeepCopy()
	if named {
		m.Annotations = map[string]string{v1beta2.AnnotationOCMComponentName: component}
		m.Spec.Version = key.Version
	}
	m.Spec.Install = v1beta2.InstallInfo{Name: rawManifest, Source: runtime.RawExtension{Raw: mustJSON(install)}}
	return m
}

func mustJSON(value any) []byte {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return raw
}

func TestContentThatNobodyVouchesForIsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		unnamed bool
		build   func(f *fake, m *v1beta2.Manifest, layer, definitions v1beta2.ImageSpec)
		sign    signable
		message string
	}{
		"what the component version holds": {},
		"its definitions and images, too": {build: func(_ *fake, m *v1beta2.Manifest, _, definitions v1beta2.ImageSpec) {
			m.Spec.CRDs, m.Spec.LocalizedImages = &definitions, []string{"mirror.example.com/operator:1.0.0@" + imageDigest}
		}},
		"another layer of the same repository": {
			build: func(f *fake, m *v1beta2.Manifest, layer, _ v1beta2.ImageSpec) {
				m.Spec.Install.Source.Raw = mustJSON(f.other(layer))
			},
			message: "raw-manifest: no signature that is trusted covers sha256:",
		},
		"another layer as a further installation": {
			build: func(f *fake, m *v1beta2.Manifest, layer, _ v1beta2.ImageSpec) {
				m.Spec.AdditionalInstalls = []v1beta2.InstallInfo{{Name: "more", Source: runtime.RawExtension{Raw: mustJSON(f.other(layer))}}}
			},
			message: "more: no signature",
		},
		"other definitions": {
			build: func(f *fake, m *v1beta2.Manifest, layer, _ v1beta2.ImageSpec) {
				other := f.other(layer)
				m.Spec.CRDs = &other
			},
			message: "spec.crds: no signature",
		},
		"another config layer": {
			build: func(f *fake, m *v1beta2.Manifest, layer, _ v1beta2.ImageSpec) {
				other := f.other(layer)
				m.Spec.Config = &other
			},
			message: "spec.config: no signature",
		},
		"a file on a web server": {
			build: func(f *fake, m *v1beta2.Manifest, layer, _ v1beta2.ImageSpec) {
				other := f.other(layer)
				m.Spec.Install.Source.Raw = []byte(`{"http": {"url": "http://` + f.host + `/v2/` + repository + `/blobs/` + other.Ref + `", "sha256": "` + strings.TrimPrefix(other.Ref, "sha256:") + `"}, "type": "oci-ref"}`)
			},
			message: "raw-manifest: no signature",
		},
		"an image by its tag": {
			build: func(_ *fake, m *v1beta2.Manifest, _, _ v1beta2.ImageSpec) {
				m.Spec.LocalizedImages = []string{"example.com/operator:1.0.0"}
			},
			message: "spec.localizedImages: no signature",
		},
		"a Manifest that names no component": {unnamed: true, message: "names no component version"},
		"a component that is not signed":     {sign: signable{without: true}, message: "has no signature named"},
	} {
		t.Run(name, func(t *testing.T) {
			f := startRegistry(t)
			layer, definitions := f.publishSigned(t, test.sign)
			f.push(t, "application/yaml", otherMap)
			components, rule := f.ruled(policyOf(descriptor.RequireEnforce, signer()))
			contents := f.objects(t).Contents
			contents.Policy = func(string) content.HostPolicy { return content.HostPolicy{PlainHTTP: true} }
			contents.Signed = components
			var log []string
			contents.Log = funcr.New(func(_, args string) { log = append(log, args) }, funcr.Options{})
			spec := func(ref string) v1beta2.ImageSpec {
				return v1beta2.ImageSpec{Repo: f.host + "/component-descriptors", Name: component, Ref: ref, Type: v1beta2.RefTypeOCI}
			}
			m := asking(!test.unnamed, spec(layer))
			if test.build != nil {
				test.build(f, m, spec(layer), spec(definitions))
			}
			_, err := contents.Read(t.Context(), m, noCluster)
			refused, _ := errors.AsType[*content.Error](err)
			if test.message == "" && err != nil ||
				test.message != "" && (refused == nil || refused.Reason != v1beta2.ReasonContentNotCovered || !strings.Contains(err.Error(), test.message)) {
				t.Fatalf("error %v", err)
			}
			rule.Store(policyOf(descriptor.RequireAudit, signer()))
			for range 3 {
				if _, err := contents.Read(t.Context(), m, noCluster); err != nil && !strings.Contains(err.Error(), "config layer") {
					t.Fatalf("with warn: error %v", err)
				}
			}
			want := 0
			if test.message != "" && !strings.Contains(test.message, "localizedImages") && !strings.Contains(test.message, "spec.config") {
				want = 1
			}
			if len(log) != want {
				t.Errorf("%d lines in the log: %q", len(log), log)
			}
			rule.Store(nil)
			if _, err := contents.Read(t.Context(), m, noCluster); err != nil && !strings.Contains(err.Error(), "config layer") {
				t.Errorf("with off: error %v", err)
			}
		})
	}
}

func TestContentWaitsUntilItIsKnownWhoVouchesForIt(t *testing.T) {
	f := startRegistry(t)
	layer, _ := f.publishSigned(t, signable{})
	contents := f.objects(t).Contents
	m := asking(true, v1beta2.ImageSpec{Repo: f.host + "/component-descriptors", Name: component, Ref: layer, Type: v1beta2.RefTypeOCI})
	for name, test := range map[string]struct {
		signed *answered
		reason string
		want   error
	}{
		"the component is being read":                  {&answered{&SignedDigests{Policy: policyOf(descriptor.RequireEnforce)}, time.Second, nil}, "", ErrPending},
		"it is being read and does not matter":         {&answered{&SignedDigests{Policy: policyOf(descriptor.RequireAudit)}, time.Second, nil}, "", nil},
		"the registry is down":                         {&answered{&SignedDigests{Policy: policyOf(descriptor.RequireEnforce)}, time.Second, &descriptor.Error{Reason: descriptor.ReasonUnreachable, Err: errors.New("x")}}, content.ReasonRegistryUnreachable, nil},
		"the registry is down, and it does not matter": {&answered{&SignedDigests{Policy: policyOf(descriptor.RequireAudit)}, time.Second, errors.New("x")}, "", nil},
		"nothing has to be signed":                     {&answered{}, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			contents.Signed = test.signed
			_, err := contents.Read(t.Context(), m, noCluster)
			refused, known := errors.AsType[*content.Error](err)
			if test.reason != "" && (!known || refused.Reason != test.reason) || test.reason == "" && !errors.Is(err, test.want) {
				t.Errorf("error %v", err)
			}
		})
	}
}

type answered struct {
	cover *SignedDigests
	retry time.Duration
	err   error
}

func (a *answered) PolicyID(string) string { return "" }

func (a *answered) SignedDigests(context.Context, module.ComponentKey) (*SignedDigests, time.Duration, error) {
	return a.cover, a.retry, a.err
}

const otherMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n"

// other returns a layer that is not one of the component version.
func (f *fake) other(like v1beta2.ImageSpec) v1beta2.ImageSpec {
	sum := sha256.Sum256([]byte(otherMap))
	like.Ref = "sha256:" + hex.EncodeToString(sum[:])
	return like
}

// tag pushes the manifest of the component version.
func (f *fake) tag(t *testing.T, described ocispec.Descriptor, layers ...ocispec.Descriptor) {
	t.Helper()
	config := f.push(t, "application/vnd.ocm.software.component.config.v1+json", encode(t, map[string]any{"componentDescriptorLayer": described}))
	body := ocispec.Manifest{MediaType: ocispec.MediaTypeImageManifest, Config: config, Layers: append([]ocispec.Descriptor{described}, layers...)}
	body.SchemaVersion = 2
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut,
		"http://"+f.host+"/v2/"+repository+"/manifests/1.0.0", bytes.NewBufferString(encode(t, body)))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", ocispec.MediaTypeImageManifest)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil || response.StatusCode != http.StatusCreated {
		t.Fatalf("put manifest: status %s, error %v", response.Status, err)
	}
}
