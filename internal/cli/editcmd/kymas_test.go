package editcmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
)

func TestCreateKyma(t *testing.T) {
	b := newBench(t)
	for _, step := range []struct {
		args, out, said string
		code            int
	}{
		{"kyma create demo --module notes --local --dry-run=client", "created (dry run)", "", 0},
		{"kyma create demo --module notes --local --dry-run=server", "created (dry run)", "", 0},
		{"kyma create demo --module nobody", "", "there is no module nobody", 4},
		{"kyma create demo --module notes --module beacon:fast --local --beta --wait=false", "created", "", 0},
		{"kyma create demo --module notes --module beacon:fast --local --beta --wait=false", "unchanged", "", 0},
		{"kyma create demo --local --wait=false", "", "already exists and differs", 1},
		{"kyma create away --module notes", "created", "kyma kyma connect away", 0},
		{"kyma set-channel demo fast --wait=false", "changed", "", 0},
		{"kyma set-channel demo fast --wait=false", "unchanged", "", 0},
		{"kyma set-channel demo Fast", "", "is not a channel", 64},
		{"kyma set-release demo 2.2", "", "there is no KymaRelease 2.2 in namespace", 4},
		{"kyma set-release demo 2.2 --none", "", "exclude each other", 64},
		{"kyma set-release", "", "RELEASE is missing", 64},
		{"kyma set-release demo --none --wait=false", "unchanged", "", 0},
	} {
		code, out, said := b.run(strings.Fields(step.args)...)
		if code != step.code || !strings.Contains(out, step.out) || !strings.Contains(said, step.said) {
			t.Errorf("%s: exit code %d, %q: %s; want %d, %q and %q", step.args, code, out, said, step.code, step.out, step.said)
		}
	}
	kyma := b.read("demo")
	if kyma.Labels[v1beta2.LabelBeta] != "true" || *kyma.Spec.Remote || kyma.Spec.Channel != "fast" || b.entries("demo") != "notes beacon:fast" {
		t.Errorf("the Kyma is %+v", kyma)
	}
}

// kubeconfig writes a kubeconfig for the test's own API server; change may modify it.
func (b *bench) kubeconfig(change func(*clientcmdapi.Config)) string {
	b.Helper()
	file := clientcmdapi.NewConfig()
	file.Clusters["c"] = &clientcmdapi.Cluster{Server: b.config.Host, CertificateAuthorityData: b.config.CAData}
	file.AuthInfos["u"] = &clientcmdapi.AuthInfo{ClientCertificateData: b.config.CertData, ClientKeyData: b.config.KeyData}
	file.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	file.CurrentContext = "x"
	if change != nil {
		change(file)
	}
	path := filepath.Join(b.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*file, path); err != nil {
		b.Fatal(err)
	}
	return path
}

func TestConnect(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*clientcmdapi.Config)
		args   []string
		code   int
		said   string
	}{
		"a kubeconfig is stored":            {nil, []string{"--check=false"}, 0, ""},
		"the Kyma's own cluster is refused": {nil, nil, 64, "leads to the Kyma's own cluster"},
		"a context that there is not":       {nil, []string{"--runtime-context", "y"}, 64, "--runtime-context names one"},
		"a program is refused": {func(f *clientcmdapi.Config) {
			f.AuthInfos["u"] = &clientcmdapi.AuthInfo{Exec: &clientcmdapi.ExecConfig{Command: "aws", APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: "Never"}}
		}, []string{"--check=false"}, 64, "runs a program"},
		"a cluster that does not answer is refused":     {func(f *clientcmdapi.Config) { f.Clusters["c"].Server = "https://127.0.0.1:1" }, nil, 1, "cannot be accessed"},
		"credentials that are not accepted are refused": {func(f *clientcmdapi.Config) { f.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: "wrong"} }, nil, 1, "cannot be accessed"},
		"http is refused": {func(f *clientcmdapi.Config) { f.Clusters["c"].Server = "http://127.0.0.1:1" }, []string{"--check=false"}, 64, "no https address"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			args := append([]string{"kyma", "connect", "demo", "--runtime", b.kubeconfig(c.change)}, c.args...)
			code, _, said := b.run(args...)
			if code != c.code || !strings.Contains(said, c.said) {
				t.Errorf("exit code %d, want %d: %s, want %q in it", code, c.code, said, c.said)
			}
			if strings.Contains(said, "wrong") {
				t.Errorf("a token is shown: %s", said)
			}
		})
	}
}

func TestAccessSecret(t *testing.T) {
	b := newBench(t)
	certificate := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(certificate, b.config.CAData, 0o600); err != nil {
		t.Fatal(err)
	}
	path := b.kubeconfig(func(f *clientcmdapi.Config) {
		f.Clusters["c"].CertificateAuthorityData, f.Clusters["c"].CertificateAuthority = nil, certificate
		f.Clusters["other"] = &clientcmdapi.Cluster{Server: "https://elsewhere"}
	})
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"connected", "unchanged"} {
		in := &console.Console{In: strings.NewReader(string(text))}
		if code, out, said := b.runAs(in, "kyma", "connect", "demo", "--runtime", "-", "--check=false"); code != 0 || !strings.Contains(out, want) {
			t.Fatalf("exit code %d, %q, want %s: %s", code, out, want, said)
		}
	}
	var secrets corev1.SecretList
	labelled := client.MatchingLabels{v1beta2.LabelKymaName: "demo"}
	if err := b.List(t.Context(), &secrets, client.InNamespace(b.namespace), labelled); err != nil || len(secrets.Items) != 1 {
		t.Fatalf("%d access Secrets: %v", len(secrets.Items), err)
	}
	stored := string(secrets.Items[0].Data[v1beta2.AccessSecretKey])
	if !strings.Contains(stored, "certificate-authority-data") || strings.Contains(stored, certificate) || strings.Contains(stored, "elsewhere") {
		t.Errorf("stored is more than the one context, or it names files:\n%s", stored)
	}
	if code, _, said := b.run("kyma", "disconnect", "demo"); code != 64 || !strings.Contains(said, "--yes") {
		t.Errorf("exit code %d without an answer: %s", code, said)
	}
	for _, want := range []string{"disconnected", "unchanged"} {
		if code, out, said := b.run("kyma", "disconnect", "demo", "--yes"); code != 0 || !strings.Contains(out, want) {
			t.Errorf("exit code %d, %q, want %s: %s", code, out, want, said)
		}
	}
}

const catalogText = `
apiVersion: operator.kyma-project.io/v1beta2
kind: ModuleTemplate
metadata:
  name: cap-0.1.0
  labels: {operator.kyma-project.io/module-name: cap}
spec: {version: 0.1.0, descriptor: {}}
---
apiVersion: operator.kyma-project.io/v1beta2
kind: ModuleTemplate
metadata: {name: cap-0.2.0}
spec: {moduleName: cap, version: 0.2.0, descriptor: {}}
`

func TestPull(t *testing.T) {
	b := newBench(t)
	path := filepath.Join(t.TempDir(), "all-modules.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(catalogText)
	for _, step := range []struct {
		args, out, said string
		code            int
	}{
		{"catalog pull cap --dry-run=server", "moduletemplate/cap-0.2.0", "", 0},
		{"catalog pull cap", "pulled", "", 0},
		{"catalog pull cap", "unchanged", "", 0},
		{"catalog pull cap@0.1.0", "moduletemplate/cap-0.1.0", "", 0},
		{"catalog pull cap@9.0.0", "", "it has 0.2.0, 0.1.0", 4},
		{"catalog pull car", "", "did you mean cap? Known modules: cap", 4},
		{"catalog pull cap:fast", "", "NAME@VERSION", 64},
	} {
		code, out, said := b.run(append(strings.Fields(step.args), "--from", path)...)
		if code != step.code || !strings.Contains(out, step.out) || !strings.Contains(said, step.said) {
			t.Errorf("%s: exit code %d, %q: %s; want %d, %q and %q", step.args, code, out, said, step.code, step.out, step.said)
		}
	}
	write(strings.ReplaceAll(catalogText, "version: 0.2.0", "version: 0.2.0, requiresDowntime: true"))
	if code, _, said := b.run("catalog", "pull", "cap", "--from", path); code != 1 || !strings.Contains(said, "+requiresDowntime: true") {
		t.Errorf("exit code %d of another template of the same name: %s", code, said)
	}
	if code, out, said := b.run("catalog", "pull", "cap", "--force", "--from", path); code != 0 || !strings.Contains(out, "changed") {
		t.Errorf("exit code %d, %q: %s", code, out, said)
	}
	b.kyma("demo")
	if code, _, said := b.run("add", "cap"); code != 1 || !strings.Contains(said, "use --community") {
		t.Errorf("exit code %d of a community module that was asked for as another: %s", code, said)
	}
}

func TestSetRelease(t *testing.T) {
	b := three(t)
	for name, modules := range map[string][]v1beta2.ReleasedModule{
		"2.2": {{Name: "notes", Version: "1.1.0"}}, "2.3": {{Name: "beacon", Version: "1.0.0"}},
	} {
		release := &v1beta2.KymaRelease{Spec: v1beta2.KymaReleaseSpec{Modules: modules}}
		release.Namespace, release.Name = b.namespace, name
		b.create(release)
	}
	for _, step := range []struct {
		args, out, said, want string // the releases of a, b and c
		code                  int
	}{
		{"kyma set-release 2.2 --all-kymas --dry-run=client", "planned 3 set release 2.2", "", "||", 0},
		{"kyma set-release 2.2 -l ring=canary --yes", "done 2 set release 2.2 NS/a and NS/b", "", "2.2|2.2|", 0},
		{"kyma set-release 2.3 --all-kymas --yes", "done 2 set release 2.3 NS/a and NS/c refused 1 release 2.3 does not have notes NS/b",
			"1 refused of 3 Kymas", "2.3|2.2|2.3", 1},
		{"kyma set-release 2.2 --all-kymas --dry-run=server", "names release 2.2 already NS/b", "", "2.3|2.2|2.3", 0},
		{"kyma set-release b 2.3", "", "release 2.3 does not have notes", "2.3|2.2|2.3", 1},
		{"kyma set-release c 2.2 --wait=false", "changed", "", "2.3|2.2|2.2", 0},
		{"kyma set-channel rapid -l ring=canary --yes", "done 2 set channel rapid", "", "2.3|2.2|2.2", 0},
		{"kyma set-release --none -l ring=canary --yes", "done 1 set no release NS/a refused 1 module notes has no channel rapid; it has fast (1.1.0), regular (1.0.0) NS/b", "", "|2.2|2.2", 1},
		{"kyma set-release 2.4 --all-kymas --yes", "refused 3 there is no KymaRelease 2.4", "", "|2.2|2.2", 1},
	} {
		code, out, said := b.run(strings.Fields(step.args)...)
		if code != step.code || !strings.Contains(b.flat(out), step.out) || !strings.Contains(b.flat(said), step.said) {
			t.Errorf("%s: exit code %d, want %d\n%s\nwant %q in it; said %s, want %q", step.args, code, step.code, b.flat(out), step.out, said, step.said)
		}
		if got := b.read("a").Spec.Release + "|" + b.read("b").Spec.Release + "|" + b.read("c").Spec.Release; got != step.want {
			t.Errorf("%s: the releases are %s, want %s", step.args, got, step.want)
		}
	}
}
