package content

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"oras.land/oras-go/v2/registry"
)

const zeros = "sha256:0000000000000000000000000000000000000000000000000000000000000000"

func TestParseReference(t *testing.T) {
	for name, test := range map[string]struct {
		repo, name string
		want       Reference
		plainHTTP  bool
	}{
		"a component repository": {
			"registry.example.com/component-descriptors", "kyma-project.io/module/sample",
			Reference{"registry.example.com", "component-descriptors/kyma-project.io/module/sample", zeros}, false,
		},
		"a port":                      {"localhost:5000/a", "b", Reference{"localhost:5000", "a/b", zeros}, false},
		"no name":                     {"example.com/a/b", "", Reference{"example.com", "a/b", zeros}, false},
		"a repo that is only a host":  {"example.com", "a", Reference{"example.com", "a", zeros}, false},
		"a trailing slash":            {"example.com/a/", "b", Reference{"example.com", "a/b", zeros}, false},
		"http is kept out and told":   {"http://example.com:80/a", "b", Reference{"example.com:80", "a/b", zeros}, true},
		"https is kept out":           {"https://example.com/a", "b", Reference{"example.com", "a/b", zeros}, false},
		"a host in capitals":          {"Example.COM/a", "b", Reference{"example.com", "a/b", zeros}, false},
		"an IPv4 address":             {"127.0.0.1:5000/a", "b", Reference{"127.0.0.1:5000", "a/b", zeros}, false},
		"an IPv6 address":             {"[::1]:5000/a", "b", Reference{"[::1]:5000", "a/b", zeros}, false},
		"an IPv6 address alone":       {"[::1]/a", "b", Reference{"[::1]", "a/b", zeros}, false},
		"all separators of a path":    {"example.com/a.b_c__d-e---f", "1", Reference{"example.com", "a.b_c__d-e---f/1", zeros}, false},
		"a host without dots or port": {"registry/a", "b", Reference{"registry", "a/b", zeros}, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, plainHTTP, err := ParseReference(test.repo, test.name, zeros)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" || plainHTTP != test.plainHTTP {
				t.Errorf("plain %t, reference (-want +got):\n%s", plainHTTP, diff)
			}
			if err := got.validate(); err != nil {
				t.Errorf("what was parsed is not valid: %v", err)
			}
		})
	}
}

func TestParseReferenceRefuses(t *testing.T) {
	long := strings.Repeat("a", 250)
	for name, test := range map[string]struct {
		repo, name, ref string
		want            string
	}{
		"no repo":                       {"", "a", zeros, "is no host name"},
		"no repository":                 {"example.com", "", zeros, `the repository ""`},
		"no ref":                        {"example.com/a", "b", "", "by digest only, never by tag"},
		"a tag":                         {"example.com/a", "b", "1.0.0", "by digest only, never by tag"},
		"another algorithm":             {"example.com/a", "b", "sha512:" + long, "no sha256 digest"},
		"a digest that is too short":    {"example.com/a", "b", "sha256:00", "is no digest"},
		"a digest that is too long":     {"example.com/a", "b", zeros + "00", "is no digest"},
		"a digest in capitals":          {"example.com/a", "b", "sha256:" + strings.Repeat("A", 64), "is no digest"},
		"a digest that is a path":       {"example.com/a", "b", "sha256:../" + strings.Repeat("0", 61), "is no digest"},
		"another scheme":                {"ftp://example.com/a", "b", zeros, `scheme "ftp" is not accepted`},
		"credentials in the host":       {"me:secret@example.com/a", "b", zeros, "is no port"},
		"a user in the host":            {"me@example.com/a", "b", zeros, "is no host name"},
		"a host with a space":           {"exa mple.com/a", "b", zeros, "is no host name"},
		"a host that begins with a dot": {".example.com/a", "b", zeros, "is no host name"},
		"a host with a long label":      {strings.Repeat("a", 64) + ".com/a", "b", zeros, "is no host name"},
		"a port of zero":                {"example.com:0/a", "b", zeros, `"0" is no port`},
		"a port with a leading zero":    {"example.com:080/a", "b", zeros, `"080" is no port`},
		"a port that is too large":      {"example.com:65536/a", "b", zeros, `"65536" is no port`},
		"a colon without port":          {"example.com:/a", "b", zeros, "has a colon and no port"},
		"an open bracket":               {"[::1/a", "b", zeros, "has no closing bracket"},
		"text behind a bracket":         {"[::1]x:1/a", "b", zeros, "is no host"},
		"an IPv4 address in brackets":   {"[127.0.0.1]/a", "b", zeros, "is no IPv6 address"},
		"an IPv6 address with a zone":   {"[fe80::1%25eth0]/a", "b", zeros, "is no IPv6 address"},
		"a path in capitals":            {"example.com/A", "b", zeros, "use lower-case path components"},
		"a path that climbs":            {"example.com/a/..", "b", zeros, "which no registry can have"},
		"a name that climbs":            {"example.com/a", "../b", zeros, "which no registry can have"},
		"a name with a query":           {"example.com/a", "b?c=d", zeros, "which no registry can have"},
		"a name with a tag":             {"example.com/a", "b:1", zeros, "which no registry can have"},
		"an empty path component":       {"example.com//a", "b", zeros, "which no registry can have"},
		"a name that is absolute":       {"example.com/a", "/b", zeros, "which no registry can have"},
		"host and path that are longer": {"example.com/" + long, "b", zeros, "longer than 255"},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, err := ParseReference(test.repo, test.name, test.ref)
			if ReasonOf(err) != ReasonSourceInvalid || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v with reason %q, want %q in it", err, ReasonOf(err), test.want)
			}
			if got != (Reference{}) {
				t.Errorf("returned %s beside the error", got)
			}
		})
	}
}

func TestReferenceIsWhereTheBlobIs(t *testing.T) {
	for name, test := range map[string]struct {
		reference Reference
		plainHTTP bool
		want      string
	}{
		"https is the rule":          {Reference{"example.com", "a/b", zeros}, false, "https://example.com/v2/a/b/blobs/" + zeros},
		"plain http where told":      {Reference{"localhost:5000", "a", zeros}, true, "http://localhost:5000/v2/a/blobs/" + zeros},
		"Docker Hub lives elsewhere": {Reference{"docker.io", "a", zeros}, false, "https://registry-1.docker.io/v2/a/blobs/" + zeros},
	} {
		t.Run(name, func(t *testing.T) {
			if got := blobURL(test.reference, test.plainHTTP); got != test.want {
				t.Errorf("address %s, want %s", got, test.want)
			}
		})
	}
}

// blobURL returns where the blob of a reference is fetched.
func blobURL(ref Reference, plainHTTP bool) string {
	at := Endpoint{Host: ref.Registry, Repository: ref.Repository, PlainHTTP: plainHTTP}
	return at.url("blobs/" + ref.Digest)
}

func hostOf(ref Reference) string { return registry.Reference{Registry: ref.Registry}.Host() }
