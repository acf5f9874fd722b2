package clustercmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/sandbox"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

// TestMain makes the test binary the supervisor of the sandboxes that the commands make.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "provision" && os.Args[2] == superviseWord {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		code := run(ctx, &console.Console{Out: os.Stdout, Err: os.Stderr}, os.Args[1:])
		stop()
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// run does with a command line what package cli does.
func run(ctx context.Context, c *console.Console, args []string) int {
	t := target.New()
	root := &cobra.Command{Use: "kyma", SilenceErrors: true, SilenceUsage: true}
	root.SetIn(c.In)
	root.SetOut(c.Out)
	root.SetErr(c.Err)
	t.AddFlags(root.PersistentFlags())
	root.PersistentFlags().BoolVarP(&c.Yes, "yes", "y", false, "")
	root.AddCommand(Commands(c, t, Release{})...)
	root.SetArgs(args)
	return c.Fail(root.ExecuteContext(ctx))
}

// answer is the result of a command line.
type answer struct {
	code     int
	out, err string
}

// kyma runs a command line without a terminal.
func kyma(t *testing.T, args ...string) answer {
	t.Helper()
	var out, errs bytes.Buffer
	code := run(t.Context(), &console.Console{In: strings.NewReader(""), Out: &out, Err: &errs}, args)
	return answer{code, out.String(), errs.String()}
}

// ok runs a command line that must succeed.
func ok(t *testing.T, args ...string) string {
	t.Helper()
	got := kyma(t, args...)
	if got.code != console.CodeOK {
		t.Fatalf("kyma %s: exit code %d\n%s%s", strings.Join(args, " "), got.code, got.out, got.err)
	}
	return got.out
}

// fails runs a command line that must end with a code and print a text.
func fails(t *testing.T, code int, says string, args ...string) {
	t.Helper()
	got := kyma(t, args...)
	if got.code != code || !strings.Contains(got.err+got.out, says) {
		t.Errorf("kyma %s: exit code %d, want %d and %q\n%s%s", strings.Join(args, " "), got.code, code, says, got.out, got.err)
	}
}

func decode[T any](t *testing.T, text string) T {
	t.Helper()
	var into T
	if err := json.Unmarshal([]byte(text), &into); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return into
}

// alone gives a test a state folder of its own, and no cluster.
func alone(t *testing.T) string {
	t.Helper()
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	t.Setenv("KUBECONFIG", filepath.Join(state, "no-such-kubeconfig"))
	t.Setenv(sandboxFlag, "")
	return state
}

func needsServers(t *testing.T) {
	t.Helper()
	apiserver.Need(t)
}

// deleted cleans up after a test that failed.
func deleted(t *testing.T, name string) {
	t.Helper()
	root, err := sandbox.Root()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sandbox.Delete(context.Background(), root, name); err != nil && !errors.Is(err, sandbox.ErrNotFound) {
			t.Error(err)
		}
	})
}

// builtManager builds the manager's own program.
func builtManager(t *testing.T) string {
	t.Helper()
	root, err := localcluster.Root()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "manager")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", program, "./cmd")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return program
}

// kubectl runs the kubectl of the clusters' version.
func kubectl(t *testing.T, kubeconfig string, args ...string) string {
	t.Helper()
	assets, err := localcluster.Assets(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), filepath.Join(assets, "kubectl"), append([]string{"--kubeconfig=" + kubeconfig}, args...)...)
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}
