package e2e

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// describeConsent is the spec about two printed things to try: a version that waits for consent, and a module that waits for another one.
func describeConsent(playground func() *program) {
	const pendingOf = `jsonpath={.status.modules[?(@.name=="warden")].pending`
	demo := func(path string) string { return playground().hub("get", "kyma", "demo", "-o", path) }
	group := func(part string) []string {
		GinkgoHelper()
		for _, commands := range playground().printedCommands() {
			if strings.Contains(strings.Join(commands, "\n"), part) {
				return commands
			}
		}
		Fail("no printed command contains " + part)
		return nil
	}

	It("keeps a version that asks for more until its user agrees, and says in a sentence what is new", func() {
		p, commands := playground(), group("kyma approve warden")
		last := len(commands) - 1
		said := p.types(commands[:last])
		Expect(said("kyma permissions")).To(And(MatchRegexp(`(?i)read every secret`), Not(ContainSubstring("cannot be read"))))
		Expect(said("kyma status")).To(And(ContainSubstring("warden"), MatchRegexp(`(?i)consent`)))
		Expect(demo(pendingOf + ".gravest[0]}")).To(MatchRegexp(`(?i)secret`))
		Expect(demo(`jsonpath={.status.modules[?(@.name=="warden")].version}`)).To(Equal("1.0.0"))
		Expect(demo(`jsonpath={.status.modules[?(@.name=="warden")].state}`)).To(Equal("Ready"), "what runs is fine")
		Expect(p.runtime("get", "clusterrole", "warden", "-o", "jsonpath={.rules[*].resources[*]}")).To(Equal("configmaps"))

		By("the last command agrees")
		p.types(commands[last:])
		Expect(p.runtime("get", "clusterrole", "warden", "-o", "jsonpath={.rules[*].resources[*]}")).To(Equal("configmaps secrets"))
		Expect(demo(pendingOf + "}")).To(BeEmpty())
	})

	It("lets a module wait for the one that it needs, and begin when that is there", func() {
		p := playground()
		said := p.types(group("kyma requirements courier"))
		Expect(said("kyma requirements")).To(And(ContainSubstring("warden"), ContainSubstring("Missing")))
		Expect(p.hub("get", "configmap", "courier-settings", "--namespace=default", "-o", "jsonpath={.data.version}")).To(Equal("1.0.0"))
	})
}
