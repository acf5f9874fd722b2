package hubsettings

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/takeover"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

func TestMain(m *testing.M) { apiserver.Main(m, apiserver.OurKinds) }

const weekends = `{"rules": [], "default": {"days": ["Sat", "Sun"], "begin": "00:00:00+00:00", "end": "06:00:00+00:00"}}`

// bench is a hub. There is one manager and one namespace of it, so that tests follow one another.
type bench struct {
	*testing.T
	client.WithWatch
}

func newBench(t *testing.T) *bench {
	t.Helper()
	apiserver.Need(t)
	b := &bench{t, apiserver.Client(t)}
	err := b.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: v1beta2.DefaultNamespace}})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	return b
}

// create creates an object for the time of the test.
func (b *bench) create(o client.Object) {
	b.Helper()
	if err := b.Create(b.Context(), o); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = b.Delete(context.WithoutCancel(b.Context()), o) })
}

// deploy creates the Deployment of a manager with some arguments, and with a ConfigMap where its maintenance policy is.
func (b *bench) deploy(policy string, args ...string) {
	b.Helper()
	labels := map[string]string{"app": "manager"}
	made := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: v1beta2.DefaultNamespace, Name: takeover.ManagerName}}
	made.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	made.Spec.Template.Labels = labels
	made.Spec.Template.Spec.Containers = []corev1.Container{{Name: "manager", Image: "example.com/manager:1", Args: args}}
	if policy != "" {
		pod := &made.Spec.Template.Spec
		pod.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "policy", MountPath: "/etc/maintenance-policy"}}
		pod.Volumes = []corev1.Volume{{Name: "policy", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: policy},
		}}}}
	}
	b.create(made)
}

func (b *bench) configMap(name, text string) {
	b.Helper()
	b.create(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: v1beta2.DefaultNamespace, Name: name}, Data: map[string]string{"policy.json": text},
	})
}

func (b *bench) read(files Files) Settings {
	b.Helper()
	read, err := Read(b.Context(), b, files)
	if err != nil {
		b.Fatal(err)
	}
	return read
}

func readFile(_ context.Context, name string) ([]byte, error) { return os.ReadFile(name) }

func TestRead_TakesTheFlagsOfTheManager(t *testing.T) {
	b := newBench(t)
	b.deploy("", "--oci-registry-host=http://registry.example.com", "--modules-repository-subpath", "kyma/modules",
		"--component-name-mapping=sha256-digest", "--restricted-default-modules=one, two")
	got := b.read(Files{})
	if got.Place.Registry != "http://registry.example.com/kyma/modules" || got.Place.Mapping != "sha256-digest" || got.Place.From == "" {
		t.Errorf("%+v", got.Place)
	}
	if !got.Known || !slices.Equal(got.Restricted, []string{"one", "two"}) || len(got.Unread) > 0 {
		t.Errorf("%+v", got)
	}
	if !got.WindowsKnown || got.Windows != nil {
		t.Errorf("a manager without a mounted policy has none, and that is known: %+v", got)
	}
}

func TestRead_TakesTheMaintenancePolicyOfTheManager(t *testing.T) {
	for name, test := range map[string]struct {
		text    string
		known   bool
		windows int
		least   time.Duration
		says    string
	}{
		"a policy":                   {weekends, true, 1, 2 * time.Hour, ""},
		"one that is not understood": {"{", false, 0, 0, "is not understood"},
		"an empty one":               {"", true, 0, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.configMap("windows", test.text)
			b.deploy("windows", "--min-maintenance-window-size=2h")
			got := b.read(Files{})
			if got.WindowsKnown != test.known || !strings.Contains(strings.Join(got.Unread, " "), test.says) {
				t.Fatalf("%+v", got)
			}
			if test.windows > 0 && (got.Windows == nil || len(got.Windows.Default) != test.windows || got.Windows.MinRemaining != test.least) {
				t.Errorf("%+v", got.Windows)
			}
		})
	}
	t.Run("a ConfigMap that is not there", func(t *testing.T) {
		b := newBench(t)
		b.deploy("missing")
		if got := b.read(Files{}); !got.WindowsKnown || got.Windows != nil {
			t.Errorf("%+v", got)
		}
	})
}

const rules = `rules: [{modules: ["*"], when: [Always], by: [Hub]}]`

func TestRead_TakesTheApprovalPolicyOfTheManager(t *testing.T) {
	t.Run("without the flag there is none", func(t *testing.T) {
		b := newBench(t)
		b.deploy("")
		if got := b.read(Files{}); got.Approvals != nil || len(got.Unread) > 0 {
			t.Errorf("%+v", got)
		}
	})
	for name, test := range map[string]struct{ file, text, says string }{
		"a policy":                   {"/etc/maintenance-policy/policy.json", rules, ""},
		"one that is not understood": {"/etc/maintenance-policy/policy.json", "{", "the approval policy of the lifecycle manager is not understood"},
		"one that is in no ConfigMap": {"/etc/approvals/approvals.yaml", "",
			"the approval policy at /etc/approvals/approvals.yaml of the lifecycle manager is in no ConfigMap"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.configMap("approvals", test.text)
			b.deploy("approvals", "--approval-file="+test.file, "--maintenance-policy-file=/nowhere/policy.json")
			got := b.read(Files{})
			says := "the maintenance policy at /nowhere/policy.json of the lifecycle manager is in no ConfigMap"
			if got.WindowsKnown || !strings.HasPrefix(strings.Join(got.Unread, " "), says) {
				t.Errorf("of the maintenance policy: %+v", got)
			}
			if (got.Approvals != nil) != (test.says == "") || len(got.Unread) > 1 != (test.says != "") ||
				!strings.HasPrefix(got.Unread[len(got.Unread)-1], cmp.Or(test.says, says)) {
				t.Errorf("%+v", got)
			}
		})
	}
	t.Run("a file of the user comes first", func(t *testing.T) {
		b := newBench(t)
		b.deploy("")
		file := filepath.Join(t.TempDir(), "approvals.yaml")
		if err := os.WriteFile(file, []byte(rules), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := b.read(Files{Approvals: file, ReadFile: readFile}); got.Approvals == nil {
			t.Errorf("%+v", got)
		}
		if _, err := Read(t.Context(), b, Files{Approvals: file + ".missing", ReadFile: readFile}); err == nil {
			t.Error("a missing file was accepted")
		}
	})
}

func TestRead_PrefersTheFileOfTheUser(t *testing.T) {
	b := newBench(t)
	b.configMap("windows", "{")
	b.deploy("windows")
	file := filepath.Join(t.TempDir(), "policy.json")
	if err := os.WriteFile(file, []byte(weekends), 0o600); err != nil {
		t.Fatal(err)
	}
	got := b.read(Files{Windows: file, ReadFile: readFile})
	if !got.WindowsKnown || got.Windows == nil || len(got.Unread) > 0 {
		t.Errorf("%+v", got)
	}
	for _, bad := range []string{file + ".missing", t.TempDir()} {
		if _, err := Read(t.Context(), b, Files{Windows: bad, ReadFile: readFile}); err == nil {
			t.Errorf("%s was accepted", bad)
		}
	}
}

func TestRead_SaysWhatIsNotKnown(t *testing.T) {
	b := newBench(t)
	if got := b.read(Files{}); got.Known || got.WindowsKnown || len(got.Unread) != 1 || !strings.Contains(got.Unread[0], "outside of this cluster") {
		t.Errorf("without a Deployment: %+v", got)
	}
	b.configMap("windows", weekends)
	b.deploy("windows")
	config, err := apiserver.Start()
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		resources []string
		says      string
		known     bool
	}{
		"a user without any right":                 {nil, "the flags of the lifecycle manager cannot be read", false},
		"a user who may read the Deployment alone": {[]string{"deployments"}, "ConfigMap kcp-system/windows cannot be read", true},
	} {
		user := "user-" + strings.Join(append(test.resources, "x"), "-")
		if test.resources != nil {
			rule := rbacv1.PolicyRule{APIGroups: []string{"apps"}, Resources: test.resources, Verbs: []string{"get"}}
			in := metav1.ObjectMeta{Namespace: v1beta2.DefaultNamespace, Name: user}
			b.create(&rbacv1.Role{ObjectMeta: in, Rules: []rbacv1.PolicyRule{rule}})
			b.create(&rbacv1.RoleBinding{
				ObjectMeta: in, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
				Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
			})
			apiserver.Allowed(t, b, user, v1beta2.DefaultNamespace, rule)
		}
		as := rest.CopyConfig(config)
		as.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:authenticated"}}
		c, err := client.New(as, client.Options{Scheme: b.Scheme()})
		if err != nil {
			t.Fatal(err)
		}
		got, err := Read(t.Context(), c, Files{})
		if err != nil || got.Known != test.known || got.WindowsKnown || !strings.Contains(strings.Join(got.Unread, " "), test.says) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestFindPlace_TakesThatOfAManifest(t *testing.T) {
	b := newBench(t)
	none := Settings{}
	if at := none.FindPlace(t.Context(), b, v1beta2.DefaultNamespace, "beacon"); at.Registry != "" {
		t.Errorf("%+v", at)
	}
	for name, repo := range map[string]string{"beacon": "one.example.com/component-descriptors", "other": "two.example.com/component-descriptors"} {
		m := &v1beta2.Manifest{ObjectMeta: metav1.ObjectMeta{
			Namespace: v1beta2.DefaultNamespace, Name: name,
			Labels: map[string]string{v1beta2.LabelModuleName: name, v1beta2.LabelManagedBy: v1beta2.ManagedByLifecycleManager},
		}}
		m.Spec.Version, m.Spec.CustomResourcePolicy = "1.0.0", v1beta2.CustomResourcePolicyCreateAndDelete
		m.Spec.Install = v1beta2.InstallInfo{Name: "raw-manifest", Source: runtime.RawExtension{
			Raw: []byte(`{"repo":"` + repo + `","name":"x","ref":"sha256:aa","type":"oci-ref"}`),
		}}
		b.create(m)
	}
	if at := none.FindPlace(t.Context(), b, v1beta2.DefaultNamespace, "beacon"); at.Registry != "one.example.com" || at.From != "Manifest beacon" {
		t.Errorf("%+v", at)
	}
	if at := none.FindPlace(t.Context(), b, v1beta2.DefaultNamespace, "new"); at.Registry == "" {
		t.Error("that of another module would do")
	}
	told := Settings{}
	told.Place.Registry = "three.example.com"
	if at := told.FindPlace(t.Context(), b, v1beta2.DefaultNamespace, "beacon"); at.Registry != "three.example.com" {
		t.Errorf("%+v", at)
	}
}
