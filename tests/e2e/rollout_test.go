package e2e

import (
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// The last four of the printed things to try have specs of their own. Two of them are one story: a rollout that stops, and the way back.
const printedThings, storyThings = 11, 4

// describeRollout is the spec about that story, told by the commands that the playground prints.
func describeRollout(playground func() *program) {
	It("offers a version that never becomes available to three clusters in waves, stops after the first, and takes it back", func() {
		p := playground()
		things := p.printedCommands()
		Expect(things).To(HaveLen(printedThings))
		release, back := things[printedThings-2], things[printedThings-1]

		By("the commands of the release, until the rollout has stopped by itself")
		said := p.types(release)
		Expect(said("kubectl get modulerollouts")).To(And(ContainSubstring("charted"), ContainSubstring("Halted")))
		Expect(said("kyma rollout status")).To(And(ContainSubstring("canary"), ContainSubstring("1.2.0")), "who fails, and with what")
		Expect(said("kyma release status")).To(And(ContainSubstring("1.0.0"), ContainSubstring("1.2.0")))
		Expect(p.charted("canary", ".spec.version")).To(Equal("1.2.0"), "the first wave has the version")
		Expect(p.canary("get", "configmap", "charted-light", "--namespace=kyma-system", "-o", chartOf)).To(Equal("1.2.0"))
		p.neverSaw("demo", "local-demo")
		Expect(p.hub("get", "kyma", "demo", "-o", `jsonpath={.status.modules[?(@.name=="charted")].offered}`)).
			To(Equal("1.2.0"), "its user sees what waits")

		By("the commands of the way back")
		said = p.types(back)
		Expect(said("kyma release status")).NotTo(MatchRegexp(`(?m)^charted\s.*1\.2\.0`))
		Expect(said("kyma history")).To(And(ContainSubstring("1.2.0"), ContainSubstring("1.0.0")))
		Expect(p.hub("get", "modulereleasemeta", "charted", "-o", `jsonpath={.spec.channels[?(@.channel=="regular")].version}`)).To(Equal("1.0.0"))
		Expect(p.hub("get", "modulerollout", "charted", "-o", "jsonpath={.status.phase}")).To(Equal("Aborted"))
		Expect(p.charted("canary", ".spec.version")).To(Equal("1.0.0"))
		Expect(p.canary("get", "configmap", "charted-light", "--namespace=kyma-system", "-o", chartOf)).To(Equal("1.0.0"))
		p.neverSaw("demo", "local-demo")
		p.hub("wait", untilReady, minute, "kyma/canary", "kyma/demo", "kyma/local-demo")
	})
}

// chartOf is the version of the chart that an installation of module charted came from.
const chartOf = "jsonpath={.data.chart}"

// types runs printed commands, one after the other, and returns what the last one printed that contains a text.
func (p *program) types(commands []string) (said func(part string) string) {
	GinkgoHelper()
	outputs := make([]string, len(commands))
	for i, command := range commands {
		out, err := p.shell(command)
		Expect(err).NotTo(HaveOccurred(), "%s", command)
		GinkgoWriter.Printf("$ %s\n%s\n", command, out)
		outputs[i] = out
	}
	return func(part string) string {
		GinkgoHelper()
		for i, command := range slices.Backward(commands) {
			if strings.Contains(command, part) {
				return outputs[i]
			}
		}
		Fail("no printed command contains " + part)
		return ""
	}
}

// canary runs kubectl against the third cluster; it must succeed.
func (p *program) canary(args ...string) string {
	GinkgoHelper()
	return p.kubectl(`exec kubectl --kubeconfig="$CANARY_KUBECONFIG" "$@"`, args)
}

// charted returns something of the Manifest of module charted of a Kyma.
func (p *program) charted(kyma, path string) string {
	GinkgoHelper()
	return p.hub("get", "manifests", "--selector=operator.kyma-project.io/kyma-name="+kyma+",operator.kyma-project.io/module-name=charted",
		"-o", "jsonpath={.items[*]"+path+"}")
}

// neverSaw checks that Kymas were never asked to have another version of module charted than the first: their Manifest would have another
// generation by that.
func (p *program) neverSaw(kymas ...string) {
	GinkgoHelper()
	for _, kyma := range kymas {
		Expect(p.charted(kyma, ".spec.version")).To(Equal("1.0.0"), kyma)
		Expect(p.charted(kyma, ".metadata.generation")).To(Equal("1"), "%s: the Manifest was changed", kyma)
	}
}
