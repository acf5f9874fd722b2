package authorcmd_test

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	imagename "github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
)

// uploads records the blobs that a registry accepted, in order, and can interrupt one.
type uploads struct {
	*localcluster.Registry
	mutex     sync.Mutex
	blobs     []string
	manifests int
	// before is called before a blob or manifest is stored; it may abort the request.
	before func(stored int)
}

// watched starts a registry that records uploads.
func watched(t *testing.T) (target *uploads, address string) {
	t.Helper()
	started, err := localcluster.StartRegistry(t.Context(), localcluster.RegistryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = started.Stop() })
	u := &uploads{Registry: started}
	started.Inject(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		blob := r.URL.Query().Get("digest")
		manifest := r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/manifests/")
		if r.Method == http.MethodPut && (blob != "" || manifest) {
			u.note(blob, manifest)
		}
		next.ServeHTTP(w, r)
	})
	return u, "http://" + started.Host
}

func (u *uploads) note(blob string, manifest bool) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	if u.before != nil {
		u.before(len(u.blobs) + u.manifests)
	}
	if manifest {
		u.manifests++
		return
	}
	u.blobs = append(u.blobs, blob)
}

// signedModule publishes signed notes with an image that has a referrer and a signature of cosign's, and returns the reference.
func (s *shell) signedModule(host, address string) (ref, image string) {
	s.Helper()
	keys(s.T, "")
	image = putImage(s.T, host+"/team/worker:0.1.0")
	putImage(s.T, host+"/team/worker:"+strings.ReplaceAll(image, ":", "-")+".sig")
	s.attach(host+"/team/worker", image)
	s.ok("module", "init", "notes")
	write(s.T, "notes/manifest.yaml",
		regexp.MustCompile(`registry.k8s.io/pause:\S+`).ReplaceAllString(read(s.T, "notes/manifest.yaml"), host+"/team/worker:0.1.0"))
	s.ok("module", "create", "notes", "--no-git", "-r", address, "--sign-key", "private.pem")
	return address + "//" + component + ":0.1.0", image
}

// attach puts a manifest into a repository that refers to an image there.
func (s *shell) attach(repository, digest string) {
	s.Helper()
	subject, err := imagename.ParseReference(repository+"@"+digest, imagename.Insecure)
	if err != nil {
		s.Fatal(err)
	}
	described, err := remote.Head(subject)
	if err != nil {
		s.Fatal(err)
	}
	made, err := random.Image(32, 1)
	if err != nil {
		s.Fatal(err)
	}
	referrer := mutate.Subject(mutate.MediaType(made, types.OCIManifestSchema1), *described).(v1.Image)
	hash, err := referrer.Digest()
	if err != nil {
		s.Fatal(err)
	}
	name, err := imagename.ParseReference(repository+"@"+hash.String(), imagename.Insecure)
	if err != nil {
		s.Fatal(err)
	}
	if err := remote.Write(name, referrer); err != nil {
		s.Fatal(err)
	}
}

// mustBeMirrored checks that the module, its image and what refers to that are in a registry as they were.
func (s *shell) mustBeMirrored(host, image string) {
	s.Helper()
	ref := "http://" + host + "/inside//" + component + ":0.1.0"
	s.ok("module", "verify", ref, "--key", "public.pem")
	if found := s.resources(ref)["worker"]; !strings.HasPrefix(found, host+"/inside/team/worker:0.1.0") || !strings.HasSuffix(found, image) {
		s.Errorf("the image of the module is %s, want %s", found, image)
	}
	repository, err := imagename.NewRepository(host+"/inside/team/worker", imagename.Insecure)
	if err != nil {
		s.Fatal(err)
	}
	if _, err := remote.Image(repository.Tag(strings.ReplaceAll(image, ":", "-") + ".sig")); err != nil {
		s.Errorf("the signature of cosign's: %v", err)
	}
	referrers, err := remote.Referrers(repository.Digest(image))
	if err != nil {
		s.Fatal(err)
	}
	list, err := referrers.IndexManifest()
	if err != nil || len(list.Manifests) != 1 {
		s.Errorf("referrers of the image: %v, %v", list, err)
	}
}

// layerOf returns the digest of the layer of an image.
func layerOf(t *testing.T, reference string) string {
	t.Helper()
	name, err := imagename.ParseReference(reference, imagename.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	found, err := remote.Image(name)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := found.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	return manifest.Layers[0].Digest.String()
}

// putRelease makes a folder of a release with the manager's image for two architectures, and returns its digest.
func putRelease(t *testing.T, dir string) (digest string) {
	t.Helper()
	index, err := random.Index(64, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	hash, err := index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	images, err := layout.Write(folder, empty.Index)
	if err != nil {
		t.Fatal(err)
	}
	if err := images.AppendIndex(index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": "1.2.3"})); err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	writer := tar.NewWriter(&packed)
	if err := writer.AddFS(os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	const install = "kind: Deployment\nspec:\n  template:\n    spec:\n      containers:\n      - args:\n        - --leader-elect\n" +
		"        - --content-dir=/content\n        - --oci-registry-host=https://registry.example.com\n        image: lifecycle-manager:1.2.3\n        name: manager\n"
	write(t, dir+"/install.yaml", install)
	write(t, dir+"/lifecycle-manager_1.2.3_image.tar", packed.String())
	write(t, dir+"/SHA256SUMS", fmt.Sprintf("%x  install.yaml\n%x  lifecycle-manager_1.2.3_image.tar\n",
		sha256.Sum256([]byte(install)), sha256.Sum256(packed.Bytes())))
	write(t, dir+"/SHA256SUMS.sig", "signature")
	return hash.String()
}
