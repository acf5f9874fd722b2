package content

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"oras.land/oras-go/v2/registry/remote/auth"
)

// certificate signs itself, for 127.0.0.1.
func certificate(t testing.TB) (tls.Certificate, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "registry"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// secure serves by TLS with a certificate that only its CA vouches for.
func secure(t testing.TB, handler http.Handler, with tls.Certificate) string {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{with}}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "https://")
}

func TestCertificatesOfAHostMayChange(t *testing.T) {
	old, oldCA := certificate(t)
	_, newCA := certificate(t)
	on := newShelf()
	host := secure(t, on, old)
	var policy atomic.Pointer[HostPolicy]
	source := &OCI{Store: newStore(t), Registries: Registries{Policy: func(asked string) HostPolicy {
		if asked != host {
			t.Errorf("asked for the policy of %s", asked)
		}
		return *policy.Load()
	}}}
	for _, step := range []struct {
		what   string
		policy HostPolicy
		reason string
	}{
		{"no CA", HostPolicy{}, ReasonRegistryUnreachable},
		{"another CA", HostPolicy{CA: newCA}, ReasonRegistryUnreachable},
		{"the right CA", HostPolicy{CA: oldCA}, ""},
		{"two CAs", HostPolicy{CA: append(newCA, oldCA...)}, ""},
		{"a CA that was taken back", HostPolicy{CA: newCA}, ReasonRegistryUnreachable},
		{"a CA that is none", HostPolicy{CA: []byte("none")}, ReasonRegistryUnreachable},
		{"http where https is served", HostPolicy{PlainHTTP: true}, ReasonRegistryUnreachable},
		{"the right CA again", HostPolicy{CA: oldCA}, ""},
	} {
		on.manifest(t, on.layer(archive(t, entry{name: "a", data: step.what})))
		policy.Store(&step.policy)
		if _, err := fetchImage(t, source, host); ReasonOf(err) != step.reason {
			t.Errorf("%s: error %v with reason %q, want %q", step.what, err, ReasonOf(err), step.reason)
		}
	}
}

func TestCertificatesWantATransportThatTakesThem(t *testing.T) {
	_, ca := certificate(t)
	source := &OCI{Store: newStore(t), Registries: Registries{
		Transport: roundTripper{}, Policy: func(string) HostPolicy { return HostPolicy{CA: ca} },
	}}
	_, err := source.Layer(t.Context(), referenceTo("example.com", "hello"))
	if ReasonOf(err) != ReasonRegistryUnreachable || !strings.Contains(err.Error(), "transport of another kind") {
		t.Errorf("error %v", err)
	}
}

type roundTripper struct{ http.RoundTripper }

func TestPlainHTTPByPolicy(t *testing.T) {
	on := newShelf()
	on.manifest(t, on.layer(archive(t, entry{name: "a"})))
	source, host, _ := serve(t, on)
	source.PlainHTTP = nil
	source.Policy = func(asked string) HostPolicy { return HostPolicy{PlainHTTP: asked == host} }
	if _, err := fetchImage(t, source, host); err != nil {
		t.Error(err)
	}
}

func TestEndpoints(t *testing.T) {
	for name, test := range map[string]struct {
		policies map[string]HostPolicy
		want     []Endpoint
	}{
		"no policy": {nil, []Endpoint{{"h.io", "a/b", false, false}}},
		"mirrors come first and keep their order": {
			map[string]HostPolicy{"h.io": {Mirrors: []string{"two:5000", "One.example.com/proxy/h.io"}}, "two:5000": {PlainHTTP: true}},
			[]Endpoint{{"two:5000", "a/b", true, true}, {"one.example.com", "proxy/h.io/a/b", false, true}, {"h.io", "a/b", false, false}},
		},
		"mirrors of mirrors are not asked": {
			map[string]HostPolicy{"h.io": {Mirrors: []string{"one"}}, "one": {Mirrors: []string{"two"}}},
			[]Endpoint{{"one", "a/b", false, true}, {"h.io", "a/b", false, false}},
		},
		"plain http is the host's own": {
			map[string]HostPolicy{"h.io": {PlainHTTP: true, Mirrors: []string{"one"}}},
			[]Endpoint{{"one", "a/b", false, true}, {"h.io", "a/b", true, false}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Registries{Policy: func(host string) HostPolicy { return test.policies[host] }}.Endpoints("h.io", "a/b")
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
				t.Errorf("error %v, endpoints (-want +got):\n%s", err, diff)
			}
		})
	}
	anyHost := Registries{PlainHTTP: func(string) bool { return true }, Policy: func(string) HostPolicy { return HostPolicy{Mirrors: []string{"one"}} }}
	if got, _ := anyHost.Endpoints("h.io", "a"); got[0].PlainHTTP || !got[1].PlainHTTP {
		t.Errorf("what a caller says about a host is taken for its mirrors: %v", got)
	}
}

func TestHostPolicyValidate(t *testing.T) {
	_, ca := certificate(t)
	for name, test := range map[string]struct {
		policy HostPolicy
		want   string
	}{
		"nothing":                        {HostPolicy{}, ""},
		"everything":                     {HostPolicy{true, ca, []string{"a:1/b", "[::1]:5000", "c.io"}}, ""},
		"a CA that is none":              {HostPolicy{CA: []byte("x")}, "no PEM certificate"},
		"a mirror with a scheme":         {HostPolicy{Mirrors: []string{"https://a"}}, "without a scheme"},
		"a mirror with a login":          {HostPolicy{Mirrors: []string{"me:x@a"}}, "is no port"},
		"a mirror that is nothing":       {HostPolicy{Mirrors: []string{""}}, "is no host name"},
		"a mirror with a path that ends": {HostPolicy{Mirrors: []string{"a/b/"}}, "no registry can have its path"},
		"a mirror with a path that goes": {HostPolicy{Mirrors: []string{"a/../b"}}, "no registry can have its path"},
	} {
		t.Run(name, func(t *testing.T) {
			err := test.policy.Validate()
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q in it", err, test.want)
			}
			if test.policy.Mirrors == nil || err == nil {
				return
			}
			source := &OCI{Store: newStore(t), Registries: Registries{Policy: func(string) HostPolicy { return test.policy }}}
			if _, err := source.Layer(t.Context(), referenceTo("example.com", "x")); ReasonOf(err) != ReasonRegistryUnreachable {
				t.Errorf("as a policy: %v", err)
			}
		})
	}
}

// mirrored returns an OCI whose registry has mirrors, and the number of requests that each of them got.
func mirrored(t *testing.T, origin http.Handler, mirrors ...http.Handler) (*OCI, string, []*counting) {
	t.Helper()
	source, host, first := serve(t, origin)
	counters, hosts := []*counting{first}, []string{}
	for _, mirror := range mirrors {
		_, at, counter := serve(t, mirror)
		counters, hosts = append(counters, counter), append(hosts, at)
	}
	source.Policy = func(asked string) HostPolicy {
		if asked == host {
			return HostPolicy{Mirrors: hosts}
		}
		return HostPolicy{PlainHTTP: true}
	}
	return source, host, counters
}

func TestMirrorsAreAskedFirst(t *testing.T) {
	on, other, empty := newShelf(), newShelf(), newShelf()
	right := on.manifest(t, on.layer(archive(t, entry{name: "a", data: "right"})))
	wrong := other.manifest(t, other.layer(archive(t, entry{name: "a", data: "wrong"})))
	lying := newShelf()
	lying.tags["v1"], lying.manifests[right.Digest.String()] = right.Digest.String(), other.manifests[wrong.Digest.String()]
	hanging := http.HandlerFunc(hang)
	for name, test := range map[string]struct {
		origin  http.Handler
		mirrors []http.Handler
		want    []int64 // requests: of the origin, of the mirrors
	}{
		"a mirror that has it all":         {status(500), []http.Handler{on}, []int64{0, 3}},
		"the second mirror":                {status(500), []http.Handler{empty, on}, []int64{0, 3, 3}},
		"the registry when no mirror has":  {on, []http.Handler{empty, empty}, []int64{3, 3, 3}},
		"a mirror with other bytes":        {on, []http.Handler{lying}, []int64{2, 3}},
		"a mirror that refuses us":         {on, []http.Handler{status(403)}, []int64{3, 3}},
		"a mirror that is down rests then": {on, []http.Handler{status(503)}, []int64{3, 1}},
		"a mirror that hangs rests then":   {on, []http.Handler{hanging}, []int64{3, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			source, host, counters := mirrored(t, test.origin, test.mirrors...)
			if name == "a mirror that hangs rests then" {
				source.Timeout = 2 * time.Second
			}
			got, err := fetchImage(t, source, host)
			if diff := cmp.Diff(tree("a", "right"), got); diff != "" || err != nil {
				t.Errorf("error %v, tree (-want +got):\n%s", err, diff)
			}
			for i, want := range test.want {
				if got := counters[i].requests.Load(); got != want {
					t.Errorf("server %d got %d requests, want %d", i, got, want)
				}
			}
		})
	}
}

func TestRegistriesHosts_WhenAllMirrorsFailTheRegistryCounts(t *testing.T) {
	source, host, _ := mirrored(t, newShelf(), status(500), status(401))
	_, err := fetchImage(t, source, host)
	if ReasonOf(err) != ReasonContentNotFound || strings.Count(err.Error(), "mirror ") != 2 || !strings.Contains(err.Error(), "500") {
		t.Errorf("error %v with reason %q", err, ReasonOf(err))
	}
}

func TestMirrorsAreAskedForTags(t *testing.T) {
	source, host, counters := mirrored(t, status(500), tagPages())
	got, err := source.tags(t.Context(), host, testImage)
	if diff := cmp.Diff([]string{"1.0.0"}, got); diff != "" || err != nil || counters[0].requests.Load() != 0 {
		t.Errorf("error %v, tags (-want +got):\n%s", err, diff)
	}
}

// Trouble with this machine's disk is not the mirror's fault, and asking the next would not help.
func TestMirrorsAreNotBlamedForTheDisk(t *testing.T) {
	on := newShelf()
	layer := on.layer("hello")
	source, host, counters := mirrored(t, on, on)
	write(t, source.Store.Dir, "a file where the folder should be")
	ref := Reference{Registry: host, Repository: testImage, Digest: layer.Digest.String()}
	if _, err := source.Layer(t.Context(), ref); ReasonOf(err) != ReasonInternal || counters[0].requests.Load() > 0 {
		t.Errorf("error %v", err)
	}
}

func TestMirrorsGetTheirOwnCredentialsOnly(t *testing.T) {
	on := newShelf()
	on.manifest(t, on.layer(archive(t, entry{name: "a"})))
	passwords := map[string]string{}
	guarded := func(name string, next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			user, password, ok := r.BasicAuth()
			if ok && (user != name || password != passwords[name]) {
				t.Errorf("%s was sent the login of %s", name, user)
			}
			if !ok {
				w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
				w.WriteHeader(http.StatusUnauthorized)
				_, _ = io.WriteString(w, "{}")
				return
			}
			next.ServeHTTP(w, r)
		})
	}
	source, host, _ := mirrored(t, guarded("origin", on), guarded("mirror", newShelf()), guarded("stranger", on))
	passwords["origin"], passwords["mirror"] = "o-secret", "m-secret"
	mirrors := source.Policy(host).Mirrors
	source.Credentials = func(_ context.Context, asked string) (auth.Credential, error) {
		switch asked {
		case host:
			return auth.Credential{Username: "origin", Password: "o-secret"}, nil
		case mirrors[0]:
			return auth.Credential{Username: "mirror", Password: "m-secret"}, nil
		default: // the third has none
			return auth.EmptyCredential, nil
		}
	}
	if _, err := fetchImage(t, source, host); err != nil {
		t.Error(err)
	}
}
