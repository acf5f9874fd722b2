package descriptor

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

func failing(code int) middleware {
	return func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
	}
}

// mirrored returns a reader of a registry with mirrors, all of them without TLS.
func mirrored(origin string, mirrors ...string) *Reader {
	reader := plain(origin)
	reader.Policy = func(host string) content.HostPolicy {
		if host == origin {
			return content.HostPolicy{Mirrors: mirrors}
		}
		return content.HostPolicy{PlainHTTP: true}
	}
	return reader
}

func TestComponentsAreReadFromMirrorsFirst(t *testing.T) {
	full, empty, broken := start(t), start(t), start(t)
	artifact{layer: descriptorTar(golden(t, "v2.yaml"))}.put(t, full)
	artifact{path: "proxy/" + harbourPath, layer: descriptorTar(golden(t, "v2.yaml"))}.put(t, full)
	artifact{layer: []byte("garbage")}.put(t, broken)
	down := start(t, failing(http.StatusServiceUnavailable))
	for name, test := range map[string]struct {
		origin  string
		mirrors []string
	}{
		"the mirror has it, and the registry is not asked": {down, []string{full}},
		"the mirror has it below a path":                   {down, []string{full + "/proxy"}},
		"the first mirror does not have it":                {down, []string{empty, full}},
		"the first mirror has something broken":            {down, []string{broken, full}},
		"only the registry has it":                         {full, []string{empty, down}},
	} {
		t.Run(name, func(t *testing.T) {
			reader := mirrored(test.origin, test.mirrors...)
			got, err := reader.Get(t.Context(), harbourName, harbourVersion)
			if err != nil {
				t.Fatal(err)
			}
			if want := test.origin + "/component-descriptors"; got.Repository != want {
				t.Errorf("repository %s, want that of the registry, %s", got.Repository, want)
			}
		})
	}
	digest, err := mirrored(down, empty, full).GetDigest(t.Context(), harbourName, harbourVersion)
	if err != nil || !strings.HasPrefix(digest, "sha256:") {
		t.Errorf("digest %q, %v", digest, err)
	}
}

func TestMirror_WhenMirrorsFailTooTheRegistryCounts(t *testing.T) {
	down := start(t, failing(http.StatusServiceUnavailable))
	for name, test := range map[string]struct {
		origin, mirror, reason string
	}{
		"no one has it":                       {start(t), start(t), ReasonNotFound},
		"the mirror is down":                  {start(t), down, ReasonNotFound},
		"the registry is down":                {down, start(t), ReasonUnreachable},
		"the registry wants other logins":     {start(t, failing(http.StatusForbidden)), down, ReasonUnauthorized},
		"the mirror's name cannot be a place": {start(t), "https://mirror", ReasonUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := mirrored(test.origin, test.mirror).Get(t.Context(), harbourName, harbourVersion)
			if ReasonOf(err) != test.reason || !strings.Contains(err.Error(), "mirror") {
				t.Errorf("error %v with reason %q, want %q", err, ReasonOf(err), test.reason)
			}
		})
	}
}

func TestMirrorsOfComponentsGetTheirOwnCredentials(t *testing.T) {
	guard := func(user string) middleware {
		return func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				given, _, ok := r.BasicAuth()
				if ok && given != user {
					t.Errorf("%s was sent the login of %s", user, given)
				}
				if !ok && r.Method != http.MethodPut && r.Method != http.MethodPost {
					w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
					w.WriteHeader(http.StatusUnauthorized)
					return
				}
				next.ServeHTTP(w, r)
			})
		}
	}
	origin, mirror := start(t, guard("origin")), start(t, guard("mirror"))
	reader := mirrored(origin, mirror)
	reader.Credentials = func(_ context.Context, host string) (auth.Credential, error) {
		return auth.Credential{Username: map[string]string{origin: "origin", mirror: "mirror"}[host], Password: "secret"}, nil
	}
	if _, err := reader.Get(t.Context(), harbourName, harbourVersion); ReasonOf(err) != ReasonNotFound {
		t.Errorf("error %v", err)
	}
}

// The certificates of a registry may change, and the reader follows without being recreated.
func TestComponentsAreReadWithTheCertificatesOfThePolicy(t *testing.T) {
	server := httptest.NewUnstartedServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	right := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	var ca atomic.Pointer[[]byte]
	reader := &Reader{Registry: strings.TrimPrefix(server.URL, "https://"), Registries: Registries{
		Transport: &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}},
		Policy:    func(string) content.HostPolicy { return content.HostPolicy{CA: *ca.Load()} },
	}}
	for _, step := range []struct {
		ca     []byte
		reason string
	}{{nil, ReasonUnreachable}, {[]byte("none"), ReasonUnreachable}, {right, ReasonNotFound}, {nil, ReasonUnreachable}, {right, ReasonNotFound}} {
		ca.Store(&step.ca)
		if _, err := reader.Get(t.Context(), harbourName, harbourVersion); ReasonOf(err) != step.reason {
			t.Errorf("error %v with reason %q, want %q", err, ReasonOf(err), step.reason)
		}
	}
}
