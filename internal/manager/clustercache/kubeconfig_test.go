package clustercache

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/kubeconfig"
)

// goodKubeconfig is valid; every bad one below differs from it in one point.
const goodKubeconfig = `apiVersion: v1
kind: Config
current-context: x
contexts: [{name: x, context: {cluster: c, user: u}}]
clusters:
- name: c
  cluster:
    server: https://runtime.example:6443/prefix
    certificate-authority-data: CERT
    tls-server-name: runtime
users:
- name: u
  user:
    token: s3cret-t0ken
`

// pair returns a certificate and its key, as base64 of PEM.
func pair(t testing.TB) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	encode := func(kind string, data []byte) string {
		return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}))
	}
	return encode("CERTIFICATE", der), encode("PRIVATE KEY", raw)
}

func TestParseKubeconfig_RefusesUnsafeContent(t *testing.T) {
	cert, key := pair(t)
	otherCert, _ := pair(t)
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("secret of this machine"), 0o600); err != nil {
		t.Fatal(err)
	}
	good := strings.ReplaceAll(goodKubeconfig, "CERT", cert)
	swap := func(old, replacement string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("the good kubeconfig has no %q", old)
		}
		return strings.Replace(good, old, replacement, 1)
	}
	user := func(fields string) string { return swap("    token: s3cret-t0ken\n", "    "+fields+"\n") }
	clusterToo := func(fields string) string {
		return swap("    tls-server-name: runtime\n", "    tls-server-name: runtime\n    "+fields+"\n")
	}
	const invalid, refused = v1beta2.ReasonKubeconfigInvalid, v1beta2.ReasonKubeconfigRefused

	cases := []struct{ name, data, reason string }{
		{"an inline token is accepted", good, ""},
		{"an inline client certificate is accepted", user("{client-certificate-data: " + cert + ", client-key-data: " + key + "}"), ""},
		{"a client certificate beside a token is accepted", user("{token: t, client-certificate-data: " + cert + ", client-key-data: " + key + "}"), ""},
		{"user name and password are accepted", user("{username: me, password: geheim}"), ""},
		{"no certificate authority means those of the system", swap("    certificate-authority-data: "+cert+"\n", ""), ""},
		{"an explicit switch turns the check of the server off", swap("certificate-authority-data: "+cert, "insecure-skip-tls-verify: true"), ""},
		{"unknown fields are ignored", clusterToo("something-new: true"), ""},

		{"nothing at all", "", invalid},
		{"white space", " \n\t", invalid},
		{"no YAML", "{[", invalid},
		{"a list", "[]", invalid},
		{"a text", "hello", invalid},
		{"binary", "\x00\x01\xff", invalid},
		{"another kind", "apiVersion: v1\nkind: Secret\n", invalid},
		{"another version", swap("apiVersion: v1", "apiVersion: v2"), invalid},
		{"too large", good + "#" + strings.Repeat("x", kubeconfig.MaxSize), invalid},
		{"several MiB", strings.Repeat("a: b\n", 1<<20), invalid},
		{"a YAML bomb", bomb(), invalid},
		{"a token that is an object", swap("token: s3cret-t0ken", "token: {a: b}"), invalid},
		{"no current context", swap("current-context: x", ""), invalid},
		{"a current context that does not exist", swap("current-context: x", "current-context: y"), invalid},
		{"a cluster that does not exist", swap("cluster: c,", "cluster: d,"), invalid},
		{"a user that does not exist", swap("user: u}", "user: v}"), invalid},
		{"no server", swap("    server: https://runtime.example:6443/prefix\n", ""), invalid},
		{"a server that is no URL", swap("https://runtime.example:6443/prefix", "'https://%zz'"), invalid},
		{"a server without a host", swap("https://runtime.example:6443/prefix", "https://:443"), invalid},
		{"no credentials", user("{}"), invalid},
		{"a certificate without its key", user("client-certificate-data: " + cert), invalid},
		{"a key without its certificate", user("client-key-data: " + key), invalid},
		{"a certificate and the key of another", user("{client-certificate-data: " + otherCert + ", client-key-data: " + key + "}"), invalid},
		{"a certificate that is none", user("{client-certificate-data: aGVsbG8=, client-key-data: aGVsbG8=}"), invalid},
		{"a certificate that is no base64", user("{client-certificate-data: '***', client-key-data: '***'}"), invalid},
		{"an authority that is no certificate", swap(cert, "aGVsbG8="), invalid},
		{"an authority although nothing is checked", clusterToo("insecure-skip-tls-verify: true"), invalid},
		{"a token with a line break", swap("s3cret-t0ken", `"a\r\nX-Evil: 1"`), invalid},
		{"a token and a password", user("{token: t, username: me, password: geheim}"), invalid},

		{"a program", user("{exec: {apiVersion: client.authentication.k8s.io/v1, command: touch, args: [" + file + "], interactiveMode: Never}}"), refused},
		{"a program beside a token", user("{token: t, exec: {apiVersion: client.authentication.k8s.io/v1, command: id}}"), refused},
		{"an auth-provider", user("{auth-provider: {name: gcp}}"), refused},
		{"a token from a file", user("{tokenFile: " + file + "}"), refused},
		{"a token from a file beside a token", user("{token: t, tokenFile: " + file + "}"), refused},
		{"a client certificate from a file", user("{client-certificate: " + file + ", client-key-data: " + key + "}"), refused},
		{"a client key from a file", user("{client-certificate-data: " + cert + ", client-key: " + file + "}"), refused},
		{"an authority from a file", clusterToo("certificate-authority: " + file), refused},
		{"a proxy", clusterToo("proxy-url: http://evil.example"), refused},
		{"a proxy that is no URL", clusterToo("proxy-url: '%zz'"), refused},
		{"another user's name", user("{token: t, as: admin}"), refused},
		{"another user's UID", user("{token: t, as-uid: '1'}"), refused},
		{"another user's groups", user("{token: t, as-groups: ['system:masters']}"), refused},
		{"another user's extra fields", user("{token: t, as-user-extra: {a: [b]}}"), refused},
		{"a program of a user that is not selected", swap("users:\n", "users:\n- name: other\n  user: {exec: {apiVersion: v1, command: id}}\n"), refused},
		{"a file of a cluster that is not selected", swap("clusters:\n", "clusters:\n- name: other\n  cluster: {certificate-authority: /etc/passwd}\n"), refused},
		{"a server without TLS", swap("https://", "http://"), refused},
		{"a server on a socket", swap("https://runtime.example:6443/prefix", "unix://run/docker.sock"), refused},
		{"a server with a password", swap("https://", "https://me:geheim@"), refused},
		{"a server with a query", swap("/prefix", "/prefix?a=b"), refused},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			cfg, p := parseKubeconfig([]byte(c.data))
			switch {
			case c.reason == "" && p != nil:
				t.Fatalf("refused: %v", p)
			case c.reason == "" && cfg == nil:
				t.Fatal("no configuration")
			case c.reason != "" && p == nil:
				t.Fatal("accepted")
			case c.reason != "" && p.Reason != c.reason:
				t.Fatalf("reason %s, want %s: %s", p.Reason, c.reason, p.Message)
			}
			if p == nil {
				return
			}
			for _, secret := range []string{"s3cret", "geheim", key, "secret of this machine"} {
				if strings.Contains(p.Error(), secret) {
					t.Errorf("the message repeats a secret: %s", p)
				}
			}
			if len(p.Message) > 300 {
				t.Errorf("the message has %d bytes", len(p.Message))
			}
		})
	}
}

// bomb is small and expands to a huge document: every level repeats the one before nine times.
func bomb() string {
	var b strings.Builder
	b.WriteString("apiVersion: v1\nkind: Config\nextensions:\n- &a0 {name: x, extension: {a: lol}}\n")
	for _, level := range []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"} {
		previous := string(level[0] - 1)
		b.WriteString("- &a" + level + " {name: x, extension: {a: [" + strings.TrimSuffix(strings.Repeat("*a"+previous+",", 9), ",") + "]}}\n")
	}
	return b.String()
}

func TestParseKubeconfig_KeepsSettings(t *testing.T) {
	cert, key := pair(t)
	decode := func(s string) []byte {
		data, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	data := strings.NewReplacer(
		"CERT", cert, "token: s3cret-t0ken", "{token: t, client-certificate-data: "+cert+", client-key-data: "+key+"}",
	).Replace(goodKubeconfig)
	got, p := parseKubeconfig([]byte(data))
	if p != nil {
		t.Fatal(p)
	}
	want := &rest.Config{
		Host: "https://runtime.example:6443/prefix", BearerToken: "t",
		TLSClientConfig: rest.TLSClientConfig{ServerName: "runtime", CAData: decode(cert), CertData: decode(cert), KeyData: decode(key)},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(rest.Config{})); diff != "" {
		t.Fatal(diff)
	}
}

func FuzzKubeconfig(f *testing.F) {
	cert, _ := pair(f)
	f.Add([]byte(strings.ReplaceAll(goodKubeconfig, "CERT", cert)))
	f.Add([]byte(goodKubeconfig))
	f.Add([]byte(bomb()))
	f.Add([]byte("users: [{name: u, user: {exec: {command: id}}}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		cfg, p := parseKubeconfig(data)
		if (cfg == nil) == (p == nil) {
			t.Fatal("neither a configuration nor a problem, or both")
		}
		if !bytes.Equal(before, data) {
			t.Fatal("the Secret's bytes were changed")
		}
		if cfg == nil {
			return
		}
		if cfg.ExecProvider != nil || cfg.AuthProvider != nil || cfg.BearerTokenFile != "" || cfg.CAFile != "" || cfg.CertFile != "" ||
			cfg.KeyFile != "" || cfg.Proxy != nil || cfg.Impersonate.UserName != "" || !strings.HasPrefix(strings.ToLower(cfg.Host), "https://") {
			t.Fatalf("accepted what is to be refused: %s", cfg)
		}
	})
}
