package editcmd

import (
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// catalogServer serves /all-modules.yaml, and addresses that redirect elsewhere. It counts the requests.
func (b *bench) catalogServer() (server *httptest.Server, ca string, asked *atomic.Int64) {
	b.Helper()
	asked = &atomic.Int64{}
	mux := http.NewServeMux()
	mux.HandleFunc("/all-modules.yaml", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, catalogText) })
	mux.HandleFunc("/large.yaml", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, strings.Repeat("#\n", 3<<20)) })
	mux.Handle("/plain.yaml", http.RedirectHandler("http://127.0.0.1:1/all-modules.yaml", http.StatusFound))
	mux.Handle("/link-local.yaml", http.RedirectHandler("https://169.254.169.254/latest/meta-data", http.StatusFound))
	server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		mux.ServeHTTP(w, r)
	}))
	b.Cleanup(server.Close)
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return server, b.file("ca.pem", string(block)), asked
}

func TestPullFromTheWebIsGuarded(t *testing.T) {
	b := newBench(t)
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	server, ca, asked := b.catalogServer()
	file := b.file("all-modules.yaml", catalogText)
	allowed := " --allow-private-catalogs --ca-file " + ca
	for name, c := range map[string]struct {
		args string
		code int
		said string
	}{
		"a private address":                {server.URL + "/all-modules.yaml --ca-file " + ca, 64, "--allow-private-catalogs"},
		"a link-local address":             {"https://169.254.169.254/all-modules.yaml" + allowed, 64, "no catalog is read from"},
		"no encryption":                    {strings.Replace(server.URL, "https", "http", 1) + "/all-modules.yaml" + allowed, 64, "use https"},
		"a login in the address":           {strings.Replace(server.URL, "//", "//me:secret@", 1) + "/all-modules.yaml" + allowed, 64, "login"},
		"an unknown scheme":                {"ftp://example.com/all-modules.yaml", 64, "begins with https://"},
		"a digest that a file should have": {file + " --digest sha256:" + strings.Repeat("0", 64), 64, "--digest"},
		"a key that should sign a file":    {file + " --key " + ca, 64, "--key"},
	} {
		t.Run(name, func(t *testing.T) {
			before := asked.Load()
			code, out, said := b.run(append([]string{"catalog", "pull", "cap", "--from"}, strings.Fields(c.args)...)...)
			if code != c.code || out != "" || !strings.Contains(said, c.said) || strings.Contains(said, "secret") {
				t.Errorf("exit code %d, %q: %s; want %d and %q", code, out, said, c.code, c.said)
			}
			if asked.Load() != before {
				t.Error("it was asked")
			}
		})
	}
	for name, c := range map[string]struct {
		args string
		code int
		said string
	}{
		"to an address without encryption": {"/plain.yaml", 64, "without encryption"},
		"to a link-local address":          {"/link-local.yaml", 64, "no catalog is read from"},
		"to nothing":                       {"/nowhere.yaml", 4, "404"},
		"to more than a catalog may have":  {"/large.yaml", 1, "more than"},
		"to another digest":                {"/all-modules.yaml --digest sha256:" + strings.Repeat("0", 64), 1, "DigestMismatch"},
	} {
		t.Run("it leads "+name, func(t *testing.T) {
			args := strings.Fields(server.URL + c.args + allowed)
			code, out, said := b.run(append([]string{"catalog", "pull", "cap", "--from"}, args...)...)
			if code != c.code || out != "" || !strings.Contains(said, c.said) {
				t.Errorf("exit code %d, %q: %s; want %d and %q", code, out, said, c.code, c.said)
			}
		})
	}
	b.noTemplate("cap-0.2.0")
	args := strings.Fields("catalog pull cap --from " + server.URL + "/all-modules.yaml" + allowed)
	if code, out, said := b.run(args...); code != 0 || !strings.Contains(out, "pulled") {
		t.Fatalf("exit code %d, %q: %s", code, out, said)
	}
	var pulled v1beta2.ModuleTemplate
	if err := b.Get(t.Context(), client.ObjectKey{Namespace: b.namespace, Name: "cap-0.2.0"}, &pulled); err != nil {
		t.Fatal(err)
	}
	if source := pulled.Annotations["source"]; source != server.URL+"/all-modules.yaml" {
		t.Errorf("it is said to come from %q", source)
	}
}

// noTemplate fails if a template was stored.
func (b *bench) noTemplate(name string) {
	b.Helper()
	var all v1beta2.ModuleTemplateList
	if err := b.List(b.Context(), &all, client.InNamespace(b.namespace)); err != nil {
		b.Fatal(err)
	}
	if slices.ContainsFunc(all.Items, func(o v1beta2.ModuleTemplate) bool { return o.Name == name }) {
		b.Errorf("%s was stored", name)
	}
}
