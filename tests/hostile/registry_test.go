package hostile

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// honest returns a harmless runtime.
func honest() *trap { return setTrap(func(_ *trap, next http.Handler) http.Handler { return next }) }

// registry makes the registry attack requests of some kinds for the module of the attack, and for no other.
func registry(strike func(t *trap, w http.ResponseWriter, req *http.Request), kinds ...localcluster.Kind) func(target) *trap {
	return func(v target) *trap {
		t := honest()
		fault := localcluster.Only(func(w http.ResponseWriter, req *http.Request, _ http.Handler) {
			t.met.Add(1)
			strike(t, w, req)
		}, kinds...)
		env.Registry.Inject(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
			if strings.Contains(req.URL.Path, v.module) {
				fault(w, req, next)
				return
			}
			next.ServeHTTP(w, req)
		})
		DeferCleanup(env.Registry.Inject, localcluster.Fault(nil))
		return t
	}
}

// elsewhere redirects to another server, which must not receive our credentials.
func elsewhere(status int, kinds ...localcluster.Kind) func(target) *trap {
	return func(v target) *trap {
		var other *httptest.Server // started in advance: a request after the end of the spec cannot start it any more
		t := registry(func(_ *trap, w http.ResponseWriter, req *http.Request) {
			http.Redirect(w, req, other.URL+req.URL.Path, status)
		}, kinds...)(v)
		other = httptest.NewServer(tattling(t))
		DeferCleanup(other.Close)
		return t
	}
}

// tattling records credentials that are sent to another host.
func tattling(t *trap) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if login := req.Header.Get("Authorization"); login != "" {
			t.mu.Lock()
			t.wrong = append(t.wrong, "a stranger was sent "+login)
			t.mu.Unlock()
		}
		http.NotFound(w, req)
	})
}

// pouring responds with the same bytes endlessly.
func pouring(kind, piece string) func(*trap, http.ResponseWriter, *http.Request) {
	return func(t *trap, w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", kind)
		t.pour(w, req, []byte(strings.Repeat(piece, 64<<10/len(piece))))
	}
}

// repeated is an OCI manifest with a hundred thousand layers.
var repeated = `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":"a","digest":"sha256:` +
	strings.Repeat("0", 64) + `","size":1},"layers":[` + strings.TrimSuffix(strings.Repeat(`{"mediaType":"a","digest":"sha256:`+
	strings.Repeat("0", 64)+`","size":1},`, 100_000), ",") + `]}`

// unlike responds with other bytes than the requested ones.
func unlike(body string) func(*trap, http.ResponseWriter, *http.Request) {
	return func(_ *trap, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
		_, _ = io.WriteString(w, body)
	}
}

// echoing repeats in its response what it received.
func echoing(t *trap, w http.ResponseWriter, req *http.Request) {
	if req.Header.Get("Authorization") == "" {
		localcluster.Deny()(w, req, nil)
		return
	}
	user, password, _ := req.BasicAuth()
	registryLogin.seen(password)
	answerJSON(w, http.StatusForbidden, fmt.Sprintf(`{"errors":[{"code":"DENIED","message":"%s:%s (%s) may not"}]}`,
		user, password, req.Header.Get("Authorization")))
}

// packed makes arbitrary bytes the module's layer, with a matching digest in the component.
func packed(layer func() []byte) func(target) *trap {
	return func(v target) *trap {
		t := honest()
		env.Publish(testkit.ComponentName(v.module), "1.0.0", testkit.RawManifestTar(layer()))
		t.met.Add(1)
		return t
	}
}

func tarOf(write func(*tar.Writer)) []byte {
	GinkgoHelper()
	var out bytes.Buffer
	archive := tar.NewWriter(&out)
	write(archive)
	Expect(archive.Close()).To(Succeed())
	return out.Bytes()
}

// entries returns an archive with a very large number of files.
func entries() []byte {
	return tarOf(func(archive *tar.Writer) {
		for i := range 100_000 {
			Expect(archive.WriteHeader(&tar.Header{Name: fmt.Sprintf("%d.yaml", i), Mode: 0o600})).To(Succeed())
		}
	})
}

// links returns an archive with a link to a path outside.
func links() []byte {
	return tarOf(func(archive *tar.Writer) {
		Expect(archive.WriteHeader(&tar.Header{Name: "a.yaml", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"})).To(Succeed())
	})
}

// climbing returns an archive with a path outside.
func climbing() []byte {
	return tarOf(func(archive *tar.Writer) {
		Expect(archive.WriteHeader(&tar.Header{Name: "../../escaped.yaml", Mode: 0o600})).To(Succeed())
	})
}

// bomb returns a small archive that is large when unpacked.
func bomb() []byte {
	var out bytes.Buffer
	packer, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	Expect(err).NotTo(HaveOccurred())
	archive := tar.NewWriter(packer)
	const size = 300 << 20
	Expect(archive.WriteHeader(&tar.Header{Name: "a.yaml", Mode: 0o600, Size: size})).To(Succeed())
	for range size / len(junk) {
		_, err := archive.Write(junk)
		Expect(err).NotTo(HaveOccurred())
	}
	Expect(archive.Close()).To(Succeed())
	Expect(packer.Close()).To(Succeed())
	return out.Bytes()
}

// yaml makes a text the module's layer.
func yaml(text string) func(target) *trap {
	return func(v target) *trap {
		t := honest()
		env.Publish(testkit.ComponentName(v.module), "1.0.0", testkit.RawManifest([]byte(text)))
		t.met.Add(1)
		return t
	}
}

const manifestGet, blobGet = localcluster.ManifestGet, localcluster.BlobGet

var _ = DescribeTable("A registry that", strike,
	Entry("serves an endless manifest", attack{set: registry(pouring("application/vnd.oci.image.manifest.v1+json", " "), manifestGet)}),
	Entry("serves an endless blob", attack{set: registry(pouring("application/octet-stream", "a"), blobGet), lasts: long}),
	Entry("serves other bytes than the requested ones", attack{set: registry(unlike("{}"), manifestGet, blobGet)}),
	Entry("serves a manifest with a hundred thousand layers", attack{set: registry(unlike(repeated), manifestGet)}),
	Entry("serves a manifest that is deeper than a stack", attack{set: registry(unlike(strings.Repeat("[", 1<<20)), manifestGet)}),
	Entry("serves a byte at long intervals", attack{set: registry(drip, manifestGet, blobGet)}),
	Entry("redirects manifests to another host", attack{set: elsewhere(http.StatusTemporaryRedirect, manifestGet)}),
	Entry("redirects blobs to another host", attack{set: elsewhere(http.StatusFound, blobGet)}),
	Entry("repeats the password that it was sent", attack{set: registry(echoing, manifestGet, blobGet, localcluster.ManifestHead)}),
	Entry("has an archive with a hundred thousand entries", attack{set: packed(entries), tells: "ArchiveRefused"}),
	Entry("has an archive with a link to a path outside", attack{set: packed(links), tells: "ArchiveRefused"}),
	Entry("has an archive with a path outside", attack{set: packed(climbing), tells: "ArchiveRefused"}),
	Entry("has an archive that is a bomb", attack{set: packed(bomb), tells: "Content"}),
	Entry("has a text that grows when parsed", attack{set: yaml(laughs), tells: "ContentInvalid"}),
	Entry("has a text of a hundred thousand documents", attack{set: yaml(strings.Repeat("---\na: b\n", 100_000)), tells: "ContentInvalid"}),
	Entry("has a text that is deeper than a stack", attack{set: yaml("a: " + strings.Repeat("[", 1<<18)), tells: "ContentInvalid"}),
)
