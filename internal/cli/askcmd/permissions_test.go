package askcmd

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/permissions"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

const content = `apiVersion: v1
kind: ServiceAccount
metadata: {name: notes, namespace: kyma-system}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: notes}
rules: [{apiGroups: [""], resources: [%s], verbs: [get, list, watch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: notes}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: notes}
subjects: [{kind: ServiceAccount, name: notes, namespace: kyma-system}]
`

// publish starts a registry with both versions of notes: 1.0.0 reads ConfigMaps, and 1.1.0 Secrets.
func (b *bench) publish() (address string) {
	b.Helper()
	registry, err := localcluster.StartRegistry(b.Context(), localcluster.RegistryOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = registry.Stop() })
	for version, resource := range map[string]string{"1.0.0": "configmaps", "1.1.0": "secrets"} {
		_, err := component.Push(b.Context(), component.Registry{Host: registry.Host, PlainHTTP: true}, component.Version{
			Name: "example.com/module/notes", Version: version, Provider: "example.com",
			Resources: []component.Resource{{Name: "raw-manifest", Data: fmt.Appendf(nil, content, resource)}},
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	return "http://" + registry.Host
}

func waiting(digest string) v1beta2.ModuleStatus {
	return v1beta2.ModuleStatus{Name: "notes", State: v1beta2.StateReady, Version: "1.0.0", Pending: &v1beta2.PendingVersion{
		Version: "1.1.0", Digest: digest, From: []v1beta2.ConsentSide{v1beta2.ConsentHub}, Counts: v1beta2.PendingCounts{RightsAdded: 1},
		Gravest: []string{"Told by the lifecycle manager."},
	}}
}

func TestPermissions(t *testing.T) {
	b := newBench(t)
	address := b.publish()
	b.kyma([]v1beta2.Module{{Name: "notes", Channel: "fast"}}, waiting("sha256:"+strings.Repeat("a", 64)))
	read := func(args ...string) (document permissionsDocument, said string) {
		t.Helper()
		code, out, said := b.run(append([]string{"permissions", "-o", "json", "--registry", address}, args...)...)
		if err := json.Unmarshal([]byte(out), &document); err != nil || code != 0 {
			t.Fatalf("%v: exit code %d, %s: %v", args, code, said, err)
		}
		return document, said
	}

	waits, said := read("notes")
	if waits.Version != "1.1.0" || waits.Against != "1.0.0" || waits.Kyma != "NS/demo" || waits.Difference == nil || len(waits.Difference.Added) != 1 ||
		!strings.Contains(waits.Difference.Added[0].Sentence, "Secret") || len(waits.Difference.Removed) != 1 {
		t.Errorf("what waits for consent: %+v", waits)
	}
	if !strings.Contains(said, "now holds other content than what waits for consent") {
		t.Errorf("content with another digest: %q", said)
	}
	_, digest, _ := strings.Cut(waits.Reference, "@")
	b.status(waiting(digest))
	if same, said := read("notes"); len(same.Notes) > 0 || said != "" {
		t.Errorf("the content that waits: %q, %v", said, same.Notes)
	}
	if alone, _ := read("notes", "--against", "none"); alone.Difference != nil || alone.Report == nil || len(alone.Report.Findings) == 0 {
		t.Errorf("without a comparison: %+v", alone)
	}
	if installed, _ := read("notes:1.0.0"); installed.Against != "" || installed.Version != "1.0.0" || installed.Pending != nil {
		t.Errorf("the installed version: %+v", installed)
	}
	again := waiting(digest)
	again.Pending.Version = "1.0.0"
	b.status(again)
	if same, said := read("notes"); same.Version != "1.0.0" || !strings.Contains(said, "It is not compared with version 1.0.0: it was published again") {
		t.Errorf("the installed version, published again: %+v, %q", same, said)
	}
	b.status(waiting(digest))
	if missing, said := read("notes", "--against", "0.9.0"); missing.Difference != nil || !strings.Contains(said, "It is not compared with version 0.9.0: there is no ModuleTemplate of it here.") {
		t.Errorf("a version that is not there: %q", said)
	}

	code, out, said := b.run("permissions", "notes", "--registry", address)
	if code != 0 || !strings.Contains(out, "SEVERITY") || !strings.Contains(out, "new ") || !strings.Contains(out, "gone ") {
		t.Errorf("exit code %d, wrote\n%s", code, out)
	}
	if !strings.Contains(said, "What is new with notes 1.1.0, compared with 1.0.0, in Kyma NS/demo: 1 new right") ||
		!strings.Contains(said, "Covers the objects that the module is installed with.") {
		t.Errorf("said %q", said)
	}
}

// TestPermissions_WithValuesFromTheHub is about a chart that asks for Secrets only with the values in a Secret of the hub.
func TestPermissions_WithValuesFromTheHub(t *testing.T) {
	b := newBench(t)
	registry, err := localcluster.StartRegistry(t.Context(), localcluster.RegistryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = registry.Stop() })
	rules := fmt.Sprintf(content, `{{ if .Values.admin }}secrets{{ else }}configmaps{{ end }}`)
	chart := testkit.Chart("beacon", "0.1.0", testkit.Files{"values.yaml": "admin: false\n", "templates/a.yaml": rules})
	if _, err := component.Push(t.Context(), component.Registry{Host: registry.Host, PlainHTTP: true}, component.Version{
		Name: "example.com/module/beacon", Version: "0.1.0", Provider: "example.com", Resources: []component.Resource{{
			Name: "raw-manifest", Type: "helmChart", MediaType: "application/vnd.cncf.helm.chart.content.v1.tar+gzip", Data: chart.Gzip(),
		}},
	}); err != nil {
		t.Fatal(err)
	}
	b.kyma([]v1beta2.Module{{Name: "beacon", ValuesFrom: []v1beta2.ValuesReference{{Kind: v1beta2.ValuesSecret, Name: "admins"}}}})
	asks := func() (secrets bool, reference, said string) {
		t.Helper()
		code, out, said := b.run("permissions", "beacon", "-o", "json", "--registry", "http://"+registry.Host)
		var document permissionsDocument
		if err := json.Unmarshal([]byte(out), &document); err != nil || code != 0 || document.Report == nil {
			t.Fatalf("exit code %d, %s: %v", code, said, err)
		}
		return slices.ContainsFunc(document.Report.Findings, func(f permissions.Finding) bool {
			return strings.Contains(f.Sentence, "Secret")
		}), document.Reference, said
	}
	secrets, without, said := asks()
	if secrets || !strings.Contains(said, "The content of beacon 0.1.0 is rendered without the values in Secret NS/admins: it is not there.") {
		t.Errorf("without the object: may read Secrets %t, said %q", secrets, said)
	}
	b.create(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: b.namespace, Name: "admins", Labels: map[string]string{v1beta2.LabelValues: v1beta2.EnabledValue},
		},
		StringData: map[string]string{v1beta2.DefaultValuesKey: "admin: true\n"},
	})
	if secrets, with, said := asks(); !secrets || said != "" || with == without {
		t.Errorf("with the object: may read Secrets %t, reference %s as without it %t, said %q", secrets, with, with == without, said)
	}
}

func TestPermissions_WhereTheContentCannotBeRead(t *testing.T) {
	b := newBench(t)
	b.kyma([]v1beta2.Module{{Name: "notes", Channel: "fast"}}, waiting("sha256:"+strings.Repeat("a", 64)))
	code, out, said := b.run("permissions", "notes")
	if code != 0 || !strings.Contains(out, "Told by the lifecycle manager.") ||
		!strings.Contains(said, "The content of notes 1.1.0 cannot be read from here: the registry of component example.com/module/notes:1.1.0 is not known here") {
		t.Errorf("exit code %d, wrote %q, said %q", code, out, said)
	}
	code, _, said = b.run("permissions", "notes:1.0.0")
	if code != 1 || !strings.Contains(said, "Hint: name the registry of the modules' components with --registry") {
		t.Errorf("a version that does not wait: exit code %d, said %q", code, said)
	}
	if code, _, said = b.run("permissions", "notes:9.0.0"); code != 4 || !strings.Contains(said, "there is no ModuleTemplate of notes 9.0.0") {
		t.Errorf("a version that is not there: exit code %d, said %q", code, said)
	}
}
