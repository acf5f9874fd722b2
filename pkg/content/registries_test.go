package content

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote/auth"
)

func TestAnswersOfARegistryHaveReasons(t *testing.T) {
	for status, want := range map[int]string{
		http.StatusUnauthorized:        ReasonRegistryUnauthorized,
		http.StatusForbidden:           ReasonRegistryUnauthorized,
		http.StatusNotFound:            ReasonContentNotFound,
		http.StatusGone:                ReasonContentNotFound,
		http.StatusBadRequest:          ReasonRegistryUnreachable,
		http.StatusTeapot:              ReasonRegistryUnreachable,
		http.StatusTooManyRequests:     ReasonRegistryUnreachable,
		http.StatusInternalServerError: ReasonRegistryUnreachable,
		http.StatusBadGateway:          ReasonRegistryUnreachable,
		http.StatusServiceUnavailable:  ReasonRegistryUnreachable,
		http.StatusNoContent:           ReasonRegistryUnreachable,
	} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			source, host, counter := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(status)
				_, _ = io.WriteString(w, `{"errors":[{"code":"DENIED","message":"because\nof `+strings.Repeat("x", 5000)+`"}]}`)
			}))
			_, err := source.Layer(t.Context(), referenceTo(host, "hello"))
			if ReasonOf(err) != want {
				t.Errorf("error %v with reason %q, want %q", err, ReasonOf(err), want)
			}
			if text := fmt.Sprint(err); len(text) > 600 || strings.Contains(text, "\n") || !strings.Contains(text, fmt.Sprint(status)) {
				t.Errorf("message of %d bytes: %q", len(text), text)
			}
			if got := counter.requests.Load(); got != 1 {
				t.Errorf("%d requests, want 1: the one who calls decides when to try again", got)
			}
		})
	}
}

func TestRegistries_ARegistryThatDoesNotAnswer(t *testing.T) {
	const closedPort = "127.0.0.1:1" // a port that was free a moment ago may already be that of another test's server
	dripping := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1000000")
		drop := time.NewTicker(5 * time.Millisecond)
		defer drop.Stop()
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, "x")
			_ = http.NewResponseController(w).Flush()
			<-drop.C
		}
	}
	for name, handler := range map[string]http.HandlerFunc{"the port is closed": nil, "it hangs": hang, "it drips": dripping} {
		t.Run(name, func(t *testing.T) {
			source, host, _ := serve(t, handler)
			if handler == nil {
				host = closedPort
			}
			source.Timeout = 100 * time.Millisecond
			start := time.Now()
			_, err := source.Layer(t.Context(), referenceTo(host, "hello"))
			if ReasonOf(err) != ReasonRegistryUnreachable || !strings.Contains(err.Error(), host) {
				t.Errorf("error %v with reason %q", err, ReasonOf(err))
			}
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("took %s", took)
			}
			if left := files(t, source.Store); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestRegistriesSpeakTLSUnlessToldOtherwise(t *testing.T) {
	source, host, _ := serve(t, blob("hello"))
	source.PlainHTTP = func(asked string) bool { return asked != host }
	if _, err := source.Layer(t.Context(), referenceTo(host, "hello")); ReasonOf(err) != ReasonRegistryUnreachable {
		t.Errorf("plain http for another host: %v", err)
	}
	source.PlainHTTP = nil
	if _, err := source.Layer(t.Context(), referenceTo(host, "hello")); ReasonOf(err) != ReasonRegistryUnreachable {
		t.Errorf("plain http for no host: %v", err)
	}
	server := httptest.NewTLSServer(blob("hello"))
	t.Cleanup(server.Close)
	secure := referenceTo(strings.TrimPrefix(server.URL, "https://"), "hello")
	if _, err := source.Layer(t.Context(), secure); ReasonOf(err) != ReasonRegistryUnreachable {
		t.Errorf("an unknown certificate: %v", err)
	}
	trusting := &OCI{Store: source.Store, Registries: Registries{Transport: server.Client().Transport}}
	if _, err := trusting.Layer(t.Context(), secure); err != nil {
		t.Errorf("a known certificate: %v", err)
	}
}

// basic wants a user and a password.
func basic(password *atomic.Value, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, given, ok := r.BasicAuth(); !ok || user != "me" || given != password.Load() {
			w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func TestCredentialsAreThoseOfTheHost(t *testing.T) {
	var password atomic.Value
	password.Store("right")
	for name, test := range map[string]struct {
		give   auth.Credential
		err    error
		reason string
		text   string
	}{
		"the right ones": {auth.Credential{Username: "me", Password: "right"}, nil, "", ""},
		"wrong ones": {
			auth.Credential{Username: "me", Password: "wrong"}, nil, ReasonRegistryUnauthorized, "answers GET with 401",
		},
		"none":                        {auth.EmptyCredential, nil, ReasonRegistryUnauthorized, "requires credentials, and there are none"},
		"a user without password":     {auth.Credential{Username: "me"}, nil, ReasonRegistryUnauthorized, "need both"},
		"a Secret that is not there":  {auth.EmptyCredential, errors.New("no such Secret"), ReasonRegistryUnauthorized, "no such Secret"},
		"a password without the user": {auth.Credential{Password: "right"}, nil, ReasonRegistryUnauthorized, "need both"},
	} {
		t.Run(name, func(t *testing.T) {
			source, host, _ := serve(t, basic(&password, blob("hello")))
			source.Credentials = func(_ context.Context, asked string) (auth.Credential, error) {
				if asked != host {
					t.Errorf("asked for the credentials of %s", asked)
				}
				return test.give, test.err
			}
			_, err := source.Layer(t.Context(), referenceTo(host, "hello"))
			if ReasonOf(err) != test.reason || (err != nil && !strings.Contains(err.Error(), test.text)) {
				t.Errorf("error %v with reason %q, want %q", err, ReasonOf(err), test.reason)
			}
			if strings.Contains(fmt.Sprint(err), "right") {
				t.Errorf("the message tells the password: %v", err)
			}
		})
	}
}

func TestCredentialsMayChange(t *testing.T) {
	var password atomic.Value
	password.Store("old")
	source, host, _ := serve(t, basic(&password, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, map[string]string{digestOf("a"): "a", digestOf("b"): "b"}[r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]])
	})))
	source.Credentials = func(context.Context, string) (auth.Credential, error) {
		return auth.Credential{Username: "me", Password: password.Load().(string)}, nil
	}
	if _, err := source.Layer(t.Context(), referenceTo(host, "a")); err != nil {
		t.Fatal(err)
	}
	password.Store("new")
	if _, err := source.Layer(t.Context(), referenceTo(host, "b")); err != nil {
		t.Errorf("after the rotation: %v", err)
	}
}

func TestTokensAreFetchedWhereTheRegistrySays(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		reason string
	}{
		"the token is given":         {http.StatusOK, ""},
		"the token is refused":       {http.StatusForbidden, ReasonRegistryUnauthorized},
		"the token service is down":  {http.StatusServiceUnavailable, ReasonRegistryUnreachable},
		"the token service is wrong": {http.StatusNoContent, ReasonRegistryUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			source, host, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.URL.Path == "/token":
					if user, password, _ := r.BasicAuth(); user != "me" || password != "right" ||
						r.FormValue("scope") != "repository:"+testRepository+":pull" {
						t.Errorf("asked for a token as %q for %q", user, r.FormValue("scope"))
					}
					w.WriteHeader(test.status)
					_, _ = io.WriteString(w, `{"token":"secret"}`)
				case r.Header.Get("Authorization") == "Bearer secret":
					_, _ = io.WriteString(w, "hello")
				default:
					w.Header().Set("WWW-Authenticate", `Bearer realm="http://`+r.Host+`/token",service="registry"`)
					w.WriteHeader(http.StatusUnauthorized)
				}
			}))
			source.Credentials = func(context.Context, string) (auth.Credential, error) {
				return auth.Credential{Username: "me", Password: "right"}, nil
			}
			if _, err := source.Layer(t.Context(), referenceTo(host, "hello")); ReasonOf(err) != test.reason {
				t.Errorf("error %v with reason %q, want %q", err, ReasonOf(err), test.reason)
			}
		})
	}
}

// A registry may send us to where it keeps its blobs, but not with the credentials that are for the registry.
func TestRedirectsLeaveCredentialsBehind(t *testing.T) {
	var password atomic.Value
	password.Store("right")
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if given := r.Header.Get("Authorization"); given != "" {
			t.Errorf("another host was given %q", given)
		}
		if r.URL.Query().Has("login") { // and it gets none by asking for them either
			w.Header().Set("WWW-Authenticate", `Basic realm="elsewhere"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, "hello")
	}))
	t.Cleanup(elsewhere.Close)
	for query, reason := range map[string]string{"": "", "?login": ReasonRegistryUnauthorized} {
		source, host, _ := serve(t, basic(&password, http.RedirectHandler(elsewhere.URL+"/blob"+query, http.StatusTemporaryRedirect)))
		source.Credentials = func(_ context.Context, asked string) (auth.Credential, error) {
			if asked != host {
				t.Errorf("asked for the credentials of %s", asked)
			}
			return auth.Credential{Username: "me", Password: "right"}, nil
		}
		if _, err := source.Layer(t.Context(), referenceTo(host, "hello")); ReasonOf(err) != reason {
			t.Errorf("%q: error %v", query, err)
		}
	}
}

func TestRedirectsThatAreNotFollowed(t *testing.T) {
	plain := httptest.NewServer(blob("hello"))
	t.Cleanup(plain.Close)
	server := httptest.NewTLSServer(http.RedirectHandler(plain.URL+"/?signature=secret", http.StatusFound))
	t.Cleanup(server.Close)
	source := &OCI{Store: newStore(t), Registries: Registries{Transport: server.Client().Transport}}
	_, err := source.Layer(t.Context(), referenceTo(strings.TrimPrefix(server.URL, "https://"), "hello"))
	if ReasonOf(err) != ReasonRegistryUnreachable || !strings.Contains(err.Error(), "redirect from https to http") {
		t.Errorf("error %v", err)
	}
	if strings.Contains(fmt.Sprint(err), "secret") {
		t.Errorf("the message tells the query: %v", err)
	}
	circle, host, counter := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Path+"/", http.StatusFound)
	}))
	_, err = circle.Layer(t.Context(), referenceTo(host, "hello"))
	if ReasonOf(err) != ReasonRegistryUnreachable || counter.requests.Load() > maxRedirects+1 {
		t.Errorf("error %v after %d requests", err, counter.requests.Load())
	}
}

func TestRegistryError(t *testing.T) {
	typed := &Error{Reason: ReasonContentTooLarge, Err: errors.New("large")}
	for name, test := range map[string]struct {
		err    error
		reason string
	}{
		"no error":                         {nil, ""},
		"an error that has a reason":       {fmt.Errorf("context: %w", typed), ReasonContentTooLarge},
		"the caller gave up":               {fmt.Errorf("get: %w", context.Canceled), ReasonInternal},
		"the time is up":                   {fmt.Errorf("get: %w", context.DeadlineExceeded), ReasonRegistryUnreachable},
		"a repository without the content": {fmt.Errorf("tag 1.0.0: %w", errdef.ErrNotFound), ReasonContentNotFound},
		"anything else":                    {errors.New("odd"), ReasonRegistryUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			if got := RegistryError(test.err); ReasonOf(got) != test.reason || !errors.Is(got, test.err) {
				t.Errorf("error %v with reason %q, want %q", got, ReasonOf(got), test.reason)
			}
		})
	}
}
