package target

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
)

// flagged returns a target with flags, and its kubeconfig: a file with that text in a folder of its own.
func flagged(t *testing.T, text string, args ...string) (to *Target, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "config.yaml")
	if text != "" {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	to = New()
	flags := pflag.NewFlagSet("kyma", pflag.ContinueOnError)
	to.AddFlags(flags)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "FILE", file)
	}
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return to, file
}

// kubeconfig returns a kubeconfig in which context prod connects user ro to a server.
func kubeconfig(server string) string {
	return "{apiVersion: v1, kind: Config, current-context: prod, contexts: [{name: prod, context: {cluster: a, user: ro}}], " +
		"clusters: [{name: a, cluster: {server: '" + server + "'}}], users: [{name: ro, user: {token: x}}]}"
}

func TestExplain_AKubeconfigThatLeadsNowhere(t *testing.T) {
	for name, c := range map[string]struct {
		text, variable string
		args           []string
		code           int
		said           string
		none           bool
	}{
		"a file that is named and missing":     {"", "", []string{"--kubeconfig", "FILE"}, 4, "cannot read kubeconfig FILE: no such file or directory", false},
		"a file of KUBECONFIG that is missing": {"", "FILE", nil, 4, "cannot read kubeconfig FILE: no such file or directory", true},
		"an empty one":                         {"{apiVersion: v1, kind: Config}", "FILE", nil, 4, "no kubeconfig names a cluster", true},
		"a context that there is not":          {kubeconfig("https://127.0.0.1:1"), "FILE", []string{"--context", "test"}, 4, `has no context "test"`, false},
		"a file that it names and that is missing": {
			strings.Replace(kubeconfig("https://127.0.0.1:1"), "{token: x}", "{client-certificate: /none.pem, client-key: /none.key}", 1), "FILE", nil, 4,
			"the kubeconfig cannot be used: ", false,
		},
		"no YAML":                                {"{", "FILE", nil, 1, "the kubeconfig cannot be used: ", false},
		"a device without an end":                {"", "/dev/zero", nil, 1, "cannot read kubeconfig /dev/zero: it is a device", false},
		"a server by a flag needs no kubeconfig": {"", "FILE", []string{"--server", "http://localhost:8080"}, 0, "", false},
		"one that works":                         {kubeconfig("https://127.0.0.1:1"), "FILE", nil, 0, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			to, file := flagged(t, c.text, c.args...)
			t.Setenv("KUBECONFIG", strings.ReplaceAll(c.variable, "FILE", file))
			_, err := to.Config()
			if console.Code(err) != c.code || errors.Is(err, ErrNoCluster) != c.none {
				t.Errorf("code %d, no cluster %t; want %d and %t: %v", console.Code(err), errors.Is(err, ErrNoCluster), c.code, c.none, err)
			}
			if want := strings.ReplaceAll(c.said, "FILE", file); err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("said %q, want %q", err, want)
			}
			if err != nil && c.code == 0 {
				t.Error(err)
			}
		})
	}
}

// An error of the cluster is explained: what is wrong, where, and what to do.
func TestClustersThatRefuseOrAreAway(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"kymas are forbidden","reason":"Forbidden","code":403}`))
	}))
	to, file := flagged(t, kubeconfig(server.URL))
	t.Setenv("KUBECONFIG", file)
	c, err := to.Client()
	if err != nil {
		t.Fatal(err)
	}
	ask := func() *console.Failure {
		_, err := to.Kyma(t.Context(), c, "")
		explained, _ := errors.AsType[*console.Failure](to.Explain(fmt.Errorf("more: %w", err)))
		if explained == nil {
			t.Fatalf("%v is not explained", err)
		}
		return explained
	}
	if explained := ask(); !strings.Contains(explained.Error(), "kymas are forbidden") || !strings.Contains(explained.Hint, "kubectl auth can-i") {
		t.Errorf("explained as %v, hint %q", explained, explained.Hint)
	}
	server.Close()
	want := "the cluster at " + server.URL + " cannot be reached: dial tcp"
	if explained := ask(); !strings.HasPrefix(explained.Error(), want) || !strings.Contains(explained.Hint, "--context") {
		t.Errorf("explained as %v, hint %q", explained, explained.Hint)
	}
	if other := error(&url.Error{Op: "Get", URL: "https://registry.example.com/v2/", Err: errors.New("away")}); !errors.Is(to.Explain(other), other) || strings.Contains(to.Explain(other).Error(), server.URL) {
		t.Error("what another server did is explained as the cluster's")
	}
	hinted, _ := errors.AsType[*console.Failure](to.Explain(console.NotFound("gone").With("look elsewhere")))
	if hinted == nil || hinted.Hint != "look elsewhere" {
		t.Error("a hint that was there is replaced")
	}
}

func TestCredentialsThatAreRejected(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}`))
	}))
	defer server.Close()
	to, file := flagged(t, kubeconfig(server.URL))
	t.Setenv("KUBECONFIG", file)
	if where, err := to.Where(); err != nil || where != server.URL+" (context prod)" {
		t.Errorf("the cluster is called %q: %v", where, err)
	}
	if other := errors.New("Unauthorized"); !errors.Is(to.Explain(other), other) || to.Explain(nil) != nil {
		t.Error("what this cluster did not say is explained")
	}
	c, err := to.Client()
	if err != nil {
		t.Fatal(err)
	}
	_, err = to.Kyma(t.Context(), c, "")
	explained := to.Explain(err)
	if explained == nil || explained.Error() != "the cluster rejected your credentials (user ro)" || console.Code(explained) != console.CodeError {
		t.Errorf("%v is explained as %v", err, explained)
	}
}
