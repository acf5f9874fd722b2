package integration

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apitypes "k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// hookJob returns a Job of a chart. Where the value "hold" is set it is suspended, which stands for a program that takes its time; where
// the value "broken" names it no node takes its pod, and it fails.
func hookJob(name, events, more string) string {
	return fmt.Sprintf(`apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .Chart.Name }}-%[1]s
  annotations: {helm.sh/hook: %[2]q%[3]s}
spec:
  suspend: {{ .Values.hold }}
  backoffLimit: 0
{{- if eq .Values.broken %[1]q }}
  activeDeadlineSeconds: 1
{{- end }}
  template:
    spec:
      restartPolicy: Never
      containers: [{name: migrate, image: registry.example.com/migrate:1}]
{{- if eq .Values.broken %[1]q }}
      nodeSelector: {takes: none}
{{- end }}
---
`, name, events, more)
}

// chartWithHooks returns a chart with the shapes of public ones: Jobs before and after an installation and an upgrade, with rights and
// weights, a Secret that a program fills once, and Jobs of the removal.
func chartWithHooks(name string) testkit.Files {
	const rights = `  annotations: {helm.sh/hook: "pre-install,pre-upgrade", helm.sh/hook-weight: "-5", helm.sh/hook-delete-policy: "before-hook-creation,hook-succeeded"}
`
	return testkit.Chart(name, "1.0.0", testkit.Files{
		"values.yaml": "colour: grey\nhold: false\nbroken: none\n",
		"templates/rights.yaml": "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: {{ .Chart.Name }}-migrate\n" + rights +
			"---\napiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata:\n  name: {{ .Chart.Name }}-migrate\n" + rights +
			"rules: [{apiGroups: [''], resources: [secrets], verbs: [get]}]\n",
		"templates/secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata:\n  name: {{ .Chart.Name }}-init\n" +
			"  annotations: {helm.sh/hook: pre-install, helm.sh/hook-weight: \"-6\"}\n",
		"templates/jobs.yaml": hookJob("before", "pre-install,pre-upgrade", "") + hookJob("after", "post-install,post-upgrade", "") +
			hookJob("leaves", "pre-delete", `, helm.sh/hook-delete-policy: "hook-failed"`) + hookJob("left", "post-delete", ""),
		"templates/settings.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Chart.Name }}-settings}\n" +
			"data: {colour: {{ .Values.colour }}}\n",
	})
}

var _ = Describe("The hooks of a chart", func() {
	var (
		chart    string
		manifest *v1beta2.Manifest
	)
	in := func(suffix string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: chart + "-" + suffix}
	}
	job := func(suffix string) *batchv1.Job { return &batchv1.Job{ObjectMeta: in(suffix)} }
	install := func(values string) {
		GinkgoHelper()
		chart = testkit.Unique("chart")
		manifest = standAlone(env.PushLayer(chartWithHooks(chart).Gzip(), v1beta2.RefTypeHelmChart), withValues(values))
	}
	waits := func(state v1beta2.State, event, suffix string) {
		GinkgoHelper()
		Eventually(testkit.Live(env.Hub, manifest)).Should(tells(state, v1beta2.ReasonWaitingForHook, "hook "+event, chart+"-"+suffix))
	}
	goOn := func(suffix string) {
		GinkgoHelper()
		no := false
		testkit.Edit(env.Runtimes[0], job(suffix), func(j *batchv1.Job) { j.Spec.Suspend = &no })
	}
	colour := func(colour string) types.GomegaMatcher { return HaveKeyWithValue("colour", colour) }
	reached := func(event string, done, total int32) types.GomegaMatcher {
		return HaveField("Status.Resolved", ContainElement(HaveField("Hooks", And(
			HaveField("Event", event), HaveField("Done", done), HaveField("Total", total)))))
	}
	uidOf := func(suffix string) apitypes.UID {
		GinkgoHelper()
		live, err := testkit.Live(env.Runtimes[0], job(suffix))()
		Expect(err).NotTo(HaveOccurred())
		return live.UID
	}

	It("run once for each release, in their order around its objects, and leave no trace", func() {
		install(`{"hold":true}`)
		waits(v1beta2.StateProcessing, "pre-install", "before")
		Expect(settings(chart+"-settings")()).To(BeNil(), "nothing is applied before its hooks")
		expectThere(env.Runtimes[0], &corev1.ServiceAccount{ObjectMeta: in("migrate")}, &rbacv1.Role{ObjectMeta: in("migrate")})
		goOn("before")
		waits(v1beta2.StateProcessing, "post-install", "after")
		Expect(settings(chart + "-settings")()).To(colour("grey"))
		Eventually(testkit.Gone(env.Runtimes[0], &corev1.ServiceAccount{ObjectMeta: in("migrate")})).Should(BeTrue(), "hook-succeeded")
		goOn("after")
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready(reached("post-install", 1, 1)))
		secret := &corev1.Secret{ObjectMeta: in("init")}
		testkit.Edit(env.Runtimes[0], secret, func(s *corev1.Secret) { s.StringData = map[string]string{"password": "once"} })

		By("running none of them again at rest, nor to repair something")
		before := uidOf("before")
		expectHealed(env.Runtimes[0], configMap(chart+"-settings"))
		env.Runtimes[0].Delete(job("after"))
		atRest()
		expectNoCalls()
		Expect(uidOf("before")).To(Equal(before))
		expectGone(env.Runtimes[0], job("after"))

		for _, next := range []string{"blue", "green"} {
			By("upgrading to " + next)
			was, err := settings(chart + "-settings")()
			Expect(err).NotTo(HaveOccurred())
			testkit.Edit(env.Hub, manifest, withValues(fmt.Sprintf(`{"hold":true,"colour":%q}`, next)))
			waits(v1beta2.StateProcessing, "pre-upgrade", "before")
			Expect(settings(chart+"-settings")()).To(Equal(was), "what runs stays until the hooks are through")
			Expect(uidOf("before")).NotTo(Equal(before))
			before = uidOf("before")
			goOn("before")
			waits(v1beta2.StateProcessing, "post-upgrade", "after")
			goOn("after")
			Eventually(testkit.Live(env.Hub, manifest)).Should(ready(reached("post-upgrade", 1, 1)))
			Expect(settings(chart + "-settings")()).To(colour(next))
			Expect(testkit.Live(env.Runtimes[0], secret)()).To(HaveField("Data", HaveKeyWithValue("password", []byte("once"))))
		}

		By("removing it")
		env.Hub.Delete(manifest)
		waits(v1beta2.StateDeleting, "pre-delete", "leaves")
		Expect(settings(chart+"-settings")()).To(colour("green"), "nothing is removed before its hooks")
		goOn("leaves")
		waits(v1beta2.StateDeleting, "post-delete", "left")
		Expect(settings(chart + "-settings")()).To(BeNil())
		goOn("left")
		Eventually(testkit.Gone(env.Hub, manifest)).Should(BeTrue())
		expectGone(env.Runtimes[0], job("before"), job("after"), job("leaves"), job("left"), secret,
			&corev1.ServiceAccount{ObjectMeta: in("migrate")}, &rbacv1.Role{ObjectMeta: in("migrate")})
	})

	It("keep what runs when one fails, and are tried again when its object is deleted or the values change", func() {
		install(`{}`)
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready(reached("post-install", 1, 1)))
		testkit.Edit(env.Hub, manifest, withValues(`{"colour":"blue","broken":"before"}`))
		fails := tells(v1beta2.StateError, v1beta2.ReasonChartHookFailed, "hook pre-upgrade", chart+"-before", "delete the object to try again")
		Eventually(testkit.Live(env.Hub, manifest)).Should(fails)
		Expect(settings(chart + "-settings")()).To(colour("grey"))
		first := uidOf("before")
		env.Runtimes[0].Delete(job("before"))
		Eventually(testkit.Live(env.Runtimes[0], job("before"))).ShouldNot(HaveField("UID", first))
		Eventually(testkit.Live(env.Hub, manifest)).Should(fails)
		Expect(settings(chart + "-settings")()).To(colour("grey"))

		testkit.Edit(env.Hub, manifest, withValues(`{"colour":"blue"}`))
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready(reached("post-upgrade", 1, 1)))
		Expect(settings(chart + "-settings")()).To(colour("blue"))
		expectRemoved(manifest, chart+"-settings")
	})

	It("do not hold up a removal for ever: the Manifest says what is in the way and how to go without them", func() {
		install(`{"broken":"leaves"}`)
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready())
		env.Hub.Delete(manifest)
		Eventually(testkit.Live(env.Hub, manifest)).Should(tells(v1beta2.StateDeleting, v1beta2.ReasonChartHookFailed, chart+"-leaves",
			v1beta2.AnnotationSkipDeleteHooks+"="+v1beta2.EnabledValue))
		Expect(settings(chart + "-settings")()).To(colour("grey"))
		testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) {
			m.Annotations = map[string]string{v1beta2.AnnotationSkipDeleteHooks: v1beta2.EnabledValue}
		})
		Eventually(testkit.Gone(env.Hub, manifest)).Should(BeTrue())
		Expect(settings(chart + "-settings")()).To(BeNil())
	})
})
