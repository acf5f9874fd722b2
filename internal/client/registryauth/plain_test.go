package registryauth_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/kyma-project/lifecycle-manager/internal/client/registryauth"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// TestDockersLoginsStayWhereThereIsNoTLS: data that is sent without TLS can be read by everyone on the network path. So docker's logins are
// withheld, except for this machine itself.
func TestDockersLoginsStayWhereThereIsNoTLS(t *testing.T) {
	for title, test := range map[string]struct {
		host  string
		named []string // in addition to the host itself
		args  []string
		sent  bool
		user  string
	}{
		"with TLS":                               {"registry.example.com", []string{"oci://registry.example.com"}, nil, true, "ada"},
		"without TLS by flag":                    {"registry.example.com", []string{"registry.example.com"}, []string{"--plain-http"}, false, ""},
		"without TLS by flag, in capitals":       {"Registry.Example.com", []string{"registry.example.com"}, []string{"--plain-http"}, false, ""},
		"without TLS by the reference":           {"registry.example.com", []string{"http://registry.example.com/modules"}, nil, false, ""},
		"without TLS for all":                    {"registry.example.com", nil, []string{"--plain-http"}, false, ""},
		"without TLS by the registries file":     {"plain.example.com", []string{"plain.example.com"}, []string{"--registries-file=x"}, false, ""},
		"the flag is for another host":           {"registry.example.com", []string{"http://other.example.com"}, []string{"--plain-http"}, true, "ada"},
		"the flag, and a login for this host":    {"registry.example.com", []string{"registry.example.com"}, []string{"--plain-http", "--username=bob", "--password=x"}, true, "bob"},
		"this machine by flag":                   {"127.0.0.1:5000", []string{"127.0.0.1:5000"}, []string{"--plain-http"}, true, "ada"},
		"this machine by the reference":          {"localhost:5000", []string{"http://localhost:5000"}, nil, true, "ada"},
		"this machine, in IPv6":                  {"[::1]:5000", []string{"[::1]:5000"}, []string{"--plain-http"}, true, "ada"},
		"a name that only begins like localhost": {"localhost.example.com", nil, []string{"--plain-http"}, false, ""},
	} {
		t.Run(title, func(t *testing.T) {
			folder := docker(t, test.host, `{"auths":{"HOST":{"auth":"LOGIN"}}}`)
			options := parsed(t, append([]string{"--docker-config", folder}, test.args...)...)
			options.ReadRegistries = func(string) (func(host string) content.HostPolicy, error) {
				return func(host string) content.HostPolicy {
					return content.HostPolicy{PlainHTTP: host == "plain.example.com"}
				}, nil
			}
			access, err := options.Access(strings.NewReader(""), test.named...)
			if err != nil {
				t.Fatal(err)
			}
			found, err := access.Credentials(t.Context(), test.host)
			if err != nil || (found.Username != "") != test.sent || found.Username != test.user {
				t.Errorf("user %q is sent, error %v; want %q", found.Username, err, test.user)
			}
			refusal := &errcode.ErrorResponse{StatusCode: http.StatusUnauthorized, URL: &url.URL{Host: test.host}}
			said := options.Explain(refusal, "").Error()
			if told := strings.Contains(said, "is not sent without TLS"); told == test.sent {
				t.Errorf("it is explained by %q", said)
			}
		})
	}
}

// TestPlain_ALoginThatIsNotThereIsNotMissed covers a registry without TLS for which docker has no login.
func TestPlain_ALoginThatIsNotThereIsNotMissed(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "config.json"), []byte(`{}`), 0o600); err != nil {
		t.Fatal(err)
	}
	options := &registryauth.Options{PlainHTTP: true, DockerConfig: folder}
	access, err := options.Access(nil, "registry.example.com")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := access.Credentials(t.Context(), "registry.example.com"); err != nil {
		t.Fatal(err)
	}
	refusal := &errcode.ErrorResponse{StatusCode: http.StatusUnauthorized, URL: &url.URL{Host: "registry.example.com"}}
	if said := options.Explain(refusal, "").Error(); !strings.Contains(said, "requires a login") {
		t.Errorf("it is explained by %q", said)
	}
}
