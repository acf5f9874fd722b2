package server

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"net"
	"net/http"
	"strings"
)

// contentPolicy is the Content-Security-Policy. NONCE stands for a nonce that is valid for one response.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-NONCE'; img-src 'self' data:; font-src 'self'; " +
	"connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// random returns some random bytes as text.
func random(bytes int) string {
	data := make([]byte, bytes)
	_, _ = rand.Read(data) // never fails
	return base64.RawURLEncoding.EncodeToString(data)
}

type contextKey int

const (
	keyNonce contextKey = iota
	keySession
	keyUser
	keyBeyond
)

// guarded returns a handler with the checks that every request passes:
//
//  1. the response gets the headers that keep pages of other sites from using it
//  2. the Host header names this server (a foreign name that resolves to loopback is an attack)
//  3. a request that changes something comes from our own pages, by Origin and Sec-Fetch-Site
//  4. and its body, if there is one, is JSON, which a form on another page cannot send
func (s *Server) guarded(next http.Handler) http.Handler {
	crossOrigin := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		nonce := random(16)
		secure(w.Header(), nonce, s.options.secure())
		if !s.ours(r.Host) {
			s.answerProblem(w, r, fail(http.StatusMisdirectedRequest, WhyForbidden,
				"this server does not answer to the name %q: open it by the address that it printed", clip(r.Host, 100)))
			return
		}
		if err := crossOrigin.Check(r); err != nil {
			s.answerProblem(w, r, fail(http.StatusForbidden, WhyForbidden, "the request comes from another site: open the dashboard itself"))
			return
		}
		if changes(r.Method) && r.ContentLength != 0 && !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
			s.answerProblem(w, r, fail(http.StatusUnsupportedMediaType, WhyInvalid, "the body must be JSON: send Content-Type application/json"))
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), keyNonce, nonce)))
	})
}

func changes(method string) bool {
	return method != http.MethodGet && method != http.MethodHead && method != http.MethodOptions
}

// secure sets the headers of every response.
func secure(header http.Header, nonce string, https bool) {
	header.Set("Content-Security-Policy", strings.Replace(contentPolicy, "NONCE", nonce, 1))
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cache-Control", "no-store")
	if https {
		header.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

// ours reports whether a Host header names this server:
//
//  1. if hosts are configured, only those names do
//  2. in a cluster without configured hosts, any name does: one that leads here from elsewhere has no cookie of ours
//  3. locally, loopback with the port of the server does
func (s *Server) ours(host string) bool {
	host = strings.ToLower(host)
	if len(s.options.Hosts) > 0 {
		for _, name := range s.options.Hosts {
			if strings.EqualFold(host, name) {
				return true
			}
		}
		return false
	}
	if s.options.Mode == ModeCluster {
		return true
	}
	name, port, err := net.SplitHostPort(host)
	return err == nil && port == s.port && (name == "127.0.0.1" || name == "localhost" || name == "::1")
}

// clip shortens untrusted text.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return text[:most] + "..."
}
