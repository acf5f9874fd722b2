package directinstall_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/kyma-project/lifecycle-manager/internal/client/directinstall"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// TestPlain_ATemplateDoesNotTurnOffTLS: the author of a template chooses the location of its component. Only the owner of a login decides
// whether it is sent there in clear text.
func TestPlain_ATemplateDoesNotTurnOffTLS(t *testing.T) {
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
		access   directinstall.Access
		asked    bool
	}{
		"the address has http":      {registry.URL, directinstall.Access{}, false},
		"in capitals":               {strings.Replace(registry.URL, "http", "HTTP", 1), directinstall.Access{}, false},
		"the address has no scheme": {host, directinstall.Access{}, false},
		"a flag allows it":          {host, directinstall.Access{PlainHTTP: true}, true},
		"the registries file and the address have http": {registry.URL, directinstall.Access{Policy: func(asked string) content.HostPolicy {
			return content.HostPolicy{PlainHTTP: asked == host}
		}}, true},
	} {
		t.Run(title, func(t *testing.T) {
			requests.Store(0)
			logins.Store(0)
			test.access.Credentials = login
			_, err := directinstall.TemplateOf(t.Context(), directinstall.Component{Registry: test.registry, Name: "example.com/module/any", Version: "1.0.0"}, test.access)
			if err == nil || (requests.Load() > 0) != test.asked || (logins.Load() > 0) != test.asked {
				t.Errorf("%d requests without TLS, %d with a login, error %v", requests.Load(), logins.Load(), err)
			}
		})
	}
}
