package testkit

import (
	"crypto/sha256"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/plumbing/transport/server"
	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
)

// Web is a web server with TLS for files, Helm repositories and git repositories.
type Web struct {
	// Host is host:port, URL is https://host:port.
	Host, URL string
	// CA is the certificate that clients must trust, in PEM.
	CA []byte

	server *httptest.Server
	mu     sync.Mutex
	files  map[string][]byte
	gits   map[string]*git.Repository
	logins map[string]string // by the first segment of the path: user:password
	asked  map[string]int
}

// StartWeb starts an empty server, which ends with the suite or spec that started it.
func StartWeb() *Web {
	web := &Web{files: map[string][]byte{}, gits: map[string]*git.Repository{}, logins: map[string]string{}, asked: map[string]int{}}
	web.server = httptest.NewTLSServer(web)
	ginkgo.DeferCleanup(web.server.Close)
	web.URL, web.Host = web.server.URL, strings.TrimPrefix(web.server.URL, "https://")
	web.CA = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.server.Certificate().Raw})
	return web
}

// Put serves a file and returns its address and its digest.
func (w *Web) Put(path string, data []byte) (url, digest string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.files["/"+path] = data
	return w.URL + "/" + path, fmt.Sprintf("sha256:%x", sha256.Sum256(data))
}

// RequireLogin restricts the files below a top-level folder to this user.
func (w *Web) RequireLogin(folder, user, password string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.logins[folder] = user + ":" + password
}

// HelmRepository serves versions of a chart, with the index that Helm requires, and returns the address of the repository.
func (w *Web) HelmRepository(folder, chart string, versions map[string]Files) string {
	var index strings.Builder
	fmt.Fprintf(&index, "apiVersion: v1\nentries:\n  %s:\n", chart)
	for version, files := range versions {
		name := fmt.Sprintf("%s-%s.tgz", chart, version)
		_, digest := w.Put(folder+"/"+name, files.Gzip())
		fmt.Fprintf(&index, "  - {apiVersion: v2, name: %s, version: %s, urls: [%s], digest: %q}\n", chart, version, name, digest)
	}
	w.Put(folder+"/index.yaml", []byte(index.String()))
	return w.URL + "/" + folder
}

// Commit commits the files to branch main of a git repository, and returns its address and the commit.
func (w *Web) Commit(name string, files Files) (url, commit string) {
	ginkgo.GinkgoHelper()
	w.mu.Lock()
	defer w.mu.Unlock()
	repository := w.gits[name]
	if repository == nil {
		var err error
		options := &git.PlainInitOptions{InitOptions: git.InitOptions{DefaultBranch: "refs/heads/main"}}
		repository, err = git.PlainInitWithOptions(ginkgo.GinkgoT().TempDir(), options)
		gomega.Expect(err).NotTo(gomega.HaveOccurred())
		w.gits[name] = repository
	}
	tree, err := repository.Worktree()
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	for path, data := range files {
		file := filepath.Join(tree.Filesystem.Root(), path)
		gomega.Expect(errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(data), 0o600))).To(gomega.Succeed())
		_, err := tree.Add(path)
		gomega.Expect(err).NotTo(gomega.HaveOccurred())
	}
	author := &object.Signature{Name: "testkit", Email: "testkit@example.com", When: time.Unix(1_700_000_000, 0)}
	hash, err := tree.Commit("content", &git.CommitOptions{Author: author, AllowEmptyCommits: true})
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	return w.URL + "/" + name, hash.String()
}

// Requests counts the requests for a path.
func (w *Web) Requests(path string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked["/"+path]
}

// ServeHTTP implements http.Handler.
func (w *Web) ServeHTTP(out http.ResponseWriter, req *http.Request) {
	w.mu.Lock()
	w.asked[req.URL.Path]++
	file, found := w.files[req.URL.Path]
	folder, rest, _ := strings.Cut(strings.TrimPrefix(req.URL.Path, "/"), "/")
	repository, login := w.gits[folder], w.logins[folder]
	w.mu.Unlock()
	user, password, _ := req.BasicAuth()
	switch {
	case login != "" && login != user+":"+password:
		out.Header().Set("WWW-Authenticate", `Basic realm="testkit"`)
		http.Error(out, "log in", http.StatusUnauthorized)
	case found:
		_, _ = out.Write(file)
	case repository != nil:
		serveGit(out, req, repository, rest)
	default:
		http.NotFound(out, req)
	}
}

// serveGit implements the server's side of git's smart protocol. A server without shallow clones sends the whole history, which is short
// here.
func serveGit(out http.ResponseWriter, req *http.Request, repository *git.Repository, path string) {
	endpoint, err := transport.NewEndpoint("https://testkit/" + path)
	if err != nil {
		http.Error(out, err.Error(), http.StatusBadRequest)
		return
	}
	session, err := server.NewServer(server.MapLoader{endpoint.String(): repository.Storer}).NewUploadPackSession(endpoint, nil)
	if err != nil {
		http.Error(out, err.Error(), http.StatusInternalServerError)
		return
	}
	switch path {
	case "info/refs":
		refs, err := session.AdvertisedReferencesContext(req.Context())
		if err != nil {
			http.Error(out, err.Error(), http.StatusInternalServerError)
			return
		}
		encoder := pktline.NewEncoder(out)
		_ = errors.Join(encoder.EncodeString("# service=git-upload-pack\n"), encoder.Flush(), refs.Encode(out))
	case "git-upload-pack":
		request := packp.NewUploadPackRequest()
		if err := request.Decode(req.Body); err != nil {
			http.Error(out, err.Error(), http.StatusBadRequest)
			return
		}
		answer, err := session.UploadPack(req.Context(), request)
		if err != nil {
			http.Error(out, err.Error(), http.StatusInternalServerError)
			return
		}
		_ = answer.Encode(out)
	default:
		http.NotFound(out, req)
	}
}
