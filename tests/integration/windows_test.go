package integration

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/setup"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// windowFrom returns a policy with one window for Kymas of a plan: an hour from a moment on.
func windowFrom(begin time.Time) []byte {
	GinkgoHelper()
	data, err := json.Marshal(map[string]any{"rules": []any{map[string]any{
		"match": map[string]any{"plan": "^azure$"},
		"windows": []any{map[string]any{
			"days": []string{}, "begin": begin.Format(time.RFC3339), "end": begin.Add(time.Hour).Format(time.RFC3339),
		}},
	}}})
	Expect(err).NotTo(HaveOccurred())
	return data
}

var _ = Describe("An upgrade that needs downtime", Ordered, func() {
	var policyFile string

	write := func(data []byte) {
		GinkgoHelper()
		Expect(os.WriteFile(policyFile+".new", data, 0o600)).To(Succeed())
		Expect(os.Rename(policyFile+".new", policyFile)).To(Succeed())
	}

	BeforeAll(func() {
		policyFile = filepath.Join(GinkgoT().TempDir(), "policy.json")
		stopManager()
		startManager(func(c *setup.Config) { c.WindowsFile = policyFile })
		DeferCleanup(func() {
			stopManager()
			startManager()
		})
	})

	// upgraded is a Kyma with a module at 1.0.0, of which 2.0.0 needs downtime and is on its channel by now.
	upgraded := func(options ...testkit.KymaOption) (*v1beta2.Kyma, string) {
		GinkgoHelper()
		module := testkit.Unique("maps")
		env.Offer(module, "1.0.0", testkit.ConfigMaps(module, "1.0.0", 1), "regular")
		options = append(options, testkit.WithModule(module), testkit.Labelled("kyma-project.io/broker-plan-name", "azure"))
		kyma := readyLocal(options...)
		env.Publish(testkit.ComponentName(module), "2.0.0", testkit.RawManifest(testkit.ConfigMaps(module, "2.0.0", 1).YAML()))
		env.Hub.Create(testkit.ModuleTemplate(module, "2.0.0", func(spec *v1beta2.ModuleTemplateSpec) { spec.RequiresDowntime = true }))
		env.Point(module, "2.0.0", "regular")
		return kyma, module
	}
	waiting := func(kyma *v1beta2.Kyma, module string, opens time.Time) {
		GinkgoHelper()
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(
			testkit.HaveState(v1beta2.StateReady),
			testkit.HaveCondition(v1beta2.ConditionReady, metav1.ConditionTrue, v1beta2.ReasonWaitingForMaintenanceWindow),
			testkit.HaveModule(module, testkit.HaveState(v1beta2.StateReady), testkit.HaveVersion("1.0.0"), HaveField("Maintenance", true),
				HaveField("Message", ContainSubstring(opens.UTC().Format(time.RFC3339))))))
	}
	done := func(kyma *v1beta2.Kyma, module string) {
		GinkgoHelper()
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(
			testkit.HaveCondition(v1beta2.ConditionReady, metav1.ConditionTrue, v1beta2.ReasonReady),
			testkit.HaveModule(module, testkit.HaveState(v1beta2.StateReady), testkit.HaveVersion("2.0.0"), HaveField("Maintenance", false))))
		Expect(versionIn(env.Hub, module+"-0")()).To(Equal("2.0.0"))
	}

	It("is refused without a policy, waits when one comes, and starts when another one opens a window", func() {
		kyma, module := upgraded()
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(
			testkit.HaveCondition(v1beta2.ConditionReady, metav1.ConditionFalse, v1beta2.ReasonMaintenanceWindowUnknown),
			testkit.HaveModule(module, testkit.HaveState(v1beta2.StateError), testkit.HaveVersion("1.0.0"))))
		tomorrow := time.Now().Add(24 * time.Hour)
		write(windowFrom(tomorrow))
		waiting(kyma, module, tomorrow)
		Consistently(versionIn(env.Hub, module+"-0")).Should(Equal("1.0.0"))
		write([]byte("nonsense"))
		Consistently(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
		write(windowFrom(time.Now().Add(-10 * time.Minute)))
		done(kyma, module)
	})

	It("starts by itself when its window opens", func() {
		write(windowFrom(time.Now().Add(24 * time.Hour)))
		kyma, module := upgraded()
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveModule(module, HaveField("Maintenance", true)))
		soon := time.Now().Add(20 * time.Second)
		write(windowFrom(soon))
		waiting(kyma, module, soon)
		done(kyma, module)
	})

	It("starts when the Kyma does not want to wait any more", func() {
		tomorrow := time.Now().Add(24 * time.Hour)
		write(windowFrom(tomorrow))
		kyma, module := upgraded()
		waiting(kyma, module, tomorrow)
		testkit.Edit(env.Hub, kyma, func(k *v1beta2.Kyma) { k.Spec.SkipMaintenanceWindows = true })
		done(kyma, module)
	})

	It("needs no window to be the first installation", func() {
		write(windowFrom(time.Now().Add(24 * time.Hour)))
		module := testkit.Unique("maps")
		env.Offer(module, "1.0.0", testkit.ConfigMaps(module, "1.0.0", 1), "regular")
		testkit.Edit(env.Hub, testkit.ModuleTemplate(module, "1.0.0"), func(t *v1beta2.ModuleTemplate) { t.Spec.RequiresDowntime = true })
		readyLocal(testkit.WithModule(module))
		Expect(versionIn(env.Hub, module+"-0")()).To(Equal("1.0.0"))
	})
})
