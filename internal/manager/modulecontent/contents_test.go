package modulecontent

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	clientfake "sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

var manifest = &v1beta2.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: "sample"}}

// objectReader reads the objects of one source.
type objectReader struct{ *Contents }

func (f *fake) objects(t *testing.T, secrets ...client.Object) objectReader {
	t.Helper()
	oci := &content.OCI{Store: &content.Store{Dir: t.TempDir()}}
	oci.PlainHTTP = func(string) bool { return true }
	contents := NewContents(oci, clientfake.NewClientBuilder().WithObjects(secrets...).Build())
	contents.calls.patience, contents.trees.patience = time.Minute, time.Minute // a slow machine must not look like a slow registry
	return objectReader{contents}
}

// Objects reads a Manifest that installs from one source.
func (r objectReader) Objects(ctx context.Context, m *v1beta2.Manifest, source v1beta2.ImageSpec) ([]*unstructured.Unstructured, error) {
	raw, err := json.Marshal(source)
	if err != nil {
		return nil, err
	}
	m = m.DeepCopy()
	m.Spec.Install = v1beta2.InstallInfo{Name: rawManifest, Source: runtime.RawExtension{Raw: raw}}
	parts, err := r.Read(ctx, m, noCluster)
	if err != nil {
		return nil, err
	}
	return parts[0].Rendered.Objects(), nil
}

// noCluster is for formats that do not use capabilities.
func noCluster(context.Context) (runtimes.Capabilities, error) {
	return runtimes.Capabilities{}, errors.New("no one should ask the cluster")
}

func (f *fake) source(t *testing.T, data string) v1beta2.ImageSpec {
	t.Helper()
	return v1beta2.ImageSpec{
		Repo: f.host + "/component-descriptors", Name: component, Ref: f.push(t, "application/x-yaml", data).Digest.String(), Type: v1beta2.RefTypeOCI,
	}
}

// login returns a Secret with a login for a registry.
func login(name, config string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: manifest.Namespace, Name: name, Labels: map[string]string{"login": name}},
		Data:       map[string][]byte{corev1.DockerConfigJsonKey: []byte(config)},
	}
}

func selecting(name string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"login": name}}
}

func TestObjectsAreFetchedAndParsedOnce(t *testing.T) {
	f := startRegistry(t)
	source := f.source(t, configMap)
	objects := f.objects(t)
	f.requests.Store(0)
	for range 3 {
		got, err := objects.Objects(t.Context(), manifest, source)
		if err != nil || len(got) != 1 || got[0].GetName() != "sample" {
			t.Fatalf("got %v, error %v", got, err)
		}
	}
	if got := f.requests.Load(); got != 1 {
		t.Errorf("%d requests, want 1", got)
	}
	f.status.Store(http.StatusServiceUnavailable)
	other := objectReader{NewContents(objects.OCI, objects.Secrets)} // as after a restart: only the store on disk is left
	installed := manifest.DeepCopy()
	installed.Status.Resolved = []v1beta2.ResolvedSource{{
		Name: rawManifest, Reference: source.Repo + "/" + source.Name + "@" + source.Ref, Digest: source.Ref,
	}}
	if got, err := other.Objects(t.Context(), installed, source); err != nil || len(got) != 1 {
		t.Errorf("the store is not enough: got %v, error %v", got, err)
	}
}

func TestContentThatOnlyAnothersLoginMayFetchIsNotReadFromTheStore(t *testing.T) {
	f := startRegistry(t)
	source := f.source(t, configMap)
	next := f.next
	f.next = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, ok := r.BasicAuth(); !ok || user != "puller" || password != "right" {
			w.Header().Set("WWW-Authenticate", `Basic realm="here"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
	objects := f.objects(t, login("login", `{"auths":{"`+f.host+`":{"username":"puller","password":"right"}}}`))
	theirs := source
	theirs.CredSecretSelector = selecting("login")
	if _, err := objects.Objects(t.Context(), manifest, theirs); err != nil {
		t.Fatal(err)
	}
	// A registry of the other tenant that only claims to have the content.
	claims := startRegistry(t)
	claims.next = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Docker-Content-Digest", source.Ref)
	})
	elsewhere := source
	elsewhere.Repo = claims.host + "/component-descriptors"
	stranger := manifest.DeepCopy()
	stranger.Namespace = "tenant"
	for name, ours := range map[string]v1beta2.ImageSpec{"without a login": source, "from elsewhere": elsewhere} {
		if got, err := objects.Objects(t.Context(), stranger, ours); err == nil {
			t.Errorf("%s: rendered %v", name, got)
		}
		stranger.Spec.Install = v1beta2.InstallInfo{Name: rawManifest, Source: runtime.RawExtension{Raw: []byte(encode(t, ours))}}
		if _, tree, err := objects.Files(t.Context(), stranger, rawManifest); err == nil {
			t.Errorf("%s: served %v", name, tree)
		}
	}
}

func TestObjectsOfAnArchiveAreThoseOfItsFirstFile(t *testing.T) {
	var packed bytes.Buffer
	archive := tar.NewWriter(&packed)
	header := &tar.Header{Name: "manifest.yaml", Typeflag: tar.TypeReg, Size: int64(len(configMap)), Mode: 0o644}
	if err := archive.WriteHeader(header); err != nil {
		t.Fatal(err)
	}
	if _, err := archive.Write([]byte(configMap)); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	f := startRegistry(t)
	source := f.source(t, packed.String())
	source.Type = v1beta2.RefTypeOCIDir
	if got, err := f.objects(t).Objects(t.Context(), manifest, source); err != nil || len(got) != 1 || got[0].GetName() != "sample" {
		t.Errorf("got %v, error %v", got, err)
	}
}

func TestObjectsRefuses(t *testing.T) {
	f := startRegistry(t)
	good := f.source(t, configMap)
	with := func(change func(*v1beta2.ImageSpec)) v1beta2.ImageSpec {
		source := good
		change(&source)
		return source
	}
	empty := login("empty", `{"auths":{}}`)
	garbage := login("garbage", `s3cret`)
	undecodable := login("undecodable", `{"auths":{"`+f.host+`":{"auth":"s3cret!"}}}`)
	for name, test := range map[string]struct {
		source          v1beta2.ImageSpec
		reason, message string
	}{
		"a tag instead of a digest": {with(func(s *v1beta2.ImageSpec) { s.Ref = "latest" }), content.ReasonSourceInvalid, "latest"},
		"a digest that the registry does not have": {
			with(func(s *v1beta2.ImageSpec) { s.Ref = "sha256:" + strings.Repeat("0", 64) }), content.ReasonContentNotFound, f.host,
		},
		"content that is not an object":   {f.source(t, "[1, 2]"), content.ReasonContentInvalid, "document 1"},
		"a selector that finds no Secret": {with(func(s *v1beta2.ImageSpec) { s.CredSecretSelector = selecting("none") }), content.ReasonRegistryUnauthorized, "login=none"},
		"a selector that finds every Secret": {
			with(func(s *v1beta2.ImageSpec) { s.CredSecretSelector = &metav1.LabelSelector{} }), content.ReasonSourceInvalid, "every Secret",
		},
		"an invalid selector": {
			with(func(s *v1beta2.ImageSpec) {
				s.CredSecretSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Near"}}}
			}), content.ReasonSourceInvalid, "credSecretSelector",
		},
		"a Secret without a login":         {with(func(s *v1beta2.ImageSpec) { s.CredSecretSelector = selecting("empty") }), content.ReasonRegistryUnauthorized, "kcp-system/empty"},
		"a Secret without a docker config": {with(func(s *v1beta2.ImageSpec) { s.CredSecretSelector = selecting("garbage") }), content.ReasonRegistryUnauthorized, "kcp-system/garbage"},
		"a login that cannot be decoded, unquoted": {
			with(func(s *v1beta2.ImageSpec) { s.CredSecretSelector = selecting("undecodable") }), content.ReasonRegistryUnauthorized, "no usable logins",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := f.objects(t, empty, garbage, undecodable).Objects(t.Context(), manifest, test.source)
			var problem *content.Error
			if !errors.As(err, &problem) || problem.Reason != test.reason || !strings.Contains(err.Error(), test.message) {
				t.Errorf("error %v, want reason %s and %q", err, test.reason, test.message)
			}
			if strings.Contains(err.Error(), "s3cret") {
				t.Errorf("the message quotes a credential: %v", err)
			}
		})
	}
}

func TestContents_ALoginIsReadAgainWhenItFailed(t *testing.T) {
	f := startRegistry(t)
	source := f.source(t, configMap)
	next := f.next
	f.next = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, ok := r.BasicAuth(); !ok || user != "puller" || password != "right" {
			w.Header().Set("WWW-Authenticate", `Basic realm="here"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
	source.CredSecretSelector = selecting("login")
	config := func(password string) string {
		return `{"auths":{"` + f.host + `":{"username":"puller","password":"` + password + `"}}}`
	}
	secret := login("login", config("wrong"))
	objects := f.objects(t, secret)
	_, err := objects.Objects(t.Context(), manifest, source)
	if content.ReasonOf(err) != content.ReasonRegistryUnauthorized || strings.Contains(err.Error(), "wrong") {
		t.Fatalf("error %v", err)
	}
	corrected := clientfake.NewClientBuilder().WithObjects(login("login", config("right"))).Build()
	objects.Secrets = corrected
	if got, err := objects.Objects(t.Context(), manifest, source); err != nil || len(got) != 1 {
		t.Errorf("the corrected login has to wait: got %v, error %v", got, err)
	}
}

func TestContentThatTakesLongIsPending(t *testing.T) {
	f := startRegistry(t)
	source := f.source(t, configMap)
	release := make(chan struct{})
	next := f.next
	f.next = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-release; next.ServeHTTP(w, r) })
	objects := f.objects(t)
	objects.calls.patience = 10 * time.Millisecond
	if _, err := objects.Objects(t.Context(), manifest, source); !errors.Is(err, ErrPending) {
		t.Fatalf("error %v, want %v", err, ErrPending)
	}
	close(release)
	err := ErrPending
	for errors.Is(err, ErrPending) {
		_, err = objects.Objects(t.Context(), manifest, source)
	}
	if err != nil {
		t.Error(err)
	}
}

func TestContents_AFailedFetchIsNotRepeatedAtOnce(t *testing.T) {
	f := startRegistry(t)
	source := f.source(t, configMap)
	f.status.Store(http.StatusServiceUnavailable)
	objects := f.objects(t)
	now := &clock{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	objects.calls.now = now.read
	f.requests.Store(0)
	for range 3 {
		_, err := objects.Objects(t.Context(), manifest, source)
		var problem *content.Error
		if !errors.As(err, &problem) || problem.Reason != content.ReasonRegistryUnreachable || problem.RetryAfter != shortestPause {
			t.Fatalf("error %#v, want %s and to come back in %s", err, content.ReasonRegistryUnreachable, shortestPause)
		}
	}
	if got := f.requests.Load(); got != 1 {
		t.Errorf("%d requests, want 1", got)
	}
	f.status.Store(0)
	now.move(shortestPause)
	if got, err := objects.Objects(t.Context(), manifest, source); err != nil || len(got) != 1 {
		t.Errorf("it does not heal: got %v, error %v", got, err)
	}
}

func TestTroubleOfThisMachineIsTold(t *testing.T) {
	f := startRegistry(t)
	source, objects := f.source(t, configMap), f.objects(t)
	if err := os.WriteFile(objects.OCI.Store.Dir+"/sha256", nil, 0o600); err != nil { // where a folder must be created
		t.Fatal(err)
	}
	_, err := objects.Objects(t.Context(), manifest, source)
	problem, ok := errors.AsType[*content.Error](err)
	if !ok || problem.Reason != content.ReasonInternal || problem.RetryAfter == 0 {
		t.Errorf("error %#v", err)
	}
}
