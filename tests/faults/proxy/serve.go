package proxy

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Middleware intervenes between a client and the server behind. It may respond by itself, change the request, call next, or abort by
// panic(http.ErrAbortHandler), which the client sees as a broken connection. CallOf returns the call.
type Middleware func(next http.Handler) http.Handler

type contextKey struct{}

// CallOf returns the call of a request, with its state so far. Without a proxy it is the zero Call.
func CallOf(ctx context.Context) Call {
	if e, ok := ctx.Value(contextKey{}).(*entry); ok {
		return e.copy()
	}
	return Call{}
}

// chain holds the middlewares, the last one first.
type chain struct {
	mutex sync.RWMutex
	links []*link
}

type link struct {
	name string
	mw   Middleware
}

// Use puts a middleware in front of all others until remove is called. Running requests are not affected.
func (p *Proxy) Use(name string, mw Middleware) (remove func()) {
	added := &link{name: name, mw: mw}
	p.chain.mutex.Lock()
	defer p.chain.mutex.Unlock()
	p.chain.links = append(slices.Clone(p.chain.links), added)
	return func() {
		p.chain.mutex.Lock()
		defer p.chain.mutex.Unlock()
		p.chain.links = slices.DeleteFunc(slices.Clone(p.chain.links), func(l *link) bool { return l == added })
	}
}

// Using lists the installed middlewares, in the order of Use.
func (p *Proxy) Using() []string {
	p.chain.mutex.RLock()
	defer p.chain.mutex.RUnlock()
	var names []string
	for _, l := range p.chain.links {
		names = append(names, l.name)
	}
	return names
}

func (c *chain) wrap(handler http.Handler) http.Handler {
	c.mutex.RLock()
	links := c.links
	c.mutex.RUnlock()
	for _, l := range links {
		handler = l.mw(handler)
	}
	return handler
}

// serve records a request, and passes it through the middlewares to the server behind.
func (p *Proxy) serve(w http.ResponseWriter, request *http.Request) {
	call := read(request)
	call.Server = p.options.Name
	if err := readBody(&call, request, p.options.Body); err != nil {
		panic(http.ErrAbortHandler) // the client went away, or sends more than any server would accept
	}
	e := p.journal.begin(call)
	defer e.end()
	request = request.WithContext(context.WithValue(request.Context(), contextKey{}, e))
	w = &recorder{ResponseWriter: w, entry: e}
	if way, known := p.users.known(bearer(request)); known && way == nil {
		WriteStatus(w, apierrors.NewUnauthorized("the token was revoked").Status(), 0)
		return
	}
	p.chain.wrap(http.HandlerFunc(p.forward)).ServeHTTP(w, request)
}

// forward forwards a request to the server behind.
func (p *Proxy) forward(w http.ResponseWriter, request *http.Request) {
	upstream := p.options.Upstream.Host
	if !strings.Contains(upstream, "://") {
		upstream = "https://" + upstream
	}
	target, err := url.Parse(upstream)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			readable(r.Out)
		},
		Transport:      p.users,
		FlushInterval:  -1,
		ModifyResponse: p.answered,
		// A server that cannot be reached gives no response, so neither does the proxy.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ErrorLog:     log.New(io.Discard, "", 0),
	}
	proxy.ServeHTTP(w, request)
}

// answered records the server's response, and reads along when it is a watch stream.
func (p *Proxy) answered(response *http.Response) error {
	e, ok := response.Request.Context().Value(contextKey{}).(*entry)
	if !ok {
		return nil
	}
	e.upstream(response.StatusCode)
	if call := e.copy(); call.Verb == "watch" && response.StatusCode == http.StatusOK {
		response.Body = p.readAlong(call, response.Body)
	}
	return nil
}

// recorder records the response to the client.
type recorder struct {
	http.ResponseWriter

	entry *entry
}

// WriteHeader records the status.
func (r *recorder) WriteHeader(status int) {
	if status >= http.StatusOK {
		r.entry.answered(status)
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write records success when no other status was written.
func (r *recorder) Write(data []byte) (int, error) {
	r.entry.answered(http.StatusOK)
	return r.ResponseWriter.Write(data)
}

// Unwrap lets http.ResponseController flush.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
