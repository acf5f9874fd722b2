package server

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"net"
	"net/http"
	"strings"
)

// contentPolicy is the Content-Security-Policy. NONCE stands for one that is good for one answer.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-NONCE'; img-src 'self' data:; font-src 'self'; " +
	"connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// random is text of some random bytes.
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

// guarded returns what every request passes:
//
//  1. it gets the headers that keep pages of others from using the answer
//  2. it was meant for this server: the Host is one of ours (a foreign name that leads to loopback is an attack)
//  3. what changes something comes from our own pages, by Origin and Sec-Fetch-Site
//  4. and its body, where there is one, is JSON, which a form of another page cannot send
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

// secure sets the headers that are on every answer.
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
//  1. where hosts are configured, one of them
//  2. in a cluster without that, any: a name that leads here from elsewhere has no cookie of ours
//  3. locally, loopback and the port that the server has
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

// clip shortens what a stranger sent.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return text[:most] + "..."
}
