package integration

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// autoscaler returns one for a Deployment, between 1 and 10.
func autoscaler(name string) string {
	return fmt.Sprintf(`apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: %[1]s}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: %[1]s}
  minReplicas: 1
  maxReplicas: 10
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]
`, name)
}

// scale does what an autoscaler does.
func scale(name string, replicas int32) {
	GinkgoHelper()
	body := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name}, Spec: autoscalingv1.ScaleSpec{Replicas: replicas}}
	err := env.Runtimes[0].Client.SubResource("scale").Update(ctx(), deployment(name), client.WithSubResourceBody(body), client.FieldOwner("scaler"))
	Expect(err).NotTo(HaveOccurred())
}

// replicasOf reads what a Deployment of the first runtime is to have.
func replicasOf(name string) func() (int32, error) {
	return func() (int32, error) {
		live, err := testkit.Live(env.Runtimes[0], deployment(name))()
		if err != nil || live.Spec.Replicas == nil {
			return 0, err
		}
		return *live.Spec.Replicas, nil
	}
}

func imageRun(name string) func() (string, error) {
	return func() (string, error) {
		live, err := testkit.Live(env.Runtimes[0], deployment(name))()
		if err != nil {
			return "", err
		}
		return live.Spec.Template.Spec.Containers[0].Image, nil
	}
}

var _ = Describe("The replicas of a Deployment", func() {
	for _, theirs := range []bool{false, true} {
		It("are an autoscaler's that comes "+map[bool]string{false: "with the content", true: "from another user"}[theirs]+
			": they stay, everything else is put back, and nothing is called at rest", func() {
			emptyHub()
			env.FaultFree()
			name := testkit.Unique("scaled")
			layer := func(version string) v1beta2.ImageSpec {
				text := string(testkit.Deployment(name, version).YAML())
				if !theirs {
					text += "---\n" + autoscaler(name)
				}
				return publish(testkit.RawManifest([]byte(text)))
			}
			if theirs {
				parsed := testkit.ParseYAML(autoscaler(name))
				parsed.SetNamespace(metav1.NamespaceDefault)
				env.Runtimes[0].Create(parsed)
				DeferCleanup(func() { env.Runtimes[0].Delete(parsed) })
			}
			manifest := standAlone(layer("1.0.0"))
			Eventually(testkit.Live(env.Hub, manifest)).Should(ready())
			scale(name, 4)
			Consistently(replicasOf(name), "3s").Should(BeEquivalentTo(4))

			By("an image that a user changed is put back, the replicas stay")
			image, err := imageRun(name)()
			Expect(err).NotTo(HaveOccurred())
			testkit.Edit(env.Runtimes[0], deployment(name), func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "img.invalid/other:1" })
			Eventually(imageRun(name), atOnce).Should(Equal(image))
			Consistently(replicasOf(name)).Should(BeEquivalentTo(4))

			By("an upgrade leaves them alone too")
			next := layer("1.1.0")
			testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) { m.Spec.Install.Source = testkit.Raw(next) })
			Eventually(imageRun(name)).Should(HaveSuffix(":1.1.0"))
			Eventually(testkit.Live(env.Hub, manifest)).Should(ready())
			Expect(replicasOf(name)()).To(BeEquivalentTo(4))
			scale(name, 5)
			expectNoCalls()
			Expect(replicasOf(name)()).To(BeEquivalentTo(5))
			remove(manifest)
		})
	}

	It("are put back where there is no autoscaler, and who changed them is told", func() {
		env.FaultFree()
		name := testkit.Unique("scaled")
		manifest := standAlone(publish(testkit.RawManifest(testkit.Deployment(name, "1.0.0").YAML())))
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready())
		scale(name, 4)
		Eventually(replicasOf(name), atOnce).Should(BeEquivalentTo(1))
		Eventually(notesOf(manifest, v1beta2.ReasonFieldsPutBack)).Should(ContainElement(And(ContainSubstring("replicas"), ContainSubstring("scaler"))))
		remove(manifest)
	})
})
