package clustercache

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// corpus lists the files of testdata/kubeconfigs, each of which is good.yaml with one defect.
var corpus = []struct{ file, holds, reason, says string }{
	{"empty", "an empty file", v1beta2.ReasonKubeconfigInvalid, "is empty"},
	{"spaces", "nothing but white space", v1beta2.ReasonKubeconfigInvalid, "is empty"},
	{"json-cut", "JSON that ends early", v1beta2.ReasonKubeconfigInvalid, "no valid kubeconfig"},
	{"list", "a list", v1beta2.ReasonKubeconfigInvalid, "no valid kubeconfig"},
	{"text", "a sentence", v1beta2.ReasonKubeconfigInvalid, "no valid kubeconfig"},
	{"binary", "bytes that are no text", v1beta2.ReasonKubeconfigInvalid, "no valid kubeconfig"},
	{"secret", "a Secret that holds a kubeconfig", v1beta2.ReasonKubeconfigInvalid, ""},
	{"version", "a version that does not exist", v1beta2.ReasonKubeconfigInvalid, ""},
	{"bomb", "YAML that grows when it is spelled out", v1beta2.ReasonKubeconfigInvalid, ""},
	{"token-object", "a token that is an object", v1beta2.ReasonKubeconfigInvalid, ""},
	{"no-context", "no current context", v1beta2.ReasonKubeconfigInvalid, "current-context"},
	{"dangling-context", "a current context that is not there", v1beta2.ReasonKubeconfigInvalid, "names no context"},
	{"dangling-cluster", "a cluster that is not there", v1beta2.ReasonKubeconfigInvalid, "names no cluster"},
	{"dangling-user", "a user that is not there", v1beta2.ReasonKubeconfigInvalid, "names no user"},
	{"no-server", "a cluster without a server", v1beta2.ReasonKubeconfigInvalid, "no server"},
	{"server-no-url", "a server that is no URL", v1beta2.ReasonKubeconfigInvalid, "no URL"},
	{"server-no-host", "a server without a host", v1beta2.ReasonKubeconfigInvalid, "no URL"},
	{"no-credentials", "a user without credentials", v1beta2.ReasonKubeconfigInvalid, "no credentials"},
	{"certificate-alone", "a certificate without its key", v1beta2.ReasonKubeconfigInvalid, "needs both"},
	{"key-alone", "a key without its certificate", v1beta2.ReasonKubeconfigInvalid, "needs both"},
	{"strange-pair", "a certificate and the key of another", v1beta2.ReasonKubeconfigInvalid, "no PEM pair"},
	{"no-base64", "credentials that are no base64", v1beta2.ReasonKubeconfigInvalid, "no valid kubeconfig"},
	{"no-authority", "an authority that is no certificate", v1beta2.ReasonKubeconfigInvalid, "no PEM certificate"},
	{"insecure-and-authority", "an authority, and that no one is to look at it", v1beta2.ReasonKubeconfigInvalid, "both"},
	{"header-injection", "a token that would end a header", v1beta2.ReasonKubeconfigInvalid, "characters"},
	{"token-and-password", "two kinds of credentials", v1beta2.ReasonKubeconfigInvalid, "both a token"},
	{"exec", "a program to run", v1beta2.ReasonKubeconfigRefused, "runs a program"},
	{"exec-beside-token", "a program beside a token", v1beta2.ReasonKubeconfigRefused, "runs a program"},
	{"exec-unselected", "a program of a user whom no one selected", v1beta2.ReasonKubeconfigRefused, "runs a program"},
	{"auth-provider", "an auth-provider", v1beta2.ReasonKubeconfigRefused, "auth-provider"},
	{"token-file", "a token from a file of the manager", v1beta2.ReasonKubeconfigRefused, "reads a file"},
	{"token-file-beside-token", "a token from a file beside a token", v1beta2.ReasonKubeconfigRefused, "reads a file"},
	{"certificate-file", "a client certificate from a file", v1beta2.ReasonKubeconfigRefused, "reads a file"},
	{"key-file", "a client key from a file", v1beta2.ReasonKubeconfigRefused, "reads a file"},
	{"authority-file", "an authority from a file", v1beta2.ReasonKubeconfigRefused, "reads a file"},
	{"authority-file-unselected", "an authority from a file, of a cluster that no one selected", v1beta2.ReasonKubeconfigRefused, "reads a file"},
	{"proxy", "a proxy", v1beta2.ReasonKubeconfigRefused, "proxy"},
	{"proxy-socks", "a SOCKS proxy", v1beta2.ReasonKubeconfigRefused, "proxy"},
	{"as", "the name of another user", v1beta2.ReasonKubeconfigRefused, "another user"},
	{"as-groups", "the groups of another user", v1beta2.ReasonKubeconfigRefused, "another user"},
	{"as-uid", "the UID of another user", v1beta2.ReasonKubeconfigRefused, "another user"},
	{"as-extra", "the extra fields of another user", v1beta2.ReasonKubeconfigRefused, "another user"},
	{"plain-http", "a server without TLS", v1beta2.ReasonKubeconfigRefused, "https"},
	{"socket", "a server on a socket of the node", v1beta2.ReasonKubeconfigInvalid, "no URL"},
	{"server-password", "a server with a password in it", v1beta2.ReasonKubeconfigRefused, "carries a user"},
	{"server-query", "a server with a query", v1beta2.ReasonKubeconfigRefused, "query"},
	{"server-fragment", "a server with a fragment", v1beta2.ReasonKubeconfigRefused, "fragment"},
}

func TestParseKubeconfig_RefusesCorpusWithOneReasonEach(t *testing.T) {
	const folder = "testdata/kubeconfigs"
	if _, p := parseKubeconfig(corpusFile(t, filepath.Join(folder, "good.yaml"))); p != nil {
		t.Fatalf("the good one is refused: %s", p)
	}
	told := []string{"good.yaml"}
	for _, c := range corpus {
		told = append(told, c.file+".yaml")
		t.Run(c.holds, func(t *testing.T) {
			_, p := parseKubeconfig(corpusFile(t, filepath.Join(folder, c.file+".yaml")))
			switch {
			case p == nil:
				t.Fatal("accepted")
			case p.Reason != c.reason || !strings.Contains(p.Message, c.says):
				t.Fatalf("%s: %s, want %s and %q", p.Reason, p.Message, c.reason, c.says)
			case strings.Contains(p.Error(), "s3cret") || strings.Contains(p.Error(), "/etc/passwd") || len(p.Message) > 300:
				t.Fatalf("it repeats what it read: %s", p)
			}
		})
	}
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !slices.Contains(told, file.Name()) {
			t.Errorf("%s is in the folder and in no table", file.Name())
		}
	}
}

func corpusFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
