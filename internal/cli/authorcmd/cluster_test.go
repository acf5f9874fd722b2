package authorcmd_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
	"github.com/kyma-project/lifecycle-manager/internal/client/directinstall"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

func TestReleasesAndTrialsInACluster(t *testing.T) {
	apiserver.Need(t)
	server := &envtest.Environment{
		CRDDirectoryPaths: []string{"../../../config/crd/bases"}, CRDInstallOptions: envtest.CRDInstallOptions{MaxTime: time.Minute},
	}
	config, err := server.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	c, err := client.New(config, client.Options{Scheme: target.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	s := open(t)
	s.target = target.Of(config)
	for _, version := range []string{"0.1.0", "0.2.0"} {
		template := &v1beta2.ModuleTemplate{
			ObjectMeta: metav1.ObjectMeta{Name: "notes-" + version, Namespace: "default"},
			Spec:       v1beta2.ModuleTemplateSpec{ModuleName: "notes", Version: version},
		}
		if err := c.Create(t.Context(), template); err != nil {
			t.Fatal(err)
		}
	}
	in := []string{"--namespace", "default"}
	set := append([]string{"release", "set", "notes"}, in...)
	s.refused(4, "there is no ModuleReleaseMeta notes", append(set, "regular=0.1.0")...)
	s.ok(append(set, "regular=0.1.0", "fast=0.1.0", "--component", component)...)
	s.refused(4, "no ModuleTemplate notes-0.3.0", append(set, "fast=0.3.0")...)
	s.ok(append(set, "fast=0.2.0", "--dry-run=server")...)
	s.ok(append(set, "fast=0.2.0", "--dry-run=client")...)
	if channels := offered(t, c); channels != "regular=0.1.0 fast=0.1.0" {
		t.Errorf("after dry runs there is %s", channels)
	}
	if _, said := s.ok(append(set, "fast=0.2.0")...); !strings.Contains(said, "0.1.0 and 0.2.0 are not compared: set --registry") {
		t.Errorf("templates that do not say where their components are: %q", said)
	}
	out, _ := s.ok(append([]string{"release", "promote", "notes", "fast", "regular"}, in...)...)
	s.golden("promote.out", "", out)
	if channels := offered(t, c); channels != "regular=0.2.0 fast=0.2.0" {
		t.Errorf("after promote there is %s", channels)
	}
	if _, said := s.ok(append(set, "fast=0.2.0")...); !strings.Contains(said, "nothing changed") {
		t.Errorf("the same again said %q", said)
	}

	t.Run("a mirror of what the hub offers", func(t *testing.T) { mirrorsAHub(&shell{T: t, target: s.target}) })

	t.Run("a release that goes out in waves", func(t *testing.T) { releasesInWaves(&shell{T: t, target: s.target}, config, c) })

	t.Run("a version that needs what is not offered", func(t *testing.T) { needsWhatIsNotOffered(&shell{T: t, target: s.target}, c) })

	// No controller runs here: a trial is applied, and never becomes available.
	s.ok("module", "init", "trial")
	if _, said := s.ok("module", "run", "trial", "--wait=false"); !strings.Contains(said, "Cluster: "+config.Host) {
		t.Errorf("where it goes is not said: %q", said)
	}
	s.ok("module", "run", "trial", "--cleanup", "--wait=false")
	t.Run("a chart with values", func(t *testing.T) { installsAChart(&shell{T: t, target: s.target}, config, c) })
}

// installsAChart checks that the values of a configuration are applied: in a trial, and if the module that create published is installed.
func installsAChart(s *shell, config *rest.Config, c client.Client) {
	chart(s.T, "charted", "values: values.yaml\ntargetNamespace: notes-system\n")
	colour := func() string {
		found := &corev1.ConfigMap{}
		if err := c.Get(s.Context(), client.ObjectKey{Namespace: "notes-system", Name: "notes"}, found); err != nil {
			s.Fatal(err)
		}
		return found.Data["colour"]
	}
	s.ok("module", "run", "charted")
	if got := colour(); got != "violet" {
		s.Errorf("run has the colour %q", got)
	}
	s.ok("module", "run", "charted", "--cleanup")

	host, address := registry(s.T)
	s.ok("module", "create", "charted", "-r", address, "--no-git", "-o", "charted.yaml")
	template := &v1beta2.ModuleTemplate{}
	if err := yaml.Unmarshal([]byte(read(s.T, "charted.yaml")), template); err != nil {
		s.Fatal(err)
	}
	template.Namespace = ""
	report, err := directinstall.Install(s.Context(), directinstall.Plan{
		Config: config, Template: template, Component: &directinstall.Component{Registry: host, Name: component},
		Access: directinstall.Access{PlainHTTP: true}, Unmanaged: true, Wait: time.Minute,
	})
	if err != nil || !report.Ready {
		s.Fatalf("%+v %v", report, err)
	}
	if got := colour(); got != "violet" {
		s.Errorf("what is installed has the colour %q", got)
	}
}

// offered returns the versions that the channels offer.
func offered(t *testing.T, c client.Client) string {
	t.Helper()
	meta := &v1beta2.ModuleReleaseMeta{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "notes"}, meta); err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, channel := range meta.Spec.Channels {
		words = append(words, channel.Channel+"="+channel.Version)
	}
	return strings.Join(words, " ")
}
