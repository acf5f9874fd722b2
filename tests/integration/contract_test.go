package integration

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
	"github.com/kyma-project/lifecycle-manager/pkg/installer"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// declaration is what an installation declares: two parts, and a condition on ConfigMaps.
type declaration struct {
	first, second string // YAML
	probe         string // CEL
}

// situation is how an installation is, in the words that both adapters use.
type situation struct{ State, Reason, Message string }

// adapter is a program that installs by pkg/installer/engine.
type adapter interface {
	// install declares what must be there, for the first time or again.
	install(declaration)
	// found returns how the installation is.
	found() (situation, error)
	// uninstall requests that nothing is left, and returns without waiting for it.
	uninstall()
}

// manifestAdapter installs by the Manifest controller.
type manifestAdapter struct{ manifest *v1beta2.Manifest }

func (a *manifestAdapter) install(wanted declaration) {
	GinkgoHelper()
	first, second := publish(testkit.RawManifest([]byte(wanted.first))), publish(testkit.RawManifest([]byte(wanted.second)))
	declare := func(m *v1beta2.Manifest) {
		m.Spec.Install = v1beta2.InstallInfo{Name: "first", Source: testkit.Raw(first)}
		m.Spec.AdditionalInstalls = nil
		also("second", second)(m)
		if wanted.probe != "" {
			m.Spec.Probes = []v1beta2.Probe{{Name: "open", Kind: "ConfigMap", Expression: wanted.probe}}
		}
	}
	if a.manifest == nil {
		a.manifest = standAlone(first, declare)
		return
	}
	testkit.Edit(env.Hub, a.manifest, declare)
}

func (a *manifestAdapter) found() (situation, error) {
	live, err := testkit.Live(env.Hub, a.manifest)()
	if err != nil {
		return situation{State: string(installer.StateGone)}, client.IgnoreNotFound(err)
	}
	told := conditions.Find(live.Status.Conditions, v1beta2.ConditionReady)
	if told == nil || live.Status.ObservedGeneration != live.Generation {
		return situation{}, nil
	}
	return situation{State: string(live.Status.State), Reason: told.Reason, Message: told.Message}, nil
}

func (a *manifestAdapter) uninstall() {
	GinkgoHelper()
	env.Hub.Delete(a.manifest)
}

// libraryAdapter installs by pkg/installer: each look is a call.
type libraryAdapter struct {
	inst installer.Installation
	call func(context.Context, installer.Installation) (installer.Report, error)
}

func (a *libraryAdapter) install(wanted declaration) {
	if a.inst.Name == "" {
		a.inst = installer.Installation{Name: testkit.Unique("library"), Namespace: metav1.NamespaceDefault, Config: env.Runtimes[0].Config}
	}
	a.inst.Sources = []installer.Source{installer.YAML("first", wanted.first), installer.YAML("second", wanted.second)}
	if wanted.probe != "" {
		a.inst.Probes = []installer.Probe{{Name: "open", Kind: "ConfigMap", Expression: wanted.probe}}
	}
	a.call = installer.Install
}

func (a *libraryAdapter) found() (situation, error) {
	report, err := a.call(ctx(), a.inst)
	if err != nil && report.State != installer.StateError {
		return situation{}, err
	}
	return situation{State: string(report.State), Reason: report.Reason, Message: report.Message}, nil
}

func (a *libraryAdapter) uninstall() { a.call = installer.Uninstall }

// is matches a situation; an empty reason stands for any.
func is(state installer.State, reason string, texts ...string) types.GomegaMatcher {
	matchers := []types.GomegaMatcher{HaveField("State", string(state))}
	if reason != "" {
		matchers = append(matchers, HaveField("Reason", reason))
	}
	for _, text := range texts {
		matchers = append(matchers, HaveField("Message", ContainSubstring(text)))
	}
	return And(matchers...)
}

// The laws of pkg/installer/engine, on both of its adapters.
var _ = Describe("An installation", func() {
	for program, newAdapter := range map[string]func() adapter{
		"Manifest controller": func() adapter { return &manifestAdapter{} },
		"library":             func() adapter { return &libraryAdapter{} },
	} {
		Context("by the "+program, func() {
			var (
				by   adapter
				name string
			)
			BeforeEach(func() {
				by, name = newAdapter(), testkit.Unique("contract")
			})
			declare := func(wanted declaration) {
				GinkgoHelper()
				by.install(wanted)
			}
			expect := func(matcher types.GomegaMatcher) {
				GinkgoHelper()
				Eventually(by.found).Should(matcher)
			}
			expectRemoval := func() {
				GinkgoHelper()
				by.uninstall()
				expect(is(installer.StateGone, ""))
			}

			It("applies a part when everything before it is ready, and restores what is deleted of it meanwhile", func() {
				late := mapNamed(name+"-late", "1.0.0")
				declare(declaration{first: string(stuckDeployment(name).YAML()), second: late})
				waits := is(installer.StateProcessing, installer.ReasonWaitingForInstall, "second waits for Deployment.apps default/"+name+": ")
				expect(waits)
				Expect(settings(name + "-late")()).To(BeNil())

				declare(declaration{first: string(testkit.Deployment(name, "1.0.0").YAML()), second: late})
				expect(is(installer.StateReady, ""))
				Expect(settings(name + "-late")()).NotTo(BeNil())

				declare(declaration{first: string(stuckDeployment(name).YAML()), second: late + "---\n" + mapNamed(name+"-new", "1.0.0")})
				expect(waits)
				env.Runtimes[0].Delete(configMap(name + "-late"))
				Eventually(func(g Gomega) {
					g.Expect(by.found()).To(waits)
					g.Expect(settings(name + "-late")()).NotTo(BeNil())
				}).Should(Succeed())
				Expect(settings(name + "-new")()).To(BeNil())
				expectRemoval()
				Expect(settings(name + "-late")()).To(BeNil())
			})

			It("counts an object as ready when the probes agree, also for the parts that wait for it", func() {
				declare(declaration{
					first: mapNamed(name+"-first", "1.0.0"), second: mapNamed(name+"-second", "1.0.0"),
					probe: `!self.metadata.name.endsWith("-first") || has(self.data.phase)`,
				})
				waits := fmt.Sprintf("second waits for ConfigMap default/%s-first: probe open: ", name)
				expect(is(installer.StateProcessing, installer.ReasonWaitingForInstall, waits))
				Expect(settings(name + "-second")()).To(BeNil())
				say(name+"-first", "open")
				expect(is(installer.StateReady, ""))
				Expect(settings(name + "-second")()).NotTo(BeNil())
				expectRemoval()
			})

			It("applies the rest of a part of which an object is refused, and nothing new of later parts", func() {
				refused := fmt.Sprintf("apiVersion: v1\nkind: Service\nmetadata: {name: %s}\nspec: {ports: [{port: 123456}]}\n", name)
				first := mapNamed(name+"-first", "1.0.0")
				declare(declaration{first: refused + "---\n" + first, second: mapNamed(name+"-second", "1.0.0")})
				expect(is(installer.StateError, "", "Service default/"+name, "spec.ports"))
				Expect(settings(name + "-first")()).NotTo(BeNil())
				Expect(settings(name + "-second")()).To(BeNil())

				declare(declaration{first: first, second: mapNamed(name+"-second", "1.0.0")})
				expect(is(installer.StateReady, ""))
				expectRemoval()
				Expect(settings(name + "-first")()).To(BeNil())
			})

			It("refuses a change of a definition that breaks objects, before it writes anything", func() {
				before, after := widget(name, "1.0.0", nil), widget(name, "1.0.0", redOrBlue)
				only := func(content testkit.Content) string {
					return string(testkit.Content{Objects: content.Objects[:1]}.YAML())
				}
				declare(declaration{first: only(before), second: mapNamed(name+"-old", "1.0.0")})
				expect(is(installer.StateReady, ""))
				green := painted(before, "theirs", "green")
				env.Runtimes[0].Create(green)

				declare(declaration{first: only(after), second: mapNamed(name+"-new", "1.0.0")})
				expect(is(installer.StateError, installer.ReasonCRDChangeRefused, "colour"))
				Expect(settings(name + "-new")()).To(BeNil())
				Expect(settings(name + "-old")()).NotTo(BeNil())

				env.Runtimes[0].Delete(green)
				declare(declaration{first: only(before), second: mapNamed(name+"-old", "1.0.0")})
				expect(is(installer.StateReady, ""))
				expectRemoval()
				expectGone(env.Runtimes[0], definitionOf(before))
			})

			It("keeps a definition in use that it no longer declares, prunes the rest, and is blocked by it at its end", func() {
				definition, theirs := string(definitionFor(name)), userCR(testkit.Operator(name, "1.0.0"), "theirs")
				first := mapNamed(name+"-first", "1.0.0")
				declare(declaration{first: definition + "---\n" + mapNamed(name+"-old", "1.0.0"), second: first})
				expect(is(installer.StateReady, ""))
				env.Runtimes[0].Create(theirs)

				declare(declaration{first: first, second: mapNamed(name+"-new", "1.0.0")})
				expect(is(installer.StateReady, ""))
				Eventually(settings(name + "-old")).Should(BeNil())
				expectThere(env.Runtimes[0], definitionOf(testkit.Operator(name, "1.0.0")), theirs)

				by.uninstall()
				expect(is(installer.StateDeleting, installer.ReasonDeletionBlocked, "theirs"))
				env.Runtimes[0].Delete(theirs)
				expect(is(installer.StateGone, ""))
				expectGone(env.Runtimes[0], definitionOf(testkit.Operator(name, "1.0.0")))
			})

			It("lets an operator finish its custom resources before it deletes the operator", func() {
				operator := testkit.Operator(name, "1.0.0")
				held := userCR(operator, "ours")
				held.SetFinalizers([]string{"example.com/tidy"})
				custom := string(testkit.Content{Objects: append(operator.Objects[:0:0], held)}.YAML())
				declare(declaration{first: string(operator.YAML()), second: custom})
				expect(is(installer.StateReady, ""))

				by.uninstall()
				expect(is(installer.StateDeleting, installer.ReasonWaitingForDeletion, "example.com/tidy"))
				expectThere(env.Runtimes[0], deployment(name), definitionOf(operator))
				testkit.Edit(env.Runtimes[0], held, func(cr *unstructured.Unstructured) { cr.SetFinalizers(nil) })
				expect(is(installer.StateGone, ""))
				expectGone(env.Runtimes[0], deployment(name), definitionOf(operator))
			})
		})
	}
})
