package git

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

func TestGitServersThatRefuse(t *testing.T) {
	status := func(code int, says string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, says, code) }
	}
	for name, test := range map[string]struct {
		handler http.Handler
		reason  string
	}{
		"want credentials":        {status(http.StatusUnauthorized, "secret-of-the-server"), content.ReasonRegistryUnauthorized},
		"refuse credentials":      {status(http.StatusForbidden, "secret-of-the-server"), content.ReasonRegistryUnauthorized},
		"have no such repository": {http.NotFoundHandler(), content.ReasonContentNotFound},
		"cannot serve now":        {status(http.StatusServiceUnavailable, "secret-of-the-server"), content.ReasonRegistryUnreachable},
		"are no git servers":      {status(http.StatusOK, "<html>"), content.ReasonRegistryUnreachable},
		"say nothing":             {status(http.StatusOK, ""), content.ReasonRegistryUnreachable},
		"say too much": {http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.Copy(w, io.LimitReader(endless{}, 1<<20))
		}), content.ReasonRegistryUnreachable},
		"redirect to a place without TLS": {http.RedirectHandler("http://127.0.0.1:1/info/refs", http.StatusFound), content.ReasonRegistryUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			source := serveGit(t, test.handler)
			source.Auth = Auth{Username: "me", Password: "my-password"}
			_, err := source.Resolve(t.Context())
			if content.ReasonOf(err) != test.reason {
				t.Errorf("reason %s, error %v", content.ReasonOf(err), err)
			}
			for _, secret := range []string{"my-password", "secret-of-the-server"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("error %v", err)
				}
			}
		})
	}
	t.Run("are not trusted", func(t *testing.T) {
		source := serveGit(t, http.NotFoundHandler())
		source.CA = nil
		if _, err := source.Resolve(t.Context()); content.ReasonOf(err) != content.ReasonRegistryUnreachable || !strings.Contains(err.Error(), "certificate") {
			t.Errorf("error %v", err)
		}
		source.CA = []byte("no certificate")
		if _, err := source.Resolve(t.Context()); content.ReasonOf(err) != content.ReasonSourceInvalid {
			t.Errorf("error %v", err)
		}
	})
}

func TestGitSendsCredentialsToItsOwnServerOnly(t *testing.T) {
	repository := &gitServer{repository: newRepository(t, gitFiles)}
	var leaked error
	other := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			leaked = errors.New("the other server got credentials")
		}
		repository.ServeHTTP(w, r)
	}))
	t.Cleanup(other.Close)
	source := serveGit(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, password, _ := r.BasicAuth(); name != "me" || password != "mine" {
			http.Error(w, "", http.StatusUnauthorized)
			return
		}
		if strings.HasPrefix(r.URL.Path, "/moved") {
			http.Redirect(w, r, other.URL+strings.Replace(r.URL.RequestURI(), "/moved", "/team", 1), http.StatusFound)
			return
		}
		repository.ServeHTTP(w, r)
	}))
	source.CA = append(source.CA, certificateOf(other)...)
	if _, err := source.Resolve(t.Context()); content.ReasonOf(err) != content.ReasonRegistryUnauthorized {
		t.Errorf("without credentials: %v", err)
	}
	source.Auth = Auth{Username: "me", Password: "mine"}
	get(t, source)
	source.URL = strings.Replace(source.URL, "/team/", "/moved/", 1)
	get(t, source)
	if leaked != nil {
		t.Error(leaked)
	}
}

func TestGitEndsInTime(t *testing.T) {
	release := make(chan struct{})
	source := serveGit(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-release:
		}
		panic(http.ErrAbortHandler) // no answer, see hang
	}))
	t.Cleanup(func() { close(release) })
	source.Timeout = 50 * time.Millisecond
	if _, err := source.Resolve(t.Context()); content.ReasonOf(err) != content.ReasonRegistryUnreachable {
		t.Errorf("error %v", err)
	}
	source.Timeout = time.Minute
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := source.Resolve(ctx); content.ReasonOf(err) != content.ReasonRegistryUnreachable {
		t.Errorf("error %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if _, err := source.Resolve(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
