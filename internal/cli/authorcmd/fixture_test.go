package authorcmd_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/internal/cli/authorcmd"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
)

var update = flag.Bool("update", false, "write the golden files anew")

// shell runs command lines in a folder of its own.
type shell struct {
	*testing.T
	target *target.Target
	in     string
	asks   bool // there is a terminal
	yes    bool // --yes
	// context of the command lines; nil is that of the test.
	context context.Context
}

// open returns a shell whose working directory and docker configuration are empty.
func open(t *testing.T) *shell {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("DOCKER_CONFIG", dir)
	t.Setenv("KUBECONFIG", filepath.Join(dir, "none"))
	return &shell{T: t}
}

// run runs one command line in this process.
func (s *shell) run(args ...string) (code int, out, said string) {
	s.Helper()
	var outBuffer, errBuffer bytes.Buffer
	c := &console.Console{In: strings.NewReader(s.in), Out: &outBuffer, Err: &errBuffer, Asks: s.asks, Yes: s.yes}
	where := s.target
	if where == nil {
		where = target.New()
	}
	root := &cobra.Command{Use: "kyma", SilenceErrors: true, SilenceUsage: true}
	where.AddFlags(root.PersistentFlags())
	root.AddCommand(authorcmd.Commands(c, where)...)
	root.SetArgs(args)
	ctx := s.context
	if ctx == nil {
		ctx = s.Context()
	}
	code = c.Fail(root.ExecuteContext(ctx))
	return code, outBuffer.String(), errBuffer.String()
}

// ok runs a command line that must succeed.
func (s *shell) ok(args ...string) (out, said string) {
	s.Helper()
	code, out, said := s.run(args...)
	if code != 0 {
		s.Fatalf("kyma %s: exit code %d\n%s%s", strings.Join(args, " "), code, out, said)
	}
	return out, said
}

// refused runs a command line that must end with a code and with words on standard error.
func (s *shell) refused(code int, words string, args ...string) {
	s.Helper()
	got, out, said := s.run(args...)
	if got != code {
		s.Errorf("kyma %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, code, out, said)
	}
	if !strings.Contains(said, words) {
		s.Errorf("kyma %s said %q, want %q in it", strings.Join(args, " "), said, words)
	}
}

// golden compares an output with the file in testdata, in which host stands for the registry.
func (s *shell) golden(name, host, got string) {
	s.Helper()
	if host != "" {
		got = strings.ReplaceAll(got, host, "REGISTRY")
	}
	got = fingerprint.ReplaceAllString(got, "SHA256:FINGERPRINT")
	file := filepath.Join(home, "testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			s.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		s.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		s.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// fingerprint matches the part that differs with every key.
var fingerprint = regexp.MustCompile(`SHA256:[0-9A-Za-z+/=:]{16,}`)

// home is the folder of this package.
var home, _ = os.Getwd()

// registry starts a registry and returns the beginning of references to it.
func registry(t *testing.T) (host, address string) {
	t.Helper()
	started, err := localcluster.StartRegistry(t.Context(), localcluster.RegistryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = started.Stop() })
	return started.Host, "http://" + started.Host
}

// keys writes a key pair: private.pem and public.pem.
func keys(t *testing.T, prefix string) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	write(t, prefix+"private.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))
	write(t, prefix+"public.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})))
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// edit replaces words in a file.
func edit(t *testing.T, file, before, after string) {
	t.Helper()
	text := read(t, file)
	if !strings.Contains(text, before) {
		t.Fatalf("%s has no %q", file, before)
	}
	write(t, file, strings.ReplaceAll(text, before, after))
}
