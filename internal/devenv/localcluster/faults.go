package localcluster

import (
	"net/http"
	"strings"
	"time"
)

// Fault answers a request to a registry in place of the registry, or passes it on to next.
type Fault func(w http.ResponseWriter, req *http.Request, next http.Handler)

// Only applies the fault to requests of these kinds and lets all others pass.
func Only(fault Fault, kinds ...Kind) Fault {
	struck := map[Kind]bool{}
	for _, kind := range kinds {
		struck[kind] = true
	}
	return func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if struck[KindOf(req)] {
			fault(w, req, next)
			return
		}
		next.ServeHTTP(w, req)
	}
}

// Fail answers with a status code, such as 500 or 429.
func Fail(status int) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		http.Error(w, http.StatusText(status), status)
	}
}

// Down closes the connection without a response, like a registry during a restart. The port stays in use, so that no other program can take
// it in the meantime.
func Down() Fault {
	return func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }
}

// Slow waits before it passes the request on.
func Slow(delay time.Duration) Fault {
	return func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		select {
		case <-time.After(delay):
			next.ServeHTTP(w, req)
		case <-req.Context().Done():
		}
	}
}

// Deny refuses all credentials.
func Deny() Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { unauthorized(w) }
}

// RequireLogin passes requests on that carry this user and password and refuses the others.
func RequireLogin(user, password string) Fault {
	return func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if u, p, ok := req.BasicAuth(); ok && u == user && p == password {
			next.ServeHTTP(w, req)
			return
		}
		unauthorized(w)
	}
}

// Corrupt serves other bytes than the stored ones, of the same length, for the blob of that digest ("sha256:...").
func Corrupt(digest string) Fault {
	return func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if KindOf(req) == BlobGet && strings.HasSuffix(req.URL.Path, "/"+digest) {
			w = &flipper{ResponseWriter: w}
		}
		next.ServeHTTP(w, req)
	}
}

func unauthorized(w http.ResponseWriter) {
	w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusUnauthorized)
	_, _ = w.Write([]byte(`{"errors":[{"code":"UNAUTHORIZED","message":"authentication required"}]}`))
}

// flipper inverts the first byte of a body.
type flipper struct {
	http.ResponseWriter
	flipped bool
}

// Write passes the bytes on, the first of the body inverted.
func (f *flipper) Write(data []byte) (int, error) {
	if !f.flipped && len(data) > 0 {
		f.flipped = true
		data = append([]byte{^data[0]}, data[1:]...)
	}
	return f.ResponseWriter.Write(data)
}
