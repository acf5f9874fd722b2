package getcmd

import (
	"bytes"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
)

// offered is a catalog with one module of two versions.
const offered = `apiVersion: operator.kyma-project.io/v1beta2
kind: ModuleTemplate
metadata: {name: notes-1.0.0}
spec: {moduleName: notes, version: 1.0.0, info: {repository: "https://example.com", documentation: "https://example.com/docs"}}
---
apiVersion: operator.kyma-project.io/v1beta2
kind: ModuleTemplate
metadata: {name: notes-1.1.0}
spec: {moduleName: notes, version: 1.1.0}
`

func TestCatalogWithoutACluster(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, offered) }))
	t.Cleanup(server.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(ca, block, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args string
		code int
		says []string
	}{
		"a catalog is listed as a cluster is": {"--allow-private-catalogs --ca-file " + ca, 0, []string{"notes    community", "1.1.0, 1.0.0"}},
		"its documentation too":               {"-o wide --allow-private-catalogs --ca-file " + ca, 0, []string{"https://example.com/docs"}},
		"and as JSON":                         {"-o json --allow-private-catalogs --ca-file " + ca, 0, []string{"ModuleOfferList"}},
		"another digest is refused":           {"--digest sha256:" + strings.Repeat("0", 64) + " --allow-private-catalogs --ca-file " + ca, 1, []string{"DigestMismatch"}},
		"a private address is refused":        {"--ca-file " + ca, 64, []string{"private address"}},
	} {
		t.Run(name, func(t *testing.T) {
			var out, said bytes.Buffer
			speaks := &console.Console{In: strings.NewReader(""), Out: &out, Err: &said}
			to := target.New()
			root := &cobra.Command{Use: "kyma", SilenceErrors: true, SilenceUsage: true}
			to.AddFlags(root.PersistentFlags())
			root.AddCommand(Commands(speaks, to)...)
			root.SetArgs(append([]string{"catalog", "list", "--from", server.URL + "/all-modules.yaml"}, strings.Fields(c.args)...))
			if code := speaks.Fail(root.ExecuteContext(t.Context())); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			for _, want := range c.says {
				if !strings.Contains(out.String()+said.String(), want) {
					t.Errorf("%q is not in\n%s%s", want, out.String(), said.String())
				}
			}
		})
	}
}
