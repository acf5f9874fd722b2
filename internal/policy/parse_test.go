package policy

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	certutil "k8s.io/client-go/util/cert"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// newCertificate returns a certificate and its key in PEM.
func newCertificate(tb testing.TB) (cert, key string) {
	tb.Helper()
	c, k, err := certutil.GenerateSelfSignedCertKey("registry.example.com", nil, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return string(c), string(k)
}

func indent(text string) string {
	return "      " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n      ") + "\n"
}

// policyFiles are the files beside a policy file.
type policyFiles map[string]string

func (s policyFiles) open(name string) ([]byte, error) {
	if data, ok := s[name]; ok {
		return []byte(data), nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: os.ErrNotExist}
}

func TestParse(t *testing.T) {
	cert, _ := newCertificate(t)
	for name, test := range map[string]struct {
		text string
		want policies
	}{
		"nothing special": {"registries: []", policies{}},
		"JSON":            {`{"registries":[{"host":"a.example.com","plainHTTP":true}]}`, policies{"a.example.com": {PlainHTTP: true}}},
		"every setting": {
			"registries:\n- host: a.example.com:5000\n  mirrors: [m.example.com, 'm.example.com:443/cache']\n  ca: |\n" + indent(cert) +
				"- host: localhost:5000\n  plainHTTP: true\n- host: b.example.com\n  caFile: corp.pem\n- host: '*'\n  mirrors: [all.example.com/every]\n",
			policies{
				"a.example.com:5000": {CA: []byte(cert), Mirrors: []string{"m.example.com", "m.example.com:443/cache"}},
				"localhost:5000":     {PlainHTTP: true},
				"b.example.com":      {CA: []byte(cert + cert)},
				"*":                  {Mirrors: []string{"all.example.com/every"}},
			},
		},
		"a host is looked up in lower case":  {"registries: [{host: Registry.Example.COM}]", policies{"registry.example.com": {}}},
		"addresses":                          {"registries: [{host: '10.0.0.1:5000'}, {host: '[2001:db8::1]:5000'}]", policies{"10.0.0.1:5000": {}, "[2001:db8::1]:5000": {}}},
		"a document that begins with ---":    {"# registries\n---\nregistries: []\n", policies{}},
		"an entry that says nothing special": {"registries: [{host: a.example.com}]", policies{"a.example.com": {}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parse([]byte(test.text), policyFiles{"corp.pem": cert + cert}.open)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("what it says (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	cert, key := newCertificate(t)
	beside := policyFiles{"key.pem": key, "text.pem": "hello", "broken.pem": "-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n", "tail.pem": cert + "tail"}
	hosts := func(n int) string { return "registries: [" + strings.Repeat("{host: a},", n) + "]" }
	for name, test := range map[string]struct{ text, says string }{
		"an empty file":                       {"", "registries: []"},
		"blanks and comments":                 {"# nothing yet\n\n", "registries: []"},
		"a list without a value":              {"registries:\n", "registries: []"},
		"no YAML":                             {"registries: [", "no YAML"},
		"a list":                              {"- host: a.example.com", "registries: [{"},
		"two documents":                       {"registries: []\n---\nregistries: []\n", "several YAML documents"},
		"a field that is not known":           {"registries: [{host: a.example.com, insecure: true}]", "insecure"},
		"a field in other letter case":        {"registries: [{host: a.example.com, plainhttp: true}]", "plainhttp"},
		"a duplicate field":                   {"registries: [{host: a.example.com, host: b.example.com}]", "host"},
		"a string for a boolean":              {"registries: [{host: a.example.com, plainHTTP: sometimes}]", "plainHTTP"},
		"no host":                             {"registries: [{plainHTTP: true}]", "registries[0]"},
		"a duplicate host":                    {"registries: [{host: a.example.com}, {host: A.example.com}]", "already"},
		"a scheme":                            {"registries: [{host: 'https://a.example.com'}]", "without scheme"},
		"a path":                              {"registries: [{host: a.example.com/modules}]", "without scheme and path"},
		"a pattern":                           {"registries: [{host: '*.example.com'}]", "for all that have no entry"},
		"a user at a host":                    {"registries: [{host: 'me:secret@a.example.com'}]", "no host"},
		"a port that is none":                 {"registries: [{host: 'a.example.com:99999'}]", "no host"},
		"a mirror with a scheme":              {"registries: [{host: a.example.com, mirrors: ['http://m.example.com']}]", "without scheme"},
		"a mirror with a user at it":          {"registries: [{host: a.example.com, mirrors: ['me:secret@m.example.com']}]", "mirror"},
		"a mirror with a path that leads out": {"registries: [{host: a.example.com, mirrors: ['m.example.com/../x']}]", "mirror"},
		"an empty mirror":                     {"registries: [{host: a.example.com, mirrors: ['']}]", "mirror"},
		"a mirror of itself":                  {"registries: [{host: a.example.com, mirrors: [a.example.com]}]", "the host itself"},
		"a mirror twice":                      {"registries: [{host: a.example.com, mirrors: [m.example.com, M.example.com]}]", "twice"},
		"too many mirrors":                    {"registries: [{host: a.example.com, mirrors: [" + strings.Repeat("m,", maxMirrors+1) + "]}]", "mirrors"},
		"too many registries":                 {hosts(maxRegistries + 1), "1001 registries"},
		"plain HTTP with a certificate":       {"registries:\n- host: a.example.com\n  plainHTTP: true\n  ca: |\n" + indent(cert), "exclude"},
		"certificates in two places":          {"registries: [{host: a.example.com, ca: x, caFile: key.pem}]", "write one"},
		"a certificate that is none":          {"registries: [{host: a.example.com, ca: hello}]", "PEM"},
		"a missing file of certificates":      {"registries: [{host: a.example.com, caFile: missing.pem}]", "missing.pem"},
		"a file of certificates elsewhere":    {"registries: [{host: a.example.com, caFile: ../corp.pem}]", "in the folder"},
		"a file with its whole path":          {"registries: [{host: a.example.com, caFile: /etc/passwd}]", "in the folder"},
		"a folder as a file":                  {"registries: [{host: a.example.com, caFile: ..}]", "in the folder"},
		"text as certificates":                {"registries: [{host: a.example.com, caFile: text.pem}]", "PEM"},
		"a private key":                       {"registries: [{host: a.example.com, caFile: key.pem}]", "only certificates"},
		"a certificate that cannot be parsed": {"registries: [{host: a.example.com, caFile: broken.pem}]", "cannot be read"},
		"a certificate with trailing text":    {"registries: [{host: a.example.com, caFile: tail.pem}]", "PEM"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parse([]byte(test.text), beside.open)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Fatalf("got %v and error %v, want one that says %q", got, err, test.says)
			}
			if strings.Contains(err.Error(), strings.Split(key, "\n")[1]) || strings.Contains(err.Error(), "secret@") && !strings.Contains(test.text, "secret@") {
				t.Errorf("the error repeats the key: %v", err)
			}
		})
	}
}

func TestParseTellsEverythingThatIsWrong(t *testing.T) {
	_, err := parse([]byte("registries: [{host: a/b}, {host: fine.example.com}, {host: c.example.com, ca: x}]"), policyFiles{}.open)
	if err == nil || !strings.Contains(err.Error(), "registries[0]") || !strings.Contains(err.Error(), "registries[2]") || strings.Contains(err.Error(), "fine") {
		t.Errorf("the error is %v", err)
	}
}

func FuzzParse(f *testing.F) {
	cert, _ := newCertificate(f)
	for _, seed := range []string{
		"registries: []", "", "registries: [{host: a.example.com, plainHTTP: true, mirrors: [b/c]}]", "registries:\n- host: '*'\n  caFile: corp.pem\n",
		"registries:\n- host: a\n  ca: |\n" + indent(cert), "---\n---\n", "registries: &a [*a]", `{"registries":null}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := parse(data, func(string) ([]byte, error) { return nil, errors.New("not there") })
		if err != nil {
			return
		}
		for host, policy := range got {
			if normal, err := checkHost(host); err != nil || normal != host {
				t.Errorf("host %q was accepted and is not (%v)", host, err)
			}
			if policy.PlainHTTP && len(policy.CA) > 0 {
				t.Errorf("host %q has certificates without TLS", host)
			}
			checkAgain(t, host, policy)
		}
	})
}

func checkAgain(t *testing.T, host string, policy content.HostPolicy) {
	t.Helper()
	again, err := checkMirrors(host, policy.Mirrors)
	if diff := cmp.Diff(policy.Mirrors, again); err != nil || diff != "" {
		t.Errorf("mirrors %q of %q are not in their normal form (%v)", policy.Mirrors, host, err)
	}
}
