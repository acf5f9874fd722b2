package kubeconfig

import (
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/egress"
)

const good = `apiVersion: v1
kind: Config
current-context: x
contexts: [{name: x, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://runtime.example:6443"}}]
users: [{name: u, user: {token: s3cret}}]
`

func TestParse(t *testing.T) {
	config, refused := Parse([]byte(good))
	if refused != nil || config.Host != "https://runtime.example:6443" || config.BearerToken != "s3cret" {
		t.Fatalf("%+v %+v", config, refused)
	}
	for name, c := range map[string]struct{ from, to, reason, word string }{
		"a program is not run":                  {"token: s3cret", "exec: {command: sh}", v1beta2.ReasonKubeconfigRefused, "exec"},
		"a file is not read":                    {"token: s3cret", "tokenFile: /etc/passwd", v1beta2.ReasonKubeconfigRefused, "tokenFile"},
		"a file with a certificate is not read": {"server:", "certificate-authority: /etc/passwd, server:", v1beta2.ReasonKubeconfigRefused, "certificate-authority"},
		"no user is impersonated":               {"token: s3cret", "token: s3cret, as: admin", v1beta2.ReasonKubeconfigRefused, "impersonates"},
		"no proxy is asked":                     {"server:", "proxy-url: https://proxy, server:", v1beta2.ReasonKubeconfigRefused, "proxy"},
		"no connection is unencrypted":          {"https://", "http://", v1beta2.ReasonKubeconfigRefused, "https"},
		"a login in the address":                {"https://", "https://s3cret@", v1beta2.ReasonKubeconfigRefused, "carries a user"},
		"no credentials":                        {"token: s3cret", "", v1beta2.ReasonKubeconfigInvalid, "no credentials"},
		"a token that is invalid in a header":   {"token: s3cret", `token: "s3cret\n"`, v1beta2.ReasonKubeconfigInvalid, "characters"},
		"a context that there is not":           {"current-context: x", "current-context: other", v1beta2.ReasonKubeconfigInvalid, "current-context"},
		"no YAML":                               {"apiVersion", "\x00s3cret", v1beta2.ReasonKubeconfigInvalid, "no valid kubeconfig"},
	} {
		t.Run(name, func(t *testing.T) {
			_, refused := Parse([]byte(strings.Replace(good, c.from, c.to, 1)))
			if refused == nil || refused.Reason != c.reason || !strings.Contains(refused.Message, c.word) {
				t.Fatalf("got %+v, want %s", refused, c.reason)
			}
			if strings.Contains(refused.Message, "s3cret") {
				t.Errorf("the message repeats what is secret: %s", refused.Message)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		config, refused := Parse(data)
		if (config == nil) == (refused == nil) {
			t.Fatal("neither a connection nor a refusal")
		}
		if config != nil && (config.ExecProvider != nil || config.BearerTokenFile != "" || config.TLSClientConfig.CAFile != "" ||
			!strings.HasPrefix(config.Host, "https://")) {
			t.Errorf("%+v", config)
		}
	})
}

func TestRefuse(t *testing.T) {
	for address, c := range map[string]struct{ never, inside bool }{
		"10.0.0.1:6443": {}, "[64:ff9b::10.0.0.1]:443": {}, "240.0.0.1:443": {},
		"127.0.0.1:6443": {inside: true}, "[64:ff9b::127.0.0.1]:6443": {inside: true},
		"169.254.169.254:80": {true, true}, "[fe80::1%eth0]:443": {true, true}, "[::ffff:169.254.169.254]:80": {true, true},
		"0.0.0.0:1": {true, true}, "168.63.129.16:80": {true, true}, "nonsense": {true, true},
	} {
		for class, refused := range map[egress.Class]bool{egress.Never: c.never, egress.Loopback: c.inside} {
			if err := Refuse(class)("tcp", address, nil); (err != nil) != refused {
				t.Errorf("%s: %v, want refused: %t", address, err, refused)
			}
		}
	}
}
