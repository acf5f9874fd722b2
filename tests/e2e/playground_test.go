package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

const (
	minute     = "--timeout=3m"
	untilReady = "--for=condition=Ready"
	image      = "samples.kyma-project.io/greeter:"
	imageOf    = "jsonpath={.spec.template.spec.containers[0].image}"
)

var _ = Describe("The playground", Ordered, func() {
	var first *program

	BeforeAll(func() {
		first = startPlayground(stateDir, 1)
		first.awaitReady()
	})

	JustAfterEach(func() {
		if CurrentSpecReport().Failed() {
			explain(first)
		}
	})

	ready := func(kyma string) {
		GinkgoHelper()
		first.hub("wait", untilReady, minute, "kyma/"+kyma)
	}
	enable := func(kyma, module string) {
		GinkgoHelper()
		first.hub("patch", "kyma", kyma, "--type=json",
			fmt.Sprintf(`--patch=[{"op":"add","path":"/spec/modules/-","value":{"name":%q}}]`, module))
	}

	It("brings a remote and a local Kyma to Ready", func() {
		Expect(first.hub("get", "kymas", "--no-headers", "-o", "custom-columns=:.metadata.name,:.status.state,:.status.modulesReady")).
			To(And(MatchRegexp(`demo +Ready +2/2`), MatchRegexp(`local-demo +Ready +1/1`)))
	})

	It("runs the operator of module greeter in both clusters", func() {
		greeting := []string{"get", "configmap", "greeting-default", "--namespace=kyma-system", "-o", "jsonpath={.data}"}
		Expect(first.runtime(greeting...)).To(And(ContainSubstring("Hello, world!"), ContainSubstring("greeter 1.0.0")))
		Expect(first.hub(greeting...)).To(ContainSubstring("Hello, world!"))
		Expect(first.runtime("get", "greeter", "default", "--namespace=kyma-system", "-o", "jsonpath={.status.state}")).To(Equal("Ready"))
	})

	It("enables a module", func() {
		enable("demo", "ledger")
		ready("demo")
		Expect(first.runtime("get", "accounts", "-o", "name")).To(Equal(
			"account.samples.kyma-project.io/expenses\naccount.samples.kyma-project.io/income"))
	})

	It("switches the channel: new versions run, what they no longer have is gone", func() {
		first.hub("patch", "kyma", "demo", "--type=merge", `--patch={"spec":{"channel":"fast"}}`)
		ready("demo")
		Expect(first.hub("get", "kyma", "demo", "-o", "jsonpath={.status.modules[*].version}")).To(Equal("1.1.0 1.1.0 1.1.0"))
		Expect(first.hub("get", "kyma", "demo", "-o", "jsonpath={.status.activeChannel}")).To(Equal("fast"))

		By("the Deployment's pods run the new image")
		Eventually(func() string { // a Pod that ends is listed until it is gone
			return first.runtime("get", "pods", "--namespace=greeter-system", "-o", "jsonpath={.items[*].spec.containers[*].image}")
		}).Should(Equal(image + "1.1.0"))
		Eventually(func() string {
			return first.runtime("get", "configmap", "greeting-default", "--namespace=kyma-system", "-o", "jsonpath={.data.by}")
		}).Should(Equal("greeter 1.1.0"), "the operator of the new version works")

		By("one object of notes went, another came")
		Expect(first.runtime("get", "configmaps", "-o", "name")).To(And(
			ContainSubstring("notes-archive"), ContainSubstring("notes-settings"), Not(ContainSubstring("notes-draft"))))

		By("accounts are stored as v2 and still served as v1")
		Expect(first.runtime("get", "accounts.v2.samples.kyma-project.io", "expenses", "-o", "jsonpath={.spec.currency}")).To(Equal("USD"))
		Expect(first.runtime("get", "accounts.v1.samples.kyma-project.io", "expenses", "-o", "jsonpath={.spec.owner}")).To(Equal("purchasing"))
	})

	It("leaves the other Kyma's channel alone", func() {
		Expect(first.hub("get", "deployment", "greeter", "--namespace=greeter-system", "-o", imageOf)).To(Equal(image + "1.0.0"))
	})

	It("puts a deleted object back", func() {
		uid := []string{"get", "configmap", "notes-settings", "-o", "jsonpath={.metadata.uid}"}
		before := first.runtime(uid...)
		first.runtime("delete", "configmap", "notes-settings")
		first.runtime("wait", "--for=create", minute, "configmap/notes-settings")
		Expect(first.runtime(uid...)).NotTo(Equal(before))
		ready("demo")
	})

	It("repairs a declared field and leaves others to people", func() {
		first.runtime("patch", "deployment", "greeter", "--namespace=greeter-system",
			`--patch={"spec":{"template":{"metadata":{"annotations":{"mine":"stays"}},"spec":{"containers":[{"name":"manager","image":"broken:1"}]}}}}`)
		first.runtime("wait", "--for="+imageOf+"="+image+"1.1.0", minute, "--namespace=greeter-system", "deployment/greeter")
		Expect(first.runtime("get", "deployment", "greeter", "--namespace=greeter-system",
			"-o", "jsonpath={.spec.template.metadata.annotations.mine}")).To(Equal("stays"))
		ready("demo")
	})

	It("disables a module: its operator cleans up, then everything of it goes", func() {
		Expect(first.runtime("get", "greeter", "default", "--namespace=kyma-system", "-o", "jsonpath={.metadata.finalizers}")).
			To(ContainSubstring("samples.kyma-project.io/greeter"), "only the operator can let it go")
		first.hub("patch", "kyma", "demo", "--type=merge", `--patch={"spec":{"modules":[{"name":"ledger"},{"name":"notes"}]}}`)
		first.runtime("wait", "--for=delete", minute, "namespace/greeter-system", "crd/greeters.samples.kyma-project.io", "clusterrole/greeter")
		first.runtime("wait", "--for=delete", minute, "--namespace=kyma-system", "configmap/greeting-default")
		ready("demo")
		Expect(first.hub("get", "kyma", "demo", "-o", "jsonpath={.status.modules[*].name}")).To(Equal("ledger notes"))
	})

	It("enables it again, with a new operator", func() {
		enable("demo", "greeter")
		ready("demo")
		Expect(first.runtime("get", "greeter", "default", "--namespace=kyma-system", "-o", "jsonpath={.spec.loud} {.status.state}")).
			To(Equal("true Ready"))
		Expect(first.runtime("get", "configmap", "greeting-default", "--namespace=kyma-system", "-o", "jsonpath={.data.greeting}")).
			To(Equal("HELLO, WORLD!"))
	})

	It("offers a module that is a chart", func() {
		enable("demo", "charted")
		ready("demo")
		Expect(first.runtime("get", "configmap", "charted-light", "--namespace=kyma-system", "-o", "jsonpath={.data.colour} {.data.chart}")).
			To(Equal("green 1.1.0"))
		first.hub("patch", "kyma", "demo", "--type=json", `--patch=[{"op":"remove","path":"/spec/modules/3"}]`)
		first.runtime("wait", "--for=delete", minute, "--namespace=kyma-system", "deployment/charted", "configmap/charted-light")
		ready("demo")
	})

	It("offers a module whose operator embeds pkg/declarative", func() {
		enable("demo", "beacon")
		ready("demo")
		light := []string{"get", "configmap", "beacon-default", "--namespace=kyma-system", "-o", "jsonpath={.data.light} {.data.by}"}
		Expect(first.runtime(light...)).To(Equal("flashing white beacon 1.1.0"))
		Expect(first.runtime("get", "beacon", "default", "--namespace=kyma-system", "-o", "jsonpath={.status.state}")).To(Equal("Ready"))

		By("another spec makes other content, and what a user deletes returns")
		first.runtime("patch", "beacon", "default", "--namespace=kyma-system", "--type=merge", `--patch={"spec":{"colour":"red","lamps":2}}`)
		first.runtime("wait", "--for=jsonpath={.status.readyReplicas}=2", minute, "--namespace=kyma-system", "deployment/beacon-default")
		first.runtime("delete", "configmap", "beacon-default", "--namespace=kyma-system")
		Eventually(func() string {
			return first.runtime("get", "configmap", "--namespace=kyma-system", "--selector=beacon=default", "-o", "jsonpath={.items[*].data.light}")
		}).Should(Equal("flashing red"))

		By("the operator takes down what it installed before it goes")
		first.hub("patch", "kyma", "demo", "--type=json", `--patch=[{"op":"remove","path":"/spec/modules/3"}]`)
		first.runtime("wait", "--for=delete", minute, "namespace/beacon-system", "crd/beacons.samples.kyma-project.io")
		Expect(first.runtime("get", "deployments,configmaps,secrets", "--namespace=kyma-system", "-o", "name")).NotTo(ContainSubstring("beacon"))
		ready("demo")
	})

	describeSamples(func() *program { return first })
	describeConsent(func() *program { return first })
	describeRollout(func() *program { return first })

	It("takes objects made for upstream with strict validation, and says what is missing", func() {
		file := filepath.Join(root, "tests", "e2e", "testdata", "upstream.yaml")
		Expect(first.hub("apply", "--validate=strict", "--filename="+file)).To(ContainSubstring("kyma.operator.kyma-project.io/upstream created"))
		first.hub("wait", "--for=condition=Ready=false", minute, "kyma/upstream")
		says := func() string {
			return first.hub("get", "kyma", "upstream", "-o", "jsonpath={.status.state} {.status.modules[0].message}")
		}
		Eventually(says).Should(HavePrefix("Error no Secret in namespace kcp-system has the label operator.kyma-project.io/kyma-name=upstream"))

		By("being told to keep out of the runtime, which is not there, it looks at the modules at once")
		first.hub("label", "kyma", "upstream", "operator.kyma-project.io/sync=false")
		Eventually(says).Should(HavePrefix("Error component example.com/module/keda-like:1.8.0 was not found"))
		first.hub("delete", minute, "--filename="+file)
	})

	It("shares the machine with a second one, on which every other printed command does what it says", func() {
		second := startPlayground(stateDir, 2)
		second.awaitReady()
		Expect(second.out.String()).To(ContainSubstring(
			fmt.Sprintf("Playground 1 is in use by process %d, so this is playground 2.", first.cmd.Process.Pid)))
		tryAsPrinted(second)
		second.interrupt()
		ready("demo")
		ready("local-demo")
	})

	It("deletes the remote Kyma and leaves an empty runtime", func() {
		first.hub("delete", "kyma", "demo", minute)
		kinds := "namespaces,customresourcedefinitions,clusterroles,clusterrolebindings,deployments,configmaps,services,serviceaccounts"
		Expect(first.runtime("get", kinds, "--all-namespaces", "--selector=operator.kyma-project.io/managed-by=kyma", "-o", "name")).
			To(Or(BeEmpty(), Equal("namespace/kyma-system")))
		Expect(first.runtime("get", "crds", "-o", "name")).To(BeEmpty())
		Expect(first.hub("get", "manifests", "-o", "name")).To(ContainSubstring("local-demo"))
		ready("local-demo")
	})

	It("ends with everything that it started", func() {
		first.interrupt()
		log, err := os.ReadFile(filepath.Join(first.state, "manager", "manager.log"))
		Expect(err).NotTo(HaveOccurred(), "logs stay for reading")
		Expect(errorLines(string(log))).To(BeEmpty(), "what the manager logged as errors")
	})

	It("starts again from nothing in the same folder", func() {
		again := startPlayground(stateDir, 1)
		again.awaitReady()
		Expect(again.out.String()).NotTo(ContainSubstring("in use"))
		Expect(again.hub("get", "kyma", "demo", "-o", "jsonpath={.spec.channel} {.spec.modules[*].name}")).To(Equal("regular greeter notes"))
		again.interrupt()
	})
})

// tryAsPrinted runs what the playground printed, one command after the other, as a user who pastes them; consent, requirements and the
// story of the rollout have specs of their own.
func tryAsPrinted(p *program) {
	GinkgoHelper()
	groups := p.printedCommands()
	Expect(groups).To(HaveLen(printedThings))
	outputs := map[string]string{}
	for _, group := range groups[:printedThings-storyThings] {
		for _, command := range group {
			line := command
			if strings.HasSuffix(command, "--watch") { // it continues until a user ends it
				line = "timeout --preserve-status 10 " + command
			}
			out, err := p.shell(line)
			if line == command {
				Expect(err).NotTo(HaveOccurred(), "%s", command)
			}
			outputs[command] = out
		}
	}
	printed := func(part string) string {
		GinkgoHelper()
		for command, out := range outputs {
			if strings.Contains(command, part) {
				return out
			}
		}
		Fail("no printed command contains " + part)
		return ""
	}
	Expect(printed("get kymas --watch")).To(And(ContainSubstring("demo"), ContainSubstring("Ready")))
	Expect(printed("get accounts")).To(ContainSubstring("income"))
	Expect(printed("custom-columns")).To(MatchRegexp(`greeter,ledger,notes +1\.1\.0,1\.1\.0,1\.1\.0`))
	Expect(printed("get deployment greeter")).To(ContainSubstring(image + "1.1.0"))
	Expect(printed("delete service notes")).To(ContainSubstring("deleted"))
	Expect(printed("get deployments --namespace harbour")).To(MatchRegexp(`lantern +2/2`))
	Expect(printed("values.yaml")).To(ContainSubstring("colour: white"))
	Expect(printed("delete manifest oci-helm-chart")).To(ContainSubstring("deleted"))
	Expect(printed("get kyma demo -o wide")).To(And(
		ContainSubstring("WaitingForObjects"), ContainSubstring("greeter-system/greeter")), "the condition names the object")
}

// explain shows what a user would look at after a failure.
func explain(p *program) {
	for _, command := range []string{"kubectl get kymas -o wide", "kubectl get manifests -o wide"} {
		out, err := p.shell(command)
		GinkgoWriter.Printf("\n%s\n%s%v\n", command, out, err)
	}
	if log, err := os.ReadFile(filepath.Join(p.state, "manager", "manager.log")); err == nil {
		GinkgoWriter.Printf("\nthe end of the manager's log\n%s\n", log[max(0, len(log)-5000):])
	}
	GinkgoWriter.Printf("\nthe playground\n%s\n", &p.out)
}

// errorLines leaves out what client-go says of an event that it was about to write when the manager ended.
func errorLines(log string) []string {
	var found []string
	for line := range strings.Lines(log) {
		cut := strings.Contains(line, "Unable to write event") && strings.Contains(line, "context canceled")
		if strings.Contains(line, `"level":"error"`) && !cut {
			found = append(found, line)
		}
	}
	return found
}
