package hostile

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// attack is the attack of one spec on the manager.
type attack struct {
	// set sets the trap for a target.
	set func(target) *trap
	// content of the module; by default two ConfigMaps.
	content func(module string) testkit.Content
	// synced makes the runtime a synchronised one, with a Kyma in it.
	synced bool
	// harmless reports whether the Kyma becomes Ready despite the attack.
	harmless bool
	// either reports whether it may become Ready, but need not.
	either bool
	// tells is part of the message of the Kyma or its Manifest; empty for an attack that is noticed too late for a test to wait for.
	tells string
	// lasts is the minimum number of memory samples while it continues: at most ten a second, so that a busy machine does not end the attack
	// before it was measured. Zero means short.
	lasts int
	// atMost is how often the attack may be met in dwell, which is at least a second; zero means any number.
	atMost int64
	dwell  time.Duration
	// wakes is how often Manifests may be reconciled meanwhile, in total; zero means any number.
	wakes float64
}

// The number of samples that an attack lasts.
const short, long = 3, 8

// target is the target of an attack.
type target struct{ kyma, module string }

// manifest returns the name of the target's Manifest.
func (v target) manifest() string {
	return module.ManifestName(v.kyma, testkit.ComponentName(v.module), v.module)
}

// struck are Kymas and Manifests that are being deleted, and must all be gone in the end.
var struck []client.Object

// strike carries out an attack. It is no helper: otherwise a table would report a failure somewhere in package reflect.
func strike(a attack) {
	v := target{kyma: testkit.Unique("victim"), module: offer(a.content)}
	before := neighbour.snapshot()
	if a.wakes > 0 {
		expectAllGone() // earlier victims are reconciled until then
	}
	t := a.set(v)
	base, passes := memory.begin(), reconciled()
	defer t.spring()
	victim := testkit.Kyma(v.kyma, testkit.WithModule(v.module))
	if !a.synced {
		testkit.Unsynced()(victim)
	}
	env.Hub.Create(testkit.NewAccessSecret(victim.Name, t.kubeconfig()), victim)
	DeferCleanup(deleteKyma, victim)

	Eventually(t.met.Load).ShouldNot(BeZero(), "the attack is met")
	met := make(chan int64, 1)
	time.AfterFunc(max(a.dwell, time.Second), func() { met <- t.met.Load() })
	expectBystander()
	expectVerdict(a, victim, v.module)
	passes = reconciled() - passes // the samples below may take any time
	Eventually(memory.samples, time.Minute).Should(BeNumerically(">=", max(a.lasts, short)))
	rise := int64(memory.highest()) - int64(base)
	AddReportEntry("memory", fmt.Sprintf("%+.1f MiB, met %d times, %g passes", float64(rise)/(1<<20), t.met.Load(), passes))
	Expect(rise).To(BeNumerically("<", most), "memory that the attack took")
	if a.atMost > 0 {
		Expect(<-met).To(BeNumerically("<=", a.atMost), "how often the attack was met")
	}
	if a.wakes > 0 {
		Expect(passes).To(BeNumerically("<=", a.wakes), "how often Manifests were reconciled")
	}
	neighbour.expectUntouched(before)
	Expect(t.wrong).To(BeEmpty(), "credentials of others")
	expectNoLeaks()
}

// reconciled returns how often Manifests were reconciled so far.
func reconciled() (sum float64) {
	GinkgoHelper()
	families, err := metrics.Registry.Gather()
	Expect(err).NotTo(HaveOccurred())
	for _, family := range families {
		if family.GetName() != "controller_runtime_reconcile_total" {
			continue
		}
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if label.GetName() == "controller" && label.GetValue() == "manifest" {
					sum += metric.GetCounter().GetValue()
				}
			}
		}
	}
	return sum
}

// expectBystander installs a module for another user meanwhile.
func expectBystander() {
	GinkgoHelper()
	kyma := testkit.Kyma(testkit.Unique("bystander"), testkit.Unsynced(), testkit.WithModule(offer(nil)))
	env.AccessSecret(kyma.Name, env.Runtimes[0])
	begun := time.Now()
	env.Hub.Create(kyma)
	DeferCleanup(deleteKyma, kyma)
	Eventually(testkit.Live(env.Hub, kyma), quick).Should(testkit.HaveState(v1beta2.StateReady), "another Kyma installs meanwhile")
	AddReportEntry("bystander", time.Since(begun).Round(time.Millisecond).String())
}

func expectVerdict(a attack, victim *v1beta2.Kyma, module string) {
	GinkgoHelper()
	switch {
	case a.either:
	case a.harmless:
		Eventually(testkit.Live(env.Hub, victim)).Should(testkit.HaveState(v1beta2.StateReady))
	case a.tells == "":
		Expect(testkit.Live(env.Hub, victim)()).NotTo(testkit.HaveState(v1beta2.StateReady))
	default:
		Eventually(func() (string, error) { return said(victim.Name, module) }, verdict).Should(ContainSubstring(a.tells))
		Eventually(testkit.Live(env.Hub, victim)).ShouldNot(testkit.HaveState(v1beta2.StateReady))
	}
	text, err := said(victim.Name, module)
	Expect(err).NotTo(HaveOccurred())
	Expect(len(text)).To(BeNumerically("<", 16<<10), "a status stays readable: %s", text)
}

// said returns the status of a Kyma and of its Manifest as text.
func said(kyma, module string) (string, error) {
	ctx := context.Background()
	live := &v1beta2.Kyma{}
	if err := env.Hub.Client.Get(ctx, client.ObjectKey{Namespace: v1beta2.DefaultNamespace, Name: kyma}, live); err != nil {
		return "", err
	}
	text, err := json.Marshal(live.Status)
	if err != nil {
		return "", err
	}
	var manifests v1beta2.ManifestList
	err = env.Hub.Client.List(ctx, &manifests, client.MatchingLabels{v1beta2.LabelKymaName: kyma, v1beta2.LabelModuleName: module})
	for i := range manifests.Items {
		status, err := json.Marshal(manifests.Items[i].Status)
		if err != nil {
			return "", err
		}
		text = append(text, status...)
	}
	return string(text), err
}

// deleteKyma deletes a Kyma without waiting. Its access Secret goes first: a hostile runtime must not hold the deletion.
func deleteKyma(kyma *v1beta2.Kyma) {
	GinkgoHelper()
	env.Hub.Delete(testkit.NewAccessSecret(kyma.Name, nil), kyma)
	struck = append(struck, kyma)
}

func expectAllGone() {
	GinkgoHelper()
	for _, kyma := range struck {
		Eventually(testkit.Gone(env.Hub, kyma)).Should(BeTrue(), "%s is gone", kyma.GetName())
	}
}

// offer offers a new module.
func offer(content func(module string) testkit.Content) string {
	GinkgoHelper()
	if content == nil {
		content = twoMaps
	}
	module := testkit.Unique("module")
	env.Offer(module, "1.0.0", content(module), v1beta2.DefaultChannel)
	return module
}

func twoMaps(module string) testkit.Content { return testkit.ConfigMaps(module, "1.0.0", 2) }

// many returns as many objects as are written at once.
func many(module string) testkit.Content { return testkit.ConfigMaps(module, "1.0.0", 12) }
