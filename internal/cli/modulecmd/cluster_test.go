package modulecmd_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
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
	c, err := client.New(config, client.Options{Scheme: target.Scheme})
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
	if _, said := s.ok(append(set, "fast=0.2.0")...); !strings.Contains(said, "0.1.0 and 0.2.0 are not compared: --registry") {
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

	// No controller runs here: what is tried is applied, and never becomes available.
	s.ok("module", "init", "trial")
	if _, said := s.ok("module", "run", "trial", "--wait=false"); !strings.Contains(said, "Cluster: "+config.Host) {
		t.Errorf("where it goes is not said: %q", said)
	}
	s.ok("module", "run", "trial", "--cleanup", "--wait=false")
}

// offered is what the channels offer.
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
