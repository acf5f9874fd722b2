package content

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"oras.land/oras-go/v2/registry/remote/auth"
)

// TestCleartext_ALoginIsNotSentInTheClear is about registries that are spoken to without TLS because of what another user than the owner of
// the login says.
func TestCleartext_ALoginIsNotSentInTheClear(t *testing.T) {
	var password atomic.Value
	password.Store("right")
	for title, test := range map[string]struct {
		configure func(r *Registries, host string)
		reason    string
	}{
		"who speaks http there says it of logins too": {func(*Registries, string) {}, ""},
		"logins are for no host without TLS": {func(r *Registries, _ string) {
			r.PlainLogins = func(string) bool { return false }
		}, ReasonRegistryUnauthorized},
		"logins are for this host": {func(r *Registries, host string) {
			r.PlainLogins = func(asked string) bool { return asked == host }
		}, ""},
	} {
		t.Run(title, func(t *testing.T) {
			var sent atomic.Int32
			source, host, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != "" {
					sent.Add(1)
				}
				basic(&password, blob("hello")).ServeHTTP(w, r)
			}))
			source.Credentials = func(context.Context, string) (auth.Credential, error) {
				return auth.Credential{Username: "me", Password: "right"}, nil
			}
			test.configure(&source.Registries, host)
			_, err := source.Layer(t.Context(), referenceTo(host, "hello"))
			if ReasonOf(err) != test.reason || (sent.Load() > 0) != (test.reason == "") {
				t.Errorf("%d logins were sent, error %v", sent.Load(), err)
			}
			if err != nil && !strings.Contains(err.Error(), "is not sent in the clear") {
				t.Errorf("error %v", err)
			}
		})
	}
}

// TestCleartext_ATokenServiceGetsNoLoginInTheClear: where tokens are given is the registry's word.
func TestCleartext_ATokenServiceGetsNoLoginInTheClear(t *testing.T) {
	for title, login := range map[string]auth.Credential{
		"a password": {Username: "me", Password: "right"}, "an identity token": {RefreshToken: "right"},
	} {
		t.Run(title, func(t *testing.T) {
			var asked atomic.Int32
			service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				_, _ = io.WriteString(w, `{"token":"secret","access_token":"secret"}`)
			}))
			t.Cleanup(service.Close)
			source, host, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("WWW-Authenticate", `Bearer realm="`+service.URL+`/echoed",service="echoed"`)
				w.WriteHeader(http.StatusUnauthorized)
			}))
			source.PlainHTTP = func(asked string) bool { return asked == host }
			source.Credentials = func(context.Context, string) (auth.Credential, error) { return login, nil }
			_, err := source.Layer(t.Context(), referenceTo(host, "hello"))
			if ReasonOf(err) != ReasonRegistryUnauthorized || asked.Load() != 0 {
				t.Errorf("the token service was asked %d times, error %v", asked.Load(), err)
			}
			if told := err.Error(); strings.Contains(told, "echoed") || !strings.Contains(told, strings.TrimPrefix(service.URL, "http://")) {
				t.Errorf("error %q, want one that names the host of the token service and nothing else that the registry chose", told)
			}
		})
	}
}
