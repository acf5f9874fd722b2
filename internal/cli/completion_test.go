package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

// completed returns the words that a shell is offered for a command line.
func completed(t *testing.T, line string) []string {
	t.Helper()
	code, out, said := run(t, append([]string{"__complete"}, strings.Split(line, " ")...)...)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if directive := lines[len(lines)-1]; code != 0 || !strings.HasPrefix(directive, ":") || directive == ":1" {
		t.Errorf("%q: exit code %d, it ends with %q; said %q", line, code, directive, said)
	}
	if strings.Contains(out+said, "rror") && !strings.Contains(said, "ShellCompDirectiveError") {
		t.Errorf("%q: a shell is told of an error: %q %q", line, out, said)
	}
	var words []string
	for _, word := range lines[:len(lines)-1] {
		word, _, _ = strings.Cut(word, "\t") // the rest is its description
		words = append(words, word)
	}
	slices.Sort(words)
	return words
}

func TestCompletion(t *testing.T) {
	apiserver.Need(t)
	usual := completionPatience
	t.Cleanup(func() { completionPatience = usual })
	completionPatience = time.Minute // the test checks the words, not the time
	plane, err := localcluster.Start(t.Context(), localcluster.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	t.Run("and with credentials that it rejects", func(t *testing.T) { rejected(t, plane.Kubeconfig) })
	t.Setenv("KUBECONFIG", plane.Kubeconfig)
	for _, line := range needsCluster {
		if words := completed(t, line); len(words) > 0 {
			t.Errorf("in a cluster without our kinds %q is completed by %q", line, words)
		}
	}
	withoutRollouts(t, plane)
	install := envtest.CRDInstallOptions{MaxTime: time.Minute, Paths: []string{"../../config/crd/bases"}, ErrorIfPathMissing: true}
	if _, err := envtest.InstallCRDs(plane.Config, install); err != nil {
		t.Fatal(err)
	}
	catalogAndKyma(t, target.Of(plane.Config))
	for name, c := range map[string]struct{ line, want string }{
		"available modules":                    {"add ", "beacon notes"},
		"those with this prefix":               {"add no", "notes"},
		"not those that are named already":     {"add beacon ", "notes"},
		"versions after @":                     {"add notes@", "notes@1.0.0 notes@1.1.0"},
		"versions with this prefix":            {"add notes@1.1", "notes@1.1.0"},
		"channels after a colon":               {"add notes:", "notes:fast notes:regular"},
		"none of an unknown module":            {"add nobody@", ""},
		"versions whose rights are shown":      {"permissions notes:1", "notes:1.0.0 notes:1.1.0"},
		"modules that need others":             {"requirements no", "notes"},
		"nothing waits for consent":            {"approve ", ""},
		"how a module follows its channel":     {"add notes --upgrade-strategy ", "Automatic Manual"},
		"versions to compare":                  {"diff notes@", "notes@1.0.0 notes@1.1.0"},
		"versions to compare with this prefix": {"diff notes@1.0", "notes@1.0.0"},
		"modules that are enabled":             {"delete ", "notes"},
		"those can be upgraded":                {"upgrade ", "notes"},
		"those can be released":                {"unmanage ", "notes"},
		"those have a status":                  {"status ", "notes"},
		"those have a tree":                    {"tree ", "notes"},
		"those have events":                    {"events ", "notes"},
		"modules of the catalog":               {"catalog show ", "beacon notes"},
		"Kymas of a flag":                      {"add notes --kyma ", "hub/demo"},
		"Kymas of a flag that shows":           {"list --kyma ", "hub/demo"},
		"Kymas as an argument":                 {"kyma get ", "hub/demo"},
		"channels of a flag":                   {"add notes --channel ", "fast regular"},
		"channels and Kymas":                   {"kyma set-channel ", "fast hub/demo regular"},
		"words of a flag":                      {"add notes --policy ", "CreateAndDelete Ignore"},
		"formats":                              {"list --output ", "json name table wide yaml"},
		"formats by the short flag":            {"version -o ", "json table yaml"},
		"kinds of dry runs":                    {"add notes --dry-run ", "client none server"},
		"rollouts":                             {"rollout status ", "notes"},
		"rollouts to decide about":             {"rollout approve ", "notes"},
		"only one of them":                     {"rollout abort notes ", ""},
		"channels of a rollout":                {"rollout abort notes --channel ", "fast regular"},
		"channels of another one":              {"rollout abort beacon --channel ", ""},
		"waves that are under way":             {"rollout approve notes --wave ", "canary rest"},
		"releases":                             {"release status ", "beacon notes"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(completed(t, c.line), " "); got != c.want {
				t.Errorf("%q is completed by %q, want %q", c.line, got, c.want)
			}
		})
	}
}

// withoutRollouts calls the commands for rollouts in a cluster without our kinds, and in one whose lifecycle manager does not know
// rollouts.
func withoutRollouts(t *testing.T, plane *localcluster.ControlPlane) {
	t.Helper()
	check := func(line string, want string) {
		t.Helper()
		code, out, said := run(t, strings.Fields(line)...)
		if code != 4 || !strings.Contains(said, want) || out != "" {
			t.Errorf("%s: exit code %d, said %q, wrote %q", line, code, said, out)
		}
	}
	for _, line := range []string{"rollout list", "rollout list --watch", "rollout status notes --wait", "rollout pause notes"} {
		check(line, "this cluster has no ModuleRollouts: the lifecycle manager is not installed\nHint: kyma install")
	}
	check("release status notes", "this cluster has no ModuleReleaseMetas: the lifecycle manager is not installed\nHint: kyma install")
	install := envtest.CRDInstallOptions{
		MaxTime: time.Minute, Paths: []string{"../../config/crd/bases/operator.kyma-project.io_modulereleasemetas.yaml"}, ErrorIfPathMissing: true,
	}
	if _, err := envtest.InstallCRDs(plane.Config, install); err != nil {
		t.Fatal(err)
	}
	check("rollout list", "its lifecycle manager is too old for releases in waves\nHint: kyma install brings it up to date")
	check("rollout abort notes --yes", "its lifecycle manager is too old for releases in waves")
}

// rejected calls commands with a token that the cluster does not accept: its answer is one word.
func rejected(t *testing.T, kubeconfig string) {
	config, err := clientcmd.LoadFromFile(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.AuthInfos = map[string]*clientcmdapi.AuthInfo{"ro": {Token: "made-up"}}
	config.Contexts[config.CurrentContext].AuthInfo = "ro"
	file := filepath.Join(t.TempDir(), "config.yaml")
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", file)
	for line, code := range map[string]int{
		"list": 1, "status": 1, "add notes": 1, "delete notes --yes": 1, "upgrade --all": 1, "catalog list": 1, "kyma list": 1, "kyma get": 1,
		"diff notes": 2, "suspend --all": 1, "approve notes": 1, "approve notes --all": 1, "permissions notes": 1, "requirements notes": 1, "release show": 1, "trace deployment/x": 1, "rollout list": 1, "rollout pause notes": 1,
		"release status notes": 1,
	} {
		got, _, said := run(t, strings.Fields(line)...)
		if got != code || !strings.Contains(said, "Error: the cluster rejected your credentials (user ro)\nHint: log in") {
			t.Errorf("%s: exit code %d, want %d; said %q", line, got, code, said)
		}
	}
}

// needsCluster lists command lines that only a cluster can complete.
var needsCluster = []string{
	"add ", "add notes@", "add notes:", "add notes --kyma ", "add notes --channel ", "delete ", "upgrade ", "manage ", "suspend ",
	"rollout status ", "rollout pause ", "rollout approve notes --channel ", "rollout approve notes --wave ", "release status ",
	"diff ", "rollback ", "rollback notes --to ", "retry ", "approve ", "permissions ", "permissions notes:", "requirements ", "status ", "tree ", "events ", "history ", "catalog show ", "kyma get ", "kyma set-channel ",
}

func TestCompletionWithoutACluster(t *testing.T) {
	folder := t.TempDir()
	nobody := filepath.Join(folder, "nobody")
	text := "{apiVersion: v1, kind: Config, current-context: a, contexts: [{name: a, context: {cluster: a, user: a}}], " +
		"clusters: [{name: a, cluster: {server: 'https://127.0.0.1:1'}}], users: [{name: a}]}"
	if err := os.WriteFile(nobody, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, kubeconfig := range map[string]string{
		"without a kubeconfig":          filepath.Join(folder, "none"),
		"with no server at its address": nobody,
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KUBECONFIG", kubeconfig)
			for _, line := range needsCluster {
				if words := completed(t, line); len(words) > 0 {
					t.Errorf("%q is completed by %q", line, words)
				}
			}
		})
	}
}

func TestCompletionOfSandboxes(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	for _, line := range []string{"provision delete ", "provision env ", "deploy --sandbox "} {
		if words := completed(t, line); len(words) > 0 {
			t.Errorf("%q is completed by %q where there is no sandbox", line, words)
		}
	}
	for _, name := range []string{"demo", "local"} { // the rest of a killed sandbox is a sandbox, too: it can be deleted
		folder := filepath.Join(state, "kyma", "sandboxes", name)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "lock"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range []string{"provision delete ", "provision env ", "deploy --sandbox "} {
		if got := strings.Join(completed(t, line), " "); got != "demo local" {
			t.Errorf("%q is completed by %q", line, got)
		}
	}
}

// catalogAndKyma creates two modules, and a Kyma that has one of them.
func catalogAndKyma(t *testing.T, to *target.Target) {
	t.Helper()
	c, err := to.Client()
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "hub", Name: name} }
	all := []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "hub"}},
		&v1beta2.Kyma{ObjectMeta: in("demo"), Spec: v1beta2.KymaSpec{Channel: "regular", Modules: []v1beta2.Module{{Name: "notes"}}}},
	}
	for _, module := range []string{"beacon", "notes"} {
		all = append(all, &v1beta2.ModuleReleaseMeta{ObjectMeta: in(module), Spec: v1beta2.ModuleReleaseMetaSpec{
			ModuleName: module, OCMComponentName: "example.com/module/" + module,
			Channels: []v1beta2.ChannelVersion{{Channel: "regular", Version: "1.0.0"}, {Channel: "fast", Version: "1.1.0"}},
		}})
		for _, version := range []string{"1.0.0", "1.1.0"} {
			all = append(all, &v1beta2.ModuleTemplate{
				ObjectMeta: in(module + "-" + version), Spec: v1beta2.ModuleTemplateSpec{ModuleName: module, Version: version},
			})
		}
	}
	rollout := &v1beta2.ModuleRollout{ObjectMeta: in("notes"), Spec: v1beta2.ModuleRolloutSpec{
		Waves: []v1beta2.RolloutWave{{Name: "canary"}, {Name: "rest"}}, ProgressDeadline: metav1.Duration{Duration: time.Minute},
	}}
	for _, o := range append(all, rollout) {
		if err := c.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	rollout.Status.Channels = []v1beta2.RolloutChannel{{Name: "regular", Phase: "Waiting", Wave: "canary"}, {Name: "fast", Phase: "Waiting", Wave: "rest"}}
	if err := c.Status().Update(t.Context(), rollout); err != nil {
		t.Fatal(err)
	}
}
