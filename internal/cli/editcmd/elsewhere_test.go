package editcmd

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// remote creates a Kyma of another cluster, and its access Secret.
func (b *bench) remote(name string, kubeconfig []byte) {
	b.Helper()
	remote := true
	b.create(&v1beta2.Kyma{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: name}, Spec: v1beta2.KymaSpec{Channel: "regular", Remote: &remote},
	})
	if kubeconfig == nil {
		return
	}
	b.create(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: name, Labels: map[string]string{v1beta2.LabelKymaName: name}},
		Data:       map[string][]byte{v1beta2.AccessSecretKey: kubeconfig},
	})
}

// TestElsewhere_WhatIsInstalledDirectlyCountsWhereTheModulesAre: in the runtime of a remote Kyma, and not in its hub.
func TestElsewhere_WhatIsInstalledDirectlyCountsWhereTheModulesAre(t *testing.T) {
	runtime, b := plainCluster(t), newBench(t)
	templates, ca, _ := runtime.linked("")
	runtime.steps(step{"add widget@0.1.0 --community --template " + templates + " --registry-ca-file " + ca, 0, []string{"enabled"}})
	kubeconfig, err := localcluster.KubeconfigOf("runtime", runtime.config)
	if err != nil {
		t.Fatal(err)
	}
	b.release("widget", "regular", "0.1.0")
	b.template("widget", "0.1.0")
	b.remote("demo", kubeconfig)
	b.remote("broken", []byte("{}"))
	b.remote("early", nil)
	b.steps(
		step{"add widget --kyma demo --wait=false", 1, []string{"widget is installed without the lifecycle manager"}},
		step{"upgrade widget --kyma demo", 4, []string{"has no module widget", "installed directly in the cluster of the Kyma"}},
		step{"manage widget --kyma demo", 4, []string{"installed directly in the cluster of the Kyma"}},
		step{"reconcile widget --kyma demo", 4, []string{"installed directly in the cluster of the Kyma"}},
		step{"add notes --kyma demo --wait=false", 0, []string{"enabled"}},
		step{"add widget --kyma broken --wait=false", 0, []string{"enabled", "cannot be seen", "Secret " + b.namespace + "/broken"}},
	)
	code, out, said := b.run(strings.Fields("add widget --kyma early --wait=false")...)
	if code != 0 || !strings.Contains(out, "enabled") || strings.Contains(said, "cannot be seen") {
		t.Errorf("nothing leads to its cluster yet, so that nothing is there: %d %s %s", code, out, said)
	}
}

// TestElsewhere_WhatTheHubHasItselfIsInNobodysWay: the same module may be in a runtime.
func TestElsewhere_WhatTheHubHasItselfIsInNobodysWay(t *testing.T) {
	b := newBench(t)
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	gizmo := testkit.Unique("gizmo")
	server, ca, _ := b.growingCatalog(gizmo)
	trust := " --allow-private-catalogs --ca-file " + ca
	b.steps(
		step{"catalog pull " + gizmo + trust + " --from " + server.URL + "/all-modules.yaml", 0, []string{"pulled"}},
		step{"add " + gizmo + " --community --registry-ca-file " + ca, 0, []string{"enabled"}},
	)
	b.release(gizmo, "regular", "0.1.0", "slow", "0.0.9")
	b.remote("early", nil)
	b.steps(
		step{"add " + gizmo + " --kyma early --wait=false", 0, []string{"enabled"}},
		step{"delete " + gizmo + " --kyma early --yes --wait=false", 0, []string{"disabled"}},
	)
	b.steps( // and it is not meant if a Kyma of another cluster is named
		step{"delete " + gizmo + " --kyma early --yes --wait=false", 0, []string{"unchanged"}},
		step{"upgrade " + gizmo + " --kyma early", 4, []string{"has no module " + gizmo}},
		step{"diff " + gizmo + " --kyma early", 1, []string{"+  modules:"}},
	)
	b.kyma("local")
	record := "manifest.module-" + gizmo
	b.steps(
		step{"add " + gizmo + " --kyma local --wait=false", 1, []string{"without the lifecycle manager", "--adopt hands it over"}},
		step{"manage " + gizmo + " --kyma local", 4, []string{"it is installed directly: kyma add"}},
		step{"add " + gizmo + "@9.0.0 --kyma local --wait=false --adopt --yes", 4, []string{"9.0.0"}},
		step{"add " + gizmo + ":slow --kyma local --wait=false --adopt --yes", 1, []string{"0.0.9", "lower than 0.1.0", gizmo + "@0.1.0 --adopt"}},
		step{"add " + gizmo + " --kyma local --wait=false --adopt", 64, []string{"handing " + gizmo + " over", "--yes confirms it"}},
		step{"add " + gizmo + " --kyma local --adopt --dry-run=server", 0, []string{"Kept ", "without an owner", "enabled (dry run)"}},
	)
	if b.entries("local") != "" || b.seen("v1", "Secret", record) == nil {
		b.Fatal("what was refused or only shown was done")
	}
	b.steps(step{"add " + gizmo + " --kyma local --wait=false --adopt --yes", 0, []string{"enabled"}})
	if b.entries("local") != gizmo || b.seen("v1", "Secret", record) != nil {
		b.Errorf("the Kyma has %q, and the record of the direct installation is there: %t", b.entries("local"), b.seen("v1", "Secret", record) != nil)
	}
}
