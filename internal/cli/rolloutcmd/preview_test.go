package rolloutcmd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/internal/installable"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

const (
	beaconName = "example.com/module/beacon"
	password   = "correct-horse-battery"
)

// beaconContent is what a version installs, with a password that no output may show.
func beaconContent(version, more string) []byte {
	return fmt.Appendf(nil, `apiVersion: v1
kind: Namespace
metadata: {name: beacon-system}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: manager, namespace: beacon-system}
---
apiVersion: v1
kind: Secret
metadata: {name: login, namespace: beacon-system}
stringData: {password: %[2]s-%[1]s}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: manager, namespace: beacon-system}
spec:
  selector: {matchLabels: {app: beacon}}
  template:
    metadata: {labels: {app: beacon}}
    spec:
      serviceAccountName: manager
      containers:
      - {name: manager, image: "registry.example.com/beacon:%[1]s", args: ["--password=%[2]s-%[1]s"]}
%[3]s`, version, password, more)
}

const secretReader = `---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: beacon}
rules:
- {apiGroups: [""], resources: [secrets], verbs: [get, list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: beacon}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: beacon}
subjects:
- {kind: ServiceAccount, name: manager, namespace: beacon-system}
`

// published starts a registry with both versions of the module, and creates its release and templates.
func (b *bench) published() *localcluster.Registry {
	b.Helper()
	registry, err := localcluster.StartRegistry(b.Context(), localcluster.RegistryOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = registry.Stop() })
	for version, more := range map[string]string{"1.0.0": "", "1.1.0": secretReader} {
		_, err := component.Push(b.Context(), component.Registry{Host: registry.Host, PlainHTTP: true}, component.Version{
			Name: beaconName, Version: version, Provider: "example.com",
			Resources: []component.Resource{{Name: "raw-manifest", Data: beaconContent(version, more)}},
		})
		if err != nil {
			b.Fatal(err)
		}
		template := &v1beta2.ModuleTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: module.TemplateName("beacon", version)}}
		template.Spec.ModuleName, template.Spec.Version = "beacon", version
		template.Spec.Descriptor = runtime.RawExtension{Raw: []byte("{}")}
		template.Spec.RollbackTo = ">=1.0.0"
		b.create(template)
	}
	b.release("beacon", "regular", "1.0.0", "fast", "1.1.0")
	return registry
}

// kyma creates a Kyma, with the module in a version where one is given.
func (b *bench) kyma(registry *localcluster.Registry, name, version string, edits ...func(*v1beta2.Kyma)) *v1beta2.Kyma {
	b.Helper()
	no := false
	kyma := &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: name}}
	kyma.Spec = v1beta2.KymaSpec{Channel: "regular", Remote: &no, Modules: []v1beta2.Module{{Name: "beacon"}}}
	for _, edit := range edits {
		edit(kyma)
	}
	b.create(kyma)
	if version == "" {
		return kyma
	}
	b.create(b.manifest(registry, kyma, version))
	kyma.Status.State = v1beta2.StateReady
	kyma.Status.Modules = []v1beta2.ModuleStatus{{Name: "beacon", Channel: "regular", Version: version, State: v1beta2.StateReady, OCMComponentName: beaconName}}
	if err := b.Status().Update(b.Context(), kyma); err != nil {
		b.Fatal(err)
	}
	return kyma
}

// manifest returns the Manifest that the lifecycle manager writes for a Kyma and a version.
func (b *bench) manifest(registry *localcluster.Registry, kyma *v1beta2.Kyma, version string) *v1beta2.Manifest {
	b.Helper()
	reader := &descriptor.Reader{Registry: registry.Host, Registries: descriptor.Registries{PlainHTTP: true}}
	found, err := reader.Get(b.Context(), beaconName, version)
	if err != nil {
		b.Fatal(err)
	}
	installs, err := installable.Of(found)
	if err != nil {
		b.Fatal(err)
	}
	yes := true
	made := &v1beta2.Manifest{Spec: *module.ContentOf(version, installs)}
	made.ObjectMeta = metav1.ObjectMeta{
		Namespace: b.namespace, Name: module.ManifestName(kyma.Name, beaconName, "beacon"),
		Labels: map[string]string{
			v1beta2.LabelKymaName: kyma.Name, v1beta2.LabelModuleName: "beacon", v1beta2.LabelManagedBy: v1beta2.ManagedByLifecycleManager,
		},
		Annotations: map[string]string{v1beta2.AnnotationOCMComponentName: beaconName},
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: v1beta2.GroupVersion.String(), Kind: "Kyma", Name: kyma.Name, UID: kyma.UID, Controller: &yes,
		}},
	}
	made.Spec.CustomResourcePolicy = v1beta2.CustomResourcePolicyCreateAndDelete
	return made
}

// showsNoSecret fails where an output holds a value of a Secret.
func (b *bench) showsNoSecret(out string) {
	b.Helper()
	if strings.Contains(out, password) {
		b.Errorf("the output holds the value of a Secret:\n%s", out)
	}
}

func TestReleasePreview_SaysWhichValuesAreLeftOut(t *testing.T) {
	b := newBench(t)
	registry := b.published()
	kyma := b.kyma(registry, "alice", "1.0.0")
	manifest := &v1beta2.Manifest{}
	key := client.ObjectKey{Namespace: b.namespace, Name: module.ManifestName(kyma.Name, beaconName, "beacon")}
	if err := b.Get(t.Context(), key, manifest); err != nil {
		t.Fatal(err)
	}
	manifest.Spec.KymaValues = &v1beta2.EntryValues{From: []v1beta2.HashedValues{
		{ValuesReference: v1beta2.ValuesReference{Kind: v1beta2.ValuesSecret, Name: "login"}, Hash: "sha256:before"},
	}}
	if err := b.Update(t.Context(), manifest); err != nil {
		t.Fatal(err)
	}
	_, out, said := b.run("release", "preview", "beacon", "regular=1.1.0", "--registry=http://"+registry.Host)
	if want := "What changes is rendered without the values in Secret " + b.namespace + "/login: it is not there"; !strings.Contains(out, want) {
		t.Errorf("said %q, wrote\n%s", said, out)
	}
}

func TestReleasePreview(t *testing.T) {
	b := newBench(t)
	registry := b.published()
	b.kyma(registry, "alice", "1.0.0", func(k *v1beta2.Kyma) { k.Labels = map[string]string{"stage": "production"} })
	b.kyma(registry, "bob", "1.0.0", func(k *v1beta2.Kyma) { k.Labels = map[string]string{v1beta2.LabelSkipReconciliation: "true"} })
	b.kyma(registry, "carol", "", func(k *v1beta2.Kyma) { k.Labels = map[string]string{"ring": "canary"} })
	b.kyma(registry, "dave", "1.1.0", func(k *v1beta2.Kyma) { k.Spec.Modules[0].Channel = "fast" })
	plain := "--registry=http://" + registry.Host
	for name, test := range map[string]struct {
		code int
		args []string
	}{
		"preview":      {0, []string{"regular=1.1.0"}},
		"preview-all":  {1, []string{"regular=1.1.0", "--all", "--exit-code"}},
		"preview-json": {0, []string{"regular=1.1.0", "-o", "json"}},
		"preview-yaml": {0, []string{"stable=1.0.0", "-o", "yaml"}},
		"preview-same": {0, []string{"regular=1.0.0", "--exit-code"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := &bench{T: t, WithWatch: b.WithWatch, config: b.config, namespace: b.namespace}
			code, out, said := b.run(append([]string{"release", "preview", "beacon", plain}, test.args...)...)
			if code != test.code || said != "" {
				t.Errorf("exit code %d, want %d; said %q", code, test.code, said)
			}
			b.showsNoSecret(out)
			b.golden(name, out)
		})
	}
	t.Run("the registry is found in a Manifest", func(t *testing.T) {
		code, out, said := b.run("release", "preview", "beacon", "regular=1.1.0", "--registry-plain-http")
		if code != 0 || !strings.Contains(out, "May read every Secret") {
			t.Errorf("exit code %d, said %q, wrote\n%s", code, said, out)
		}
	})
	t.Run("a policy asks for consent to what it wants more", func(t *testing.T) {
		b := &bench{T: t, WithWatch: b.WithWatch, config: b.config, namespace: b.namespace}
		file := filepath.Join(t.TempDir(), "approvals.yaml")
		text := "rules: [{modules: [beacon], when: [NewRights], by: [Hub]}]"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		code, out, said := b.run("release", "preview", "beacon", "regular=1.1.0", plain, "--approval-file", file)
		if code != 0 || said != "" || !strings.Contains(out, "needs consent") {
			t.Errorf("exit code %d, said %q, wrote\n%s", code, said, out)
		}
	})
	t.Run("nor does it in a later wave, where the version has nothing of the kind", func(t *testing.T) {
		b := &bench{T: t, WithWatch: b.WithWatch, config: b.config, namespace: b.namespace}
		rollout := b.rollout("beacon")
		defer func() { _ = b.Delete(t.Context(), rollout) }()
		file := filepath.Join(t.TempDir(), "approvals.yaml")
		text := "rules: [{modules: [beacon], kymaSelector: {matchLabels: {stage: production}}, when: [NewWebhook], by: [Hub]}]"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		code, out, said := b.run("release", "preview", "beacon", "regular=1.1.0", plain, "--approval-file", file)
		if code != 0 || said != "" || !strings.Contains(out, "waits for the rollout") || strings.Contains(out, "needs consent") {
			t.Errorf("exit code %d, said %q, wrote\n%s", code, said, out)
		}
	})
	t.Run("without a registry, who gets it is told all the same", func(t *testing.T) {
		registry.Inject(localcluster.Down())
		defer registry.Inject(nil)
		code, out, said := b.run("release", "preview", "beacon", "regular=1.1.0", plain)
		if code != 0 || !strings.Contains(out, "upgrades at once") || !strings.Contains(out, "What changes is not shown") ||
			!strings.Contains(said, "Hint: ") {
			t.Errorf("exit code %d, said %q, wrote\n%s", code, said, out)
		}
	})
}

func TestReleasePreview_AsksARuntime(t *testing.T) {
	b := newBench(t)
	registry := b.published()
	b.kyma(registry, "alice", "1.0.0")
	plain := "--registry=http://" + registry.Host
	code, out, said := b.run("release", "preview", "beacon", "regular=1.1.0", plain, "--dry-run-in", "alice")
	if code != 0 || !strings.Contains(out, "DRY RUN in the runtime of Kyma "+b.namespace+"/alice") || !strings.Contains(out, "+ ClusterRole") {
		t.Errorf("exit code %d, said %q, wrote\n%s", code, said, out)
	}
	b.showsNoSecret(out)
	err := b.Get(t.Context(), client.ObjectKey{Name: "beacon-system"}, &corev1.Namespace{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("the dry run wrote the namespace: %v", err)
	}
	b.expect(4, "there is no Kyma", "release", "preview", "beacon", "regular=1.1.0", plain, "--dry-run-in", "nowhere")

	b.kyma(registry, "lost", "1.0.0", func(k *v1beta2.Kyma) { k.Spec.Remote = nil })
	code, out, said = b.run("release", "preview", "beacon", "regular=1.1.0", plain, "--dry-run-in", "lost", "--exit-code")
	if code <= 1 || said == "" || !strings.Contains(out, "WHO GETS IT") || strings.Contains(out, "DRY RUN") {
		t.Errorf("of a runtime that does not answer: exit code %d, said %q, wrote\n%s", code, said, out)
	}
}

func TestReleasePreview_Mistakes(t *testing.T) {
	b := newBench(t)
	registry := b.published()
	for line, want := range map[string]struct {
		code int
		says string
	}{
		"release preview beacon":                                                  {64, "a module and CHANNEL=VERSION are needed"},
		"release preview beacon regular":                                          {64, "a module and CHANNEL=VERSION are needed"},
		"release preview beacon =1.0.0":                                           {64, "is not CHANNEL=VERSION"},
		"release preview beacon regular=9.9.9":                                    {4, "there is no ModuleTemplate beacon-9.9.9"},
		"release preview beacons regular=1.1.0":                                   {4, "did you mean beacon?"},
		"release preview beacon regular=9.9.9 --exit-code":                        {4, "there is no ModuleTemplate beacon-9.9.9"},
		"release preview beacon regular=1.1.0 -o wide":                            {1, ""},
		"release preview beacon regular=1.1.0 --maintenance-policy-file /nowhere": {4, "/nowhere"},
	} {
		code, out, said := b.run(strings.Fields(line + " --registry=http://" + registry.Host)...)
		if code != want.code || !strings.Contains(said, want.says) {
			t.Errorf("%s: exit code %d, said %q, wrote %q", line, code, said, out)
		}
	}
}

func TestReleasePreview_SaysWhatMayNotBeRead(t *testing.T) {
	b := newBench(t)
	registry := b.published()
	b.kyma(registry, "alice", "1.0.0")
	releases := rbacv1.PolicyRule{
		APIGroups: []string{v1beta2.GroupVersion.Group}, Resources: []string{"modulereleasemetas", "moduletemplates", "modulerollouts", "kymas"},
		Verbs: []string{"get", "list"},
	}
	to := target.Of(b.user("reader", releases))
	code, _, said := b.runOn(t.Context(), to, &console.Console{}, "release", "preview", "beacon", "regular=1.1.0",
		"--registry=http://"+registry.Host, "--namespace", b.namespace)
	if code != 1 || !strings.Contains(said, "you may not list Manifest") {
		t.Errorf("exit code %d, said %q", code, said)
	}
}

func TestReleasePreview_CompletesModuleChannelAndVersion(t *testing.T) {
	b := newBench(t)
	b.published()
	p := &previewing{call: &call{console: &console.Console{}, target: b.scoped()}}
	command := releasePreview(p.call)
	command.SetContext(t.Context())
	for typed, want := range map[string]string{"": "regular= fast=", "regular=": "regular=1.1.0 regular=1.0.0"} {
		words, _ := p.complete(command, []string{b.namespace + "/beacon"}, typed)
		if got := strings.Join(words, " "); got != want {
			t.Errorf("%q completes to %q, want %q", typed, got, want)
		}
	}
	if words, _ := p.complete(command, nil, ""); len(words) == 0 {
		t.Error("no module is completed")
	}
}

// scoped returns a target for calls that read no flags.
func (b *bench) scoped() *target.Target { return target.Of(b.config) }
