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

// honest returns a runtime that means no harm.
func honest() *trap { return setTrap(func(_ *trap, next http.Handler) http.Handler { return next }) }

// registry has the registry strike at requests of some kinds for the module of the attack, and at no one else's.
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

// elsewhere redirects to another server, which no one may tell our credentials.
func elsewhere(status int, kinds ...localcluster.Kind) func(target) *trap {
	return func(v target) *trap {
		var other *httptest.Server // there before anyone asks: a request that comes when the spec has ended can start nothing any more
		t := registry(func(_ *trap, w http.ResponseWriter, req *http.Request) {
			http.Redirect(w, req, other.URL+req.URL.Path, status)
		}, kinds...)(v)
		other = httptest.NewServer(tattling(t))
		DeferCleanup(other.Close)
		return t
	}
}

// tattling notes credentials that are sent to a stranger.
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

// pouring answers with the same bytes without end.
func pouring(kind, piece string) func(*trap, http.ResponseWriter, *http.Request) {
	return func(t *trap, w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", kind)
		t.pour(w, req, []byte(strings.Repeat(piece, 64<<10/len(piece))))
	}
}

// repeated is what an OCI manifest with a hundred thousand layers looks like.
var repeated = `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":"a","digest":"sha256:` +
	strings.Repeat("0", 64) + `","size":1},"layers":[` + strings.TrimSuffix(strings.Repeat(`{"mediaType":"a","digest":"sha256:`+
	strings.Repeat("0", 64)+`","size":1},`, 100_000), ",") + `]}`

// unlike answers with bytes that are not what was requested.
func unlike(body string) func(*trap, http.ResponseWriter, *http.Request) {
	return func(_ *trap, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
		_, _ = io.WriteString(w, body)
	}
}

// echoing answers with what it was told.
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

// packed makes the module's layer any bytes; they are what the component says they are.
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

// entries returns an archive with very many files.
func entries() []byte {
	return tarOf(func(archive *tar.Writer) {
		for i := range 100_000 {
			Expect(archive.WriteHeader(&tar.Header{Name: fmt.Sprintf("%d.yaml", i), Mode: 0o600})).To(Succeed())
		}
	})
}

// links returns an archive that leads out of itself.
func links() []byte {
	return tarOf(func(archive *tar.Writer) {
		Expect(archive.WriteHeader(&tar.Header{Name: "a.yaml", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"})).To(Succeed())
	})
}

// climbing returns an archive with a file above itself.
func climbing() []byte {
	return tarOf(func(archive *tar.Writer) {
		Expect(archive.WriteHeader(&tar.Header{Name: "../../escaped.yaml", Mode: 0o600})).To(Succeed())
	})
}

// bomb returns a small archive that is a large one when unpacked.
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

// yaml makes the module's layer a text.
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
	Entry("serves a manifest without end", attack{set: registry(pouring("application/vnd.oci.image.manifest.v1+json", " "), manifestGet)}),
	Entry("serves a blob without end", attack{set: registry(pouring("application/octet-stream", "a"), blobGet), lasts: long}),
	Entry("serves other bytes than were asked for", attack{set: registry(unlike("{}"), manifestGet, blobGet)}),
	Entry("serves a manifest with a hundred thousand layers", attack{set: registry(unlike(repeated), manifestGet)}),
	Entry("serves a manifest that is deeper than a stack", attack{set: registry(unlike(strings.Repeat("[", 1<<20)), manifestGet)}),
	Entry("serves a byte in a while", attack{set: registry(drip, manifestGet, blobGet)}),
	Entry("redirects manifests to a stranger", attack{set: elsewhere(http.StatusTemporaryRedirect, manifestGet)}),
	Entry("redirects blobs to a stranger", attack{set: elsewhere(http.StatusFound, blobGet)}),
	Entry("repeats the password that it was sent", attack{set: registry(echoing, manifestGet, blobGet, localcluster.ManifestHead)}),
	Entry("has an archive with a hundred thousand entries", attack{set: packed(entries), tells: "ArchiveRefused"}),
	Entry("has an archive with a link out of it", attack{set: packed(links), tells: "ArchiveRefused"}),
	Entry("has an archive with a file above it", attack{set: packed(climbing), tells: "ArchiveRefused"}),
	Entry("has an archive that is a bomb", attack{set: packed(bomb), tells: "Content"}),
	Entry("has a text that grows", attack{set: yaml(laughs), tells: "ContentInvalid"}),
	Entry("has a text of a hundred thousand documents", attack{set: yaml(strings.Repeat("---\na: b\n", 100_000)), tells: "ContentInvalid"}),
	Entry("has a text that is deeper than a stack", attack{set: yaml("a: " + strings.Repeat("[", 1<<18)), tells: "ContentInvalid"}),
)
