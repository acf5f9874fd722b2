package editcmd

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// notesContent is what a version of module notes installs. The password must be in no output.
func notesContent(version string) []byte {
	return fmt.Appendf(nil, `apiVersion: v1
kind: Secret
metadata: {name: notes-login, namespace: default}
stringData: {password: correct-horse-%[1]s}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: notes-config, namespace: default}
data: {version: "%[1]s", url: "https://user:correct-horse-%[1]s@example.com"}
`, version)
}

// notesInstalled makes a Kyma with module notes in a version, and a registry with its versions. Another version of the content stands in the
// cluster.
func (b *bench) notesInstalled(versions ...string) *localcluster.Registry {
	b.Helper()
	registry, err := localcluster.StartRegistry(b.Context(), localcluster.RegistryOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = registry.Stop() })
	for _, version := range versions {
		_, err := component.Push(b.Context(), component.Registry{Host: registry.Host, PlainHTTP: true}, component.Version{
			Name: "example.com/module/notes", Version: version, Provider: "example.com",
			Resources: []component.Resource{{Name: "raw-manifest", Data: notesContent(version)}},
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	kyma := b.kyma("demo", v1beta2.Module{Name: "notes"})
	patch := `{"status":{"lastOperation":{"operation":"x"},"modules":[{"name":"notes","state":"Ready","version":"1.0.0"}]}}`
	if err := b.Status().Patch(b.Context(), kyma, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
		b.Fatal(err)
	}
	return registry
}

func TestDiff_OfAManagedModuleShowsWhatVersionsInstall(t *testing.T) {
	b := newBench(t)
	registry := b.notesInstalled("1.0.0", "1.1.0")
	plain := "--registry=http://" + registry.Host
	for _, args := range []string{"diff notes@1.1.0", "diff notes --version 1.1.0 --all"} {
		code, out, said := b.run(strings.Fields(args + " " + plain)...)
		for _, word := range []string{
			"WHAT CHANGES from 1.0.0 to 1.1.0", "~ Secret default/notes-login: stringData.password: changed", "~ ConfigMap default/notes-config: 2 fields",
			"WHAT THE CLUSTER SAYS", "+ Secret default/notes-login", "way back",
		} {
			if !strings.Contains(out, word) {
				t.Errorf("%s: %q is missing", args, word)
			}
		}
		if code != 1 || strings.Contains(out+said, "correct-horse") {
			t.Errorf("%s: exit code %d, said %q, wrote\n%s", args, code, said, out)
		}
	}
	for line, says := range map[string]string{
		"diff notes@1.1.0 --version 1.1.0": "exclude each other",
		"diff notes --version 9.9.9":       "9.9.9",
	} {
		if code, _, said := b.run(strings.Fields(line + " " + plain)...); code <= 1 || !strings.Contains(said, says) {
			t.Errorf("%s: exit code %d, said %q", line, code, said)
		}
	}
}

// TestDiff_TakesValuesFromTheHubAndShowsNone is about a chart that writes a password of the hub into a ConfigMap.
func TestDiff_TakesValuesFromTheHubAndShowsNone(t *testing.T) {
	b := newBench(t)
	registry := b.notesInstalled()
	for _, version := range []string{"1.0.0", "1.1.0"} {
		chart := testkit.Chart("notes", version, testkit.Files{"values.yaml": "password: none\n", "templates/a.yaml": fmt.Sprintf(
			"{apiVersion: v1, kind: ConfigMap, metadata: {name: notes-urls, namespace: %s}, "+
				"data: {url: 'https://user:{{ .Values.password }}@{{ .Chart.Version }}.example.com'}}", b.namespace)})
		if _, err := component.Push(t.Context(), component.Registry{Host: registry.Host, PlainHTTP: true}, component.Version{
			Name: "example.com/module/notes", Version: version, Provider: "example.com", Resources: []component.Resource{{
				Name: "raw-manifest", Type: "helmChart", MediaType: "application/vnd.cncf.helm.chart.content.v1.tar+gzip", Data: chart.Gzip(),
			}},
		}); err != nil {
			t.Fatal(err)
		}
	}
	kyma := b.read("demo")
	kyma.Spec.Modules[0].ValuesFrom = []v1beta2.ValuesReference{{Kind: v1beta2.ValuesSecret, Name: "notes-login"}}
	if err := b.Update(t.Context(), kyma); err != nil {
		t.Fatal(err)
	}
	b.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "notes-urls"}, Data: map[string]string{"url": "old"}})
	diff := func() (out, said string) {
		t.Helper()
		code, out, said := b.run("diff", "notes@1.1.0", "--all", "--registry=http://"+registry.Host)
		if code != 1 || !strings.Contains(out, "WHAT THE CLUSTER SAYS") {
			t.Fatalf("exit code %d, said %q, wrote\n%s", code, said, out)
		}
		return out, said
	}
	if out, said := diff(); !strings.Contains(out, "https://user:none@1.1.0") ||
		!strings.Contains(said, "Warning: what is compared is rendered without the values in Secret "+b.namespace+"/notes-login: it is not there.") {
		t.Errorf("without the Secret: said %q, wrote\n%s", said, out)
	}
	b.create(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: b.namespace, Name: "notes-login", Labels: map[string]string{v1beta2.LabelValues: v1beta2.EnabledValue},
		},
		StringData: map[string]string{v1beta2.DefaultValuesKey: "password: correct-horse-battery\n"},
	})
	out, said := diff()
	if strings.Contains(said, "what is compared is rendered") || strings.Contains(out+said, "correct-horse") ||
		strings.Count(out, "https://user:[…]@1.1.0.example.com") < 2 {
		t.Errorf("with the Secret: said %q, wrote\n%s", said, out)
	}
}

func TestDiff_OfAManagedModuleSaysWhatCannotBeRead(t *testing.T) {
	b := newBench(t)
	registry := b.notesInstalled("1.0.0")
	code, out, said := b.run("diff", "notes@1.1.0", "--registry=http://"+registry.Host)
	if code != 1 || !strings.Contains(out, "version: 1.1.0") || !strings.Contains(said, "Warning: what the versions install is not compared") ||
		!strings.Contains(said, "publish the version there") {
		t.Errorf("exit code %d, said %q, wrote\n%s", code, said, out)
	}
}

func TestDiff_SaysWhereOtherContentWaitsForConsent(t *testing.T) {
	b := newBench(t)
	registry := b.notesInstalled("1.0.0", "1.1.0")
	digest := "sha256:" + strings.Repeat("a", 64)
	b.waits("demo", pendingOf(digest, v1beta2.ConsentHub))
	_, _, said := b.run("diff", "notes@1.1.0", "--registry=http://"+registry.Host)
	if !strings.Contains(said, "Warning: 1.1.0@"+digest+" waits for consent, and the registry holds 1.1.0@sha256:") {
		t.Errorf("said %q", said)
	}
	again := pendingOf(digest, v1beta2.ConsentHub)
	again.Version = "1.0.0"
	b.waits("demo", again)
	code, _, said := b.run("diff", "notes@1.0.0", "--registry=http://"+registry.Host)
	if code != 1 || !strings.Contains(said, "1.0.0 with other content would be") || !strings.Contains(said, "only its Manifest") {
		t.Errorf("the installed version, published again: exit code %d, said %q", code, said)
	}
}
