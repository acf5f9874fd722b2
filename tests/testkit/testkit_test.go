package testkit_test

import (
	"context"
	"errors"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

var _ = Describe("the environment of a suite", func() {
	It("accepts the objects of the builders", func() {
		module := testkit.Unique("redis")
		env.Hub.Create(
			testkit.Kyma(testkit.Unique("plain")),
			testkit.Kyma(testkit.Unique("full"), testkit.OnChannel("fast"), testkit.Local(), testkit.Labelled(v1beta2.LabelBeta, "true"),
				testkit.WithModule(module, testkit.FromChannel("fast"), testkit.WithPolicy(v1beta2.CustomResourcePolicyIgnore)),
				testkit.WithModule("pinned", testkit.AtVersion("1.2.3"), testkit.NotManaged())),
			testkit.ModuleTemplate(module, "1.0.0"),
			testkit.ModuleReleaseMeta(module, "regular=1.0.0", "fast=1.1.0"),
			testkit.Manifest(testkit.Unique("alone"), v1beta2.ImageSpec{Type: v1beta2.RefTypeOCI}, testkit.Remote("somebody"),
				testkit.WithResource(testkit.Operator(module, "1.0.0").DefaultCR)),
		)
	})

	It("finds the Manifest of a Kyma's module", func() {
		kyma, module := testkit.Unique("alice"), testkit.Unique("redis")
		_, err := env.ManifestOf(kyma, module)()
		Expect(err).To(MatchError(ContainSubstring("has 0 Manifests")))
		manifest := testkit.Manifest(testkit.Unique("made"), v1beta2.ImageSpec{}, testkit.Remote(kyma), func(m *v1beta2.Manifest) {
			m.Labels[v1beta2.LabelModuleName] = module
		})
		env.Hub.Create(manifest)
		Eventually(env.ManifestOf(kyma, module)).Should(HaveField("Name", manifest.Name))
	})

	It("publishes what descriptor reads, and replaces it", func(ctx context.Context) {
		module := testkit.Unique("redis")
		env.Offer(module, "1.0.0", testkit.ConfigMaps(module, "1.0.0", 2), "regular", "fast")
		content := testkit.ConfigMaps(module, "1.1.0", 3)
		content.AsTar = true
		published := env.Offer(module, "1.1.0", content, "fast")

		release := testkit.ModuleReleaseMeta(module)
		Eventually(testkit.Live(env.Hub, release)).Should(HaveField("Spec.Channels", ConsistOf(
			v1beta2.ChannelVersion{Channel: "regular", Version: "1.0.0"}, v1beta2.ChannelVersion{Channel: "fast", Version: "1.1.0"})))

		reader := descriptor.Reader{Registry: env.Registry.Host}
		reader.PlainHTTP = true
		found, err := reader.Get(ctx, testkit.ComponentName(module), "1.1.0")
		Expect(err).NotTo(HaveOccurred())
		digest, _, dir, err := found.Layer("raw-manifest")
		Expect(err).NotTo(HaveOccurred())
		Expect(dir).To(BeTrue())
		Expect(digest).To(Equal(published.Source.Ref))
		Expect(found.Digest).To(Equal(published.Digest))

		again := env.Publish(testkit.ComponentName(module), "1.1.0", testkit.RawManifest([]byte("broken: [")))
		Expect(again.Digest).NotTo(Equal(published.Digest))
		Expect(again.Source.Type).To(Equal(v1beta2.RefTypeOCI))
	})

	It("gives access to a runtime by a Secret", func(ctx context.Context) {
		secret := env.AccessSecret(testkit.Unique("alice"), env.Runtimes[0])
		config, err := clientcmd.RESTConfigFromKubeConfig(secret.Data[v1beta2.AccessSecretKey])
		Expect(err).NotTo(HaveOccurred())
		runtime, err := client.New(config, client.Options{Scheme: testkit.Scheme()})
		Expect(err).NotTo(HaveOccurred())
		Expect(runtime.List(ctx, &corev1.SecretList{})).To(Succeed())
		Expect(config.Host).NotTo(Equal(env.Hub.Config.Host))
	})

	It("gives the manager the permissions of its ServiceAccount and no more", func(ctx context.Context) {
		config := env.ManagerConfig("config/default")
		manager, err := client.New(config, client.Options{Scheme: testkit.Scheme()})
		Expect(err).NotTo(HaveOccurred())
		Eventually(func(ctx context.Context) error {
			return manager.List(ctx, &v1beta2.KymaList{}, client.InNamespace(v1beta2.DefaultNamespace))
		}).WithContext(ctx).Should(Succeed())
		Expect(apierrors.IsForbidden(manager.List(ctx, &corev1.SecretList{}))).To(BeTrue())
	})

	It("has sample modules that a runtime accepts and runs", func() {
		module, runtime := testkit.Unique("operator"), env.Runtimes[0]
		content := testkit.Operator(module, "1.0.0")
		runtime.Apply(content.Objects...)
		deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: module}}
		Eventually(testkit.Live(runtime, deployment)).Should(HaveField("Status.AvailableReplicas", BeEquivalentTo(1)))
		Eventually(func() error { return runtime.Client.Create(context.Background(), content.DefaultCR.DeepCopy()) }).Should(Succeed())
		runtime.Delete(deployment)
		Eventually(testkit.Gone(runtime, deployment)).Should(BeTrue())
	})
})

var _ = Describe("watching and matching", func() {
	It("matches a status for the current spec and no other", func(ctx context.Context) {
		kyma := testkit.Kyma(testkit.Unique("alice"), testkit.WithModule("redis"))
		env.Hub.Create(kyma)
		Consistently(testkit.Live(env.Hub, kyma)).WithTimeout(200 * time.Millisecond).ShouldNot(testkit.HaveState(v1beta2.StateReady))

		setStatus(ctx, kyma, v1beta2.StateReady, metav1.ConditionTrue)
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(
			testkit.HaveState(v1beta2.StateReady),
			testkit.HaveCondition(v1beta2.ConditionReady, metav1.ConditionTrue, v1beta2.ReasonReady),
			testkit.HaveModule("redis", testkit.HaveState(v1beta2.StateReady), testkit.HaveVersion("1.0.0")),
			testkit.HaveNoModule("mysql"),
		))
		testkit.Edit(env.Hub, kyma, func(kyma *v1beta2.Kyma) { kyma.Spec.Channel = "fast" })
		Expect(kyma).NotTo(testkit.HaveState(v1beta2.StateReady))
		Expect(kyma).NotTo(testkit.HaveModule("redis"))
	})

	It("shows the actual values when a matcher fails", func(ctx context.Context) {
		kyma := testkit.Kyma(testkit.Unique("alice"), testkit.WithModule("redis"))
		env.Hub.Create(kyma)
		setStatus(ctx, kyma, v1beta2.StateProcessing, metav1.ConditionFalse)
		matcher := testkit.HaveState(v1beta2.StateReady)
		Expect(matcher.Match(kyma)).To(BeFalse())
		Expect(matcher.FailureMessage(kyma)).To(And(
			ContainSubstring("expected state Ready"), ContainSubstring(`state "Processing"`), ContainSubstring("module redis 1.0.0")))
		_, err := matcher.Match("a text")
		Expect(err).To(HaveOccurred())
	})

	It("sees a false status that lasted for a moment", func(ctx context.Context) {
		kyma := testkit.Kyma(testkit.Unique("liar"), testkit.WithModule("redis"))
		kyma.Labels = map[string]string{v1beta2.LabelSync: "false"} // nothing has to be merged before it is Ready
		env.Hub.Create(kyma)
		before := len(env.Watch.Violations())
		setStatus(ctx, kyma, v1beta2.StateReady, metav1.ConditionFalse)
		setStatus(ctx, kyma, v1beta2.StateReady, metav1.ConditionTrue)
		Expect(env.Watch.CatchUp()).To(Succeed())
		Expect(env.Watch.Violations()[before:]).To(ConsistOf(
			And(ContainSubstring("Kyma kcp-system/"+kyma.Name), ContainSubstring("state is Ready and condition Ready is not True")),
			And(ContainSubstring("Kyma kcp-system/"+kyma.Name), ContainSubstring(`kstatus says "InProgress", not Current`))))
	})

	It("sees every time that an object turns to Error", func(ctx context.Context) {
		kyma := testkit.Kyma(testkit.Unique("faulty"))
		env.Hub.Create(kyma)
		before := len(env.Watch.Errors())
		for _, state := range []v1beta2.State{v1beta2.StateError, v1beta2.StateError, v1beta2.StateProcessing, v1beta2.StateError} {
			setStatus(ctx, kyma, state, metav1.ConditionFalse)
		}
		Expect(env.Watch.CatchUp()).To(Succeed())
		Expect(env.Watch.Errors()[before:]).To(HaveLen(2))
	})

	It("records errors that were logged, and nothing else", func() {
		var out strings.Builder
		log := testkit.NewLog(&out)
		logger := log.Logger().WithName("manager").WithValues("kyma", "alice")
		logger.Info("all is well", "modules", 3)
		logger.V(5).Info("a detail that no one asked for")
		logger.Error(errors.New("the registry is down"), "cannot fetch")
		Expect(log.Errors()).To(ConsistOf(And(
			ContainSubstring("cannot fetch"), ContainSubstring("the registry is down"), ContainSubstring("alice"), ContainSubstring("manager"))))
		Expect(out.String()).To(And(ContainSubstring("all is well"), Not(ContainSubstring("a detail"))))
	})

	It("passes a spec that declared itself fault-free and was", func(ctx SpecContext) {
		late := testkit.Kyma(testkit.Unique("late"))
		env.Hub.Create(late)
		env.FaultFree()
		setStatus(ctx, late, v1beta2.StateError, metav1.ConditionFalse) // from an earlier spec
		env.Hub.Create(testkit.Kyma(testkit.Unique("calm")))
	})
})

// setStatus writes a status with one module as the manager would.
func setStatus(ctx context.Context, kyma *v1beta2.Kyma, state v1beta2.State, ready metav1.ConditionStatus) {
	GinkgoHelper()
	kyma.Status.State = state
	kyma.Status.ObservedGeneration = kyma.Generation
	kyma.Status.Conditions = []metav1.Condition{{
		Type: v1beta2.ConditionReady, Status: ready, Reason: v1beta2.ReasonReady, ObservedGeneration: kyma.Generation,
		LastTransitionTime: metav1.Now().Rfc3339Copy(),
	}}
	kyma.Status.Modules = []v1beta2.ModuleStatus{{Name: "redis", Channel: v1beta2.DefaultChannel, Version: "1.0.0", State: state}}
	kyma.Status.LastOperation = v1beta2.LastOperation{Operation: string(state), LastUpdateTime: metav1.Now()}
	Expect(env.Hub.Client.Status().Update(ctx, kyma)).To(Succeed())
}
