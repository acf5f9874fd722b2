package catalogcmd

import (
	"bytes"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

func TestMain(m *testing.M) { apiserver.Main(m, apiserver.OurKinds) }

// shell runs command lines in a folder of its own.
type shell struct {
	*testing.T
	target *target.Target
}

func open(t *testing.T) *shell {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("DOCKER_CONFIG", dir)
	t.Setenv("KUBECONFIG", filepath.Join(dir, "none"))
	t.Setenv("SOURCE_DATE_EPOCH", "")
	return &shell{t, target.New()}
}

// onCluster returns a shell with an API server, and a namespace of its own.
func onCluster(t *testing.T) (s *shell, c client.Client, namespace string) {
	t.Helper()
	apiserver.Need(t)
	config, err := apiserver.Start()
	if err != nil {
		t.Fatal(err)
	}
	s = open(t)
	s.target = target.Of(config)
	c = apiserver.Client(t)
	made := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "catalog-"}}
	if err := c.Create(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	return s, c, made.Name
}

// run runs one command line.
func (s *shell) run(args ...string) (code int, out, said string) {
	s.Helper()
	var outBuffer, errBuffer bytes.Buffer
	c := &console.Console{In: strings.NewReader(""), Out: &outBuffer, Err: &errBuffer}
	root := &cobra.Command{Use: "kyma", SilenceErrors: true, SilenceUsage: true}
	to := target.New()
	if config, err := s.target.Config(); err == nil {
		to = target.Of(config)
	}
	to.AddFlags(root.PersistentFlags())
	root.AddCommand(Commands(c, to)...)
	root.SetArgs(args)
	code = c.Fail(root.ExecuteContext(s.Context()))
	return code, outBuffer.String(), errBuffer.String()
}

// says runs a command line that must end with a code, and returns its output.
func (s *shell) says(want int, line string, words ...string) string {
	s.Helper()
	code, out, said := s.run(strings.Fields(line)...)
	text := out + said
	if code != want {
		s.Errorf("%s: exit code %d, want %d: %s", line, code, want, text)
	}
	for _, word := range words {
		if !strings.Contains(text, word) {
			s.Errorf("%s: %q is not in\n%s", line, word, text)
		}
	}
	return text
}

func (s *shell) write(name, text string) {
	s.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		s.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		s.Fatal(err)
	}
}

func (s *shell) read(name string) string {
	s.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		s.Fatal(err)
	}
	return string(text)
}

// template returns a template that has errors only if change makes some.
func template(version string, change ...string) string {
	text := `apiVersion: operator.kyma-project.io/v1beta2
kind: ModuleTemplate
metadata:
  name: notes-VERSION
  labels:
    operator.kyma-project.io/module-name: notes
spec:
  moduleName: notes
  version: VERSION
  descriptor: {}
  resources:
  - name: rawManifest
    link: https://example.com/notes/VERSION/notes.yaml
`
	text = strings.ReplaceAll(text, "VERSION", version)
	for i := 0; i+1 < len(change); i += 2 {
		text = strings.ReplaceAll(text, change[i], change[i+1])
	}
	return text
}

// folderWith writes a folder with versions of notes.
func (s *shell) folderWith(versions ...string) {
	s.Helper()
	for _, version := range versions {
		s.write("modules/notes/notes-"+version+".yaml", template(version))
	}
}

// served returns a file server with TLS, and writes ca.pem with its certificate.
func (s *shell) served(dir string) (url string) {
	s.Helper()
	return s.trusted(httptest.NewTLSServer(http.FileServer(http.Dir(dir)))).URL
}

// registry returns a registry with TLS, and writes ca.pem with its certificate.
func (s *shell) registry() (host string) {
	s.Helper()
	server := s.trusted(httptest.NewTLSServer(registry.New(registry.Logger(log.New(io.Discard, "", 0)))))
	return strings.TrimPrefix(server.URL, "https://")
}

func (s *shell) trusted(server *httptest.Server) *httptest.Server {
	s.Cleanup(server.Close)
	s.write("ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	return server
}
