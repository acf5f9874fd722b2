package kubeconfig

import (
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
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
		"a program is not run":               {"token: s3cret", "exec: {command: sh}", v1beta2.ReasonKubeconfigRefused, "exec"},
		"a file is not read":                 {"token: s3cret", "tokenFile: /etc/passwd", v1beta2.ReasonKubeconfigRefused, "tokenFile"},
		"nor one with a certificate":         {"server:", "certificate-authority: /etc/passwd, server:", v1beta2.ReasonKubeconfigRefused, "certificate-authority"},
		"nobody acts as somebody else":       {"token: s3cret", "token: s3cret, as: admin", v1beta2.ReasonKubeconfigRefused, "acts as"},
		"no proxy is asked":                  {"server:", "proxy-url: https://proxy, server:", v1beta2.ReasonKubeconfigRefused, "proxy"},
		"nothing is said without encryption": {"https://", "http://", v1beta2.ReasonKubeconfigRefused, "https"},
		"a login in the address":             {"https://", "https://s3cret@", v1beta2.ReasonKubeconfigRefused, "carries a user"},
		"no credentials":                     {"token: s3cret", "", v1beta2.ReasonKubeconfigInvalid, "no credentials"},
		"a token that no header carries":     {"token: s3cret", `token: "s3cret\n"`, v1beta2.ReasonKubeconfigInvalid, "characters"},
		"a context that there is not":        {"current-context: x", "current-context: other", v1beta2.ReasonKubeconfigInvalid, "current-context"},
		"no YAML":                            {"apiVersion", "\x00s3cret", v1beta2.ReasonKubeconfigInvalid, "no valid kubeconfig"},
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

func TestRefuseLinkLocal(t *testing.T) {
	for address, ok := range map[string]bool{
		"10.0.0.1:6443": true, "127.0.0.1:6443": true, "169.254.169.254:80": false, "[fe80::1]:443": false, "[::ffff:169.254.169.254]:80": false,
		"0.0.0.0:1": false, "nonsense": false,
	} {
		if err := RefuseLinkLocal("tcp", address, nil); (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
	}
}
