package direct_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/kyma-project/lifecycle-manager/internal/direct"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// TestATemplateDoesNotTurnOffTLS: whoever writes a template says where its component lies. Whether a login goes there in the clear is said
// by the owner of the login.
func TestATemplateDoesNotTurnOffTLS(t *testing.T) {
	var requests, logins atomic.Int32
	registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if r.Header.Get("Authorization") != "" {
			logins.Add(1)
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer registry.Close()
	host := strings.TrimPrefix(registry.URL, "http://")
	login := func(context.Context, string) (auth.Credential, error) {
		return auth.Credential{Username: "ada", Password: "secret"}, nil
	}
	for title, test := range map[string]struct {
		registry string
		access   direct.Access
		asked    bool
	}{
		"the address says http":    {registry.URL, direct.Access{}, false},
		"in capitals":              {strings.Replace(registry.URL, "http", "HTTP", 1), direct.Access{}, false},
		"the address says nothing": {host, direct.Access{}, false},
		"a flag says so":           {host, direct.Access{PlainHTTP: true}, true},
		"the registries file says so, and the address too": {registry.URL, direct.Access{Policy: func(asked string) content.HostPolicy {
			return content.HostPolicy{PlainHTTP: asked == host}
		}}, true},
	} {
		t.Run(title, func(t *testing.T) {
			requests.Store(0)
			logins.Store(0)
			test.access.Credentials = login
			_, err := direct.TemplateOf(t.Context(), direct.Component{Registry: test.registry, Name: "example.com/module/any", Version: "1.0.0"}, test.access)
			if err == nil || (requests.Load() > 0) != test.asked || (logins.Load() > 0) != test.asked {
				t.Errorf("%d requests without TLS, %d with a login, error %v", requests.Load(), logins.Load(), err)
			}
		})
	}
}
