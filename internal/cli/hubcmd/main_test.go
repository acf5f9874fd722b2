package hubcmd

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

func TestMain(m *testing.M) { apiserver.Main(m, apiserver.OurKinds) }

// secretText is what only files may contain.
const secretText = "kubeconfig-of-the-customer"

// answer is the result of a command line.
type answer struct {
	code     int
	out, err string
}

// kyma runs a command line as package cli does, with an input.
func kyma(t *testing.T, input string, args ...string) answer {
	t.Helper()
	apiserver.Need(t)
	config, err := apiserver.Start()
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	c := &console.Console{In: strings.NewReader(input), Out: &out, Err: &errs}
	to := target.Of(config)
	root := &cobra.Command{Use: "kyma", SilenceErrors: true, SilenceUsage: true}
	root.SetErr(&errs)
	to.AddFlags(root.PersistentFlags())
	root.PersistentFlags().BoolVarP(&c.Yes, "yes", "y", false, "")
	root.AddCommand(Commands(c, to)...)
	root.SetArgs(append([]string{"hub"}, args...))
	code := c.Fail(root.ExecuteContext(t.Context()))
	return answer{code, out.String(), errs.String()}
}

// says checks a code and a text.
func (a answer) says(t *testing.T, code int, text string) answer {
	t.Helper()
	if a.code != code || !strings.Contains(a.out+a.err, text) || strings.Contains(a.err, secretText) {
		t.Errorf("exit code %d, want %d and %q in\n%s%s", a.code, code, text, a.out, a.err)
	}
	return a
}

// hub makes a Kyma with an access Secret in a namespace of its own.
func hub(t *testing.T, namespace string) client.Client {
	t.Helper()
	apiserver.Need(t)
	c := apiserver.Client(t)
	for _, object := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
		&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "demo", Labels: map[string]string{v1beta2.LabelKymaName: "demo"}},
			StringData: map[string]string{"config": secretText},
		},
		&v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "demo"}, Spec: v1beta2.KymaSpec{Channel: "regular"}},
	} {
		if err := c.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// lose deletes it.
func lose(t *testing.T, c client.Client, namespace string) {
	t.Helper()
	at := metav1.ObjectMeta{Namespace: namespace, Name: "demo"}
	for _, object := range []client.Object{&corev1.Secret{ObjectMeta: at}, &v1beta2.Kyma{ObjectMeta: at}} {
		if err := c.Delete(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
}

func TestHub_ExportIntoAFolderAndImport(t *testing.T) {
	c, dir := hub(t, "folder"), filepath.Join(t.TempDir(), "backup")
	where := []string{"--namespace", "folder", "--manager-namespace", "folder"}
	got := kyma(t, "", append(where, "export", dir)...).says(t, console.CodeOK, "mode 0600")
	if !strings.Contains(got.err, "1 Secret in plain text") || !strings.Contains(got.out, "Kyma") {
		t.Errorf("got %s%s", got.out, got.err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 3 {
		t.Fatalf("%v %v", entries, err)
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v: %v", entry.Name(), info.Mode(), err)
		}
	}
	kyma(t, "", append(where, "export", dir)...).says(t, console.CodeError, "Hint: --overwrite replaces")
	kyma(t, "", append(where, "export", dir, "--overwrite", "--without-secrets")...).says(t, console.CodeOK, "Kyma")
	if _, err := os.Stat(filepath.Join(dir, "3-secrets.yaml")); !os.IsNotExist(err) {
		t.Errorf("the Secrets of the export before are still there: %v", err)
	}
	kyma(t, "", append(where, "export", dir, "--overwrite")...).says(t, console.CodeOK, "mode 0600")

	lose(t, c, "folder")
	kyma(t, "", "import", dir, "--dry-run=server").says(t, console.CodeOK, "created")
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "folder", Name: "demo"}, &v1beta2.Kyma{}); err == nil {
		t.Error("a dry run wrote")
	}
	kyma(t, "", "import", dir, "--suspended").says(t, console.CodeOK, "without --suspended")
	kyma(t, "", "import", dir, "--take-over").says(t, console.CodeOK, "continued")
	live, namespace := &v1beta2.Kyma{}, &corev1.Namespace{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "folder", Name: "demo"}, live); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(t.Context(), client.ObjectKey{Name: "folder"}, namespace); err != nil {
		t.Fatal(err)
	}
	if live.Annotations[v1beta2.AnnotationTakeOverFrom] != string(namespace.UID) || len(live.Labels) > 0 {
		t.Errorf("the Kyma has %v %v", live.Labels, live.Annotations)
	}
}

func TestHub_ExportThroughAPipe(t *testing.T) {
	c := hub(t, "pipe")
	got := kyma(t, "", "export", "-", "--namespace", "pipe", "--manager-namespace", "pipe").
		says(t, console.CodeOK, "Exported: 1 Namespace, 1 Secret, 1 Kyma")
	lose(t, c, "pipe")
	imported := kyma(t, got.out, "import", "-", "-o", "json").says(t, console.CodeOK, `"HubImport"`)
	var summary struct {
		Counts []struct {
			Kind   string `json:"kind"`
			Action string `json:"action"`
			Count  int    `json:"count"`
		} `json:"counts"`
	}
	if err := json.Unmarshal([]byte(imported.out), &summary); err != nil || len(summary.Counts) != 3 || summary.Counts[2].Action != "created" {
		t.Errorf("%+v: %v", summary, err)
	}

	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "pipe", Name: "demo"}}
	change := client.RawPatch(types.MergePatchType, []byte(`{"stringData":{"config":"b"}}`))
	if err := c.Patch(t.Context(), secret, change); err != nil {
		t.Fatal(err)
	}
	kyma(t, got.out, "import", "-").says(t, console.CodeError, "Secret pipe/demo (data)")
	kyma(t, got.out, "import", "-", "-o", "json", "--dry-run=server").says(t, console.CodeError, `"differs"`)
	kyma(t, got.out, "import", "-", "--overwrite").says(t, console.CodeUsage, "overwriting 1 object needs confirmation")
	kyma(t, got.out, "import", "-", "--overwrite", "--yes").says(t, console.CodeOK, "overwritten")
	kyma(t, got.out, "import", "-").says(t, console.CodeOK, "unchanged")
}

func TestHub_ExportIntoOneFileThatOthersCouldRead(t *testing.T) {
	hub(t, "file")
	file := filepath.Join(t.TempDir(), "hub.yaml")
	if err := os.WriteFile(file, []byte("before"), 0o644); err != nil {
		t.Fatal(err)
	}
	kyma(t, "", "export", file, "--namespace", "file").says(t, console.CodeError, "is there already")
	kyma(t, "", "export", file, "--namespace", "file", "--overwrite").
		says(t, console.CodeOK, "Warning: the identity of this hub is not in the export")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 || info.Size() < 100 {
		t.Errorf("%v: %v", info, err)
	}
	kyma(t, "", "import", file, "--take-over").says(t, console.CodeUsage, "--take-over=HUB names it")
	kyma(t, "", "import", file).says(t, console.CodeOK, "unchanged")
}

func TestHub_ImportsNothingOfWhatItCannotRead(t *testing.T) {
	apiserver.Need(t)
	kyma(t, "", "import", filepath.Join(t.TempDir(), "missing")).says(t, console.CodeNotFound, "no such file")
	kyma(t, "", "import", t.TempDir()).says(t, console.CodeNotFound, "there is no object in")
	kyma(t, "kind: Secret\ndata: {key: "+secretText+"\n", "import", "-").says(t, console.CodeUsage, "standard input: document 1 is no YAML")
}
