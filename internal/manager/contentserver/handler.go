package contentserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

const (
	root = "/v1/manifests/"
	// unnamed is the name given to content that is one file without a name: "." in a tar archive cannot be unpacked.
	unnamed = "manifest.yaml"
	// contentTimeout is the time limit for Contents.
	contentTimeout = 30 * time.Second
	// maxReaders bounds the archives in memory at once; slotTimeout is how long other requests wait for a slot.
	maxReaders  = 8
	slotTimeout = 10 * time.Second
)

// Path returns the path at which the server serves the content of an install; without an install, that of the list of a Manifest's
// installs.
func Path(namespace, manifest, install string) string {
	path := root + url.PathEscape(namespace) + "/" + url.PathEscape(manifest)
	if install != "" {
		path += "/" + url.PathEscape(install)
	}
	return path
}

type handler struct {
	door     *authorizer
	contents Contents
	log      logr.Logger
	slots    chan struct{}
}

// Handler returns a handler for the paths of this package, without TLS, which only Start adds. Create one and reuse it: it caches
// permissions.
func (s *Server) Handler() http.Handler { return newHandler(s, time.Now).routes() }

func newHandler(s *Server, now func() time.Time) *handler {
	return &handler{
		door:     newAuthorizer(s.Tokens, s.Access, now),
		contents: s.Contents, log: s.Log, slots: make(chan struct{}, maxReaders),
	}
}

func (h *handler) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+root+"{namespace}/{name}", h.guarded(h.list))
	mux.HandleFunc("GET "+root+"{namespace}/{name}/{install}", h.guarded(h.archive))
	mux.HandleFunc("GET "+root+"{namespace}/{name}/{install}/{path...}", h.guarded(h.file))
	mux.HandleFunc("/", h.nothing)
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		header := w.Header()
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Content-Security-Policy", "default-src 'none'; sandbox")
		// A cache must revalidate a response, since permissions may change.
		header.Set("Cache-Control", "private, no-cache")
		mux.ServeHTTP(w, req)
	})
}

// nothing handles requests that no other route matches.
func (h *handler) nothing(w http.ResponseWriter, req *http.Request) {
	if req.Method != http.MethodGet && req.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		h.refuse(w, req, &problem{code: http.StatusMethodNotAllowed, reason: "MethodNotAllowed", message: "content is only read here"})
		return
	}
	h.refuse(w, req, notFound("there is nothing here: ask for "+root+"<namespace>/<name>[/<install>[/<path>]]"))
}

// guarded passes a request on to answer when its names are valid, its sender may read the content, a slot is free, and there is content.
func (h *handler) guarded(answer func(http.ResponseWriter, *http.Request, []Item) *problem) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		namespace, name := req.PathValue("namespace"), req.PathValue("name")
		p := checkNames(namespace, name)
		if p == nil {
			p = h.door.admit(req, namespace, name)
		}
		if p == nil {
			p = h.occupy(req.Context())
		}
		if p != nil {
			h.refuse(w, req, p)
			return
		}
		defer func() { <-h.slots }()
		items, err := h.read(req.Context(), namespace, name)
		if err != nil {
			p = ofContents(err, namespace, name)
		} else {
			p = answer(w, req, items)
		}
		if p != nil {
			h.refuse(w, req, p)
		}
	}
}

// checkNames keeps names from the API server that could mean another permission: an empty name stands for all names.
func checkNames(namespace, name string) *problem {
	if len(validation.IsDNS1123Label(namespace)) > 0 {
		return badName(fmt.Sprintf("no namespace can be called %q", namespace))
	}
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		return badName(fmt.Sprintf("no Manifest can be called %q", name))
	}
	return nil
}

// occupy waits for a free slot.
func (h *handler) occupy(ctx context.Context) *problem {
	ctx, cancel := context.WithTimeout(ctx, slotTimeout)
	defer cancel()
	select {
	case h.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return busy()
	}
}

func (h *handler) read(ctx context.Context, namespace, name string) ([]Item, error) {
	ctx, cancel := context.WithTimeout(ctx, contentTimeout)
	defer cancel()
	items, err := h.contents(ctx, namespace, name)
	if err == nil && len(items) == 0 {
		err = ErrNotFound
	}
	return items, err
}

// listed is one install in the list.
type listed struct {
	Install   string `json:"install"`
	Reference string `json:"reference"`
	Digest    string `json:"digest"`
	MediaType string `json:"mediaType,omitempty"`
	// URL is relative to the server.
	URL string `json:"url"`
}

func (h *handler) list(w http.ResponseWriter, req *http.Request, items []Item) *problem {
	list := make([]listed, 0, len(items))
	for _, item := range items {
		list = append(list, listed{
			Install: item.Install, Reference: item.Reference, Digest: item.Digest, MediaType: item.MediaType,
			URL: Path(req.PathValue("namespace"), req.PathValue("name"), item.Install),
		})
	}
	h.writeJSON(w, req, http.StatusOK, list)
	return nil
}

func (h *handler) archive(w http.ResponseWriter, req *http.Request, items []Item) *problem {
	item, p := find(items, req)
	if p != nil {
		return p
	}
	w.Header().Set("Content-Type", "application/x-tar")
	serve(w, req, item.Digest, &lazy{make: func() []byte { return content.Archive(named(item.Tree)) }})
	return nil
}

func (h *handler) file(w http.ResponseWriter, req *http.Request, items []Item) *problem {
	item, p := find(items, req)
	if p != nil {
		return p
	}
	path := req.PathValue("path")
	for _, file := range named(item.Tree) {
		if file.Path == path {
			w.Header().Set("Content-Type", typeOf(file.Data))
			serve(w, req, item.Digest, bytes.NewReader(file.Data))
			return nil
		}
	}
	return notFound(fmt.Sprintf("install %q holds no file %q: its archive lists them all", item.Install, path))
}

func find(items []Item, req *http.Request) (Item, *problem) {
	install := req.PathValue("install")
	names := make([]string, 0, len(items))
	for _, item := range items {
		if item.Install != install {
			names = append(names, item.Install)
			continue
		}
		if item.Tree == nil {
			return Item{}, stillPending(install, defaultRetry)
		}
		return item, nil
	}
	return Item{}, notFound(fmt.Sprintf("this Manifest has no install %q: it has %s", install, strings.Join(names, ", ")))
}

// named returns the files of a tree, with a name for a file that has none.
func named(tree *content.Tree) []content.File {
	if len(tree.Files) == 1 && tree.Files[0].Path == "" {
		return []content.File{{Path: unnamed, Data: tree.Files[0].Data}}
	}
	return tree.Files
}

// typeOf never returns a type that a browser would execute.
func typeOf(data []byte) string {
	if utf8.Valid(data) && !bytes.ContainsRune(data, 0) {
		return "text/plain; charset=utf-8"
	}
	return "application/octet-stream"
}

// serve responds with the content, with "not modified", or with the requested part.
func serve(w http.ResponseWriter, req *http.Request, digest string, body io.ReadSeeker) {
	if digest != "" {
		w.Header().Set("ETag", `"`+digest+`"`)
	}
	http.ServeContent(w, req, "", time.Time{}, body)
}

// lazy creates its bytes when they are needed: "not modified" requires no archive.
type lazy struct {
	make   func() []byte
	reader *bytes.Reader
}

// Read implements io.Reader.
func (l *lazy) Read(p []byte) (int, error) { return l.open().Read(p) }

// Seek implements io.Seeker.
func (l *lazy) Seek(offset int64, whence int) (int64, error) { return l.open().Seek(offset, whence) }

func (l *lazy) open() *bytes.Reader {
	if l.reader == nil {
		l.reader = bytes.NewReader(l.make())
	}
	return l.reader
}

func (h *handler) refuse(w http.ResponseWriter, req *http.Request, p *problem) {
	if p.cause != nil && !errors.Is(p.cause, context.Canceled) {
		h.log.Error(p.cause, "Content is not served", "path", req.URL.Path)
	}
	p.setHeaders(w.Header())
	h.writeJSON(w, req, p.code, p.status())
}

func (h *handler) writeJSON(w http.ResponseWriter, req *http.Request, code int, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		h.log.Error(err, "An answer cannot be written", "path", req.URL.Path)
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	// An error means that the client has disconnected.
	_, _ = w.Write(append(body, '\n'))
}
