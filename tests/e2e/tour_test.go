package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// The tour takes place in one sandbox, and in that sandbox is tried what else only the program and a real manager show.
var _ = Describe("The quick tour of the README", Ordered, func() {
	var (
		term *terminal
		dir  string
		tour []step
	)

	BeforeAll(func() {
		dir = filepath.Join(stateDir, "tour")
		term, tour = openTerminal(dir), steps("A quick tour")
		Expect(tour).To(HaveLen(9))
		DeferCleanup(func() {
			_, _ = run("env", "XDG_STATE_HOME="+dir, filepath.Join(programs, "kyma"), "provision", "delete", "local")
		})
	})

	JustAfterEach(func(ctx context.Context) {
		if CurrentSpecReport().Failed() {
			_, _ = term.try(ctx, "kyma provision list; kyma status || kubectl get kymas,manifests -A -o wide; tail -n 30 "+dir+"/kyma/sandboxes/*/*/manager.log")
		}
	})

	// walk does what a step of the README says, and expects what it promises.
	walk := func(ctx context.Context, i int) {
		GinkgoHelper()
		text := term.types(ctx, tour[i].commands)
		Expect(tour[i].printed(text)).To(BeEmpty(), "a line that the README promises of\n%s\nwhich printed\n%s", tour[i].commands, text)
	}

	It("begins with programs that make builds", func() {
		Expect(tour[0].commands).To(Equal("make cli build-manager\nexport PATH=\"$PWD/bin:$PATH\"\n"))
		Expect(run("make", "--dry-run", "cli", "build-manager")).To(And(MatchRegexp(`(?m) \./cmd/kyma$`), MatchRegexp(`(?m) \./cmd$`)))
	})

	It("makes clusters and a registry", func(ctx context.Context) { walk(ctx, 1) })

	It("installs a community module into a cluster that has never heard of Kyma", func(ctx context.Context) {
		publishing(ctx, term, "extra", settings("extra"))
		inRuntime := "export KUBECONFIG=$RUNTIME_KUBECONFIG\n"
		Expect(term.types(ctx, "kubectl --context runtime get crds -o name")).To(BeEmpty())
		term.types(ctx, "("+inRuntime+"kyma add extra --community --template offers/extra.yaml --registry $REGISTRY//example.com/module/extra)")
		Expect(term.types(ctx, "("+inRuntime+"kubectl get configmap extra -n default -o name; kyma list)")).
			To(And(ContainSubstring("configmap/extra"), MatchRegexp(`extra .*1\.0\.0 .*Installed`)))
		term.types(ctx, "("+inRuntime+"kyma delete extra --yes)")
		Expect(term.types(ctx, "("+inRuntime+"kubectl get configmap extra -n default --ignore-not-found; kyma list -o name)")).
			NotTo(ContainSubstring("extra"))
	})

	It("brings a manager that wants signatures", func(ctx context.Context) { walk(ctx, 2) })
	It("makes, signs, publishes and enables a module", func(ctx context.Context) { walk(ctx, 3) })
	It("shows what it consists of", func(ctx context.Context) { walk(ctx, 4) })
	It("publishes the next version, promotes it and sees it roll out", func(ctx context.Context) { walk(ctx, 5) })
	It("sees a version refused that a stranger signed, and the one before go on", func(ctx context.Context) { walk(ctx, 6) })
	It("signs it, and sees it installed", func(ctx context.Context) { walk(ctx, 7) })

	It("is a plugin of kubectl", func(ctx context.Context) {
		if err := os.Symlink("kyma", filepath.Join(programs, "kubectl-kyma")); !errors.Is(err, os.ErrExist) { // make cli made it
			Expect(err).NotTo(HaveOccurred())
		}
		Expect(term.types(ctx, "kubectl kyma list -o name")).To(ContainSubstring("module/hello"))
		Expect(term.types(ctx, "kubectl kyma status --help")).To(ContainSubstring("kubectl kyma status"))
	})

	It("ends add by what became of the module", func(ctx context.Context) {
		term.types(ctx, "kyma deploy --signatures off")
		publishing(ctx, term, "works", settings("works"))
		publishing(ctx, term, "stuck", homeless)
		term.types(ctx, "kubectl apply -f offers/works.yaml -f offers/stuck.yaml")

		Expect(term.types(ctx, "kyma add works")).To(ContainSubstring("works: version 1.0.0"))

		By("no node takes the pod of the other, so its image never runs")
		text, code := term.try(ctx, "kyma add stuck --timeout 10s")
		Expect(code).To(Equal(3), "%s", text)
		Expect(text).To(And(ContainSubstring("default/stuck"), ContainSubstring("0/1")), "the object that it waits for, and how far it is")
		term.types(ctx, "kyma delete stuck --yes")
	})

	It("loses none of ten modules that ten processes add to one Kyma at once", func(ctx context.Context) {
		var names []string
		for _, letter := range "abcdefghij" {
			name := "crowd-" + strings.Repeat(string(letter), 3)
			names = append(names, name)
			publishing(ctx, term, name, settings(name))
		}
		term.types(ctx, "kubectl apply -f offers")
		before := generation(ctx, term)

		crowd := make([]*exec.Cmd, len(names))
		said := make([]bytes.Buffer, len(names))
		for i, name := range names {
			crowd[i] = term.command(ctx, "exec kyma add "+name)
			crowd[i].Stdout, crowd[i].Stderr = &said[i], &said[i]
			Expect(crowd[i].Start()).To(Succeed())
		}
		for i := range crowd {
			Expect(crowd[i].Wait()).To(Succeed(), "%s", &said[i])
		}
		Expect(generation(ctx, term)).To(Equal(before+len(names)), "each wrote once")
		Expect(term.types(ctx, "kubectl get kyma demo -o jsonpath='{.spec.modules[*].name}'")).
			To(And(ContainSubstring("hello works"), WithTransform(strings.Fields, ContainElements(names))))
		Expect(strings.Fields(term.types(ctx, "kubectl --context runtime get configmaps -n default -o name"))).
			To(ContainElements("configmap/crowd-aaa", "configmap/crowd-jjj"))
	})

	It("leaves nothing", func(ctx context.Context) {
		Expect(naming(dir)).NotTo(BeEmpty())
		walk(ctx, 8)
		Expect(naming(dir)).To(BeEmpty(), "processes of the sandbox")
		Expect(filepath.Join(dir, "kyma", "sandboxes", "local")).NotTo(BeADirectory())
	})
})

// homeless is a Deployment for a node that there is not.
const homeless = `apiVersion: apps/v1
kind: Deployment
metadata: {name: stuck, namespace: default}
spec:
  selector: {matchLabels: {app: stuck}}
  template:
    metadata: {labels: {app: stuck}}
    spec:
      nodeSelector: {nobody: has-this}
      containers:
      - {name: manager, image: "registry.k8s.io/pause:3.10"}
`

func settings(name string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: default}\ndata: {module: %s}\n", name, name)
}

// publishing makes a module and publishes version 1.0.0 of it. What a cluster must know of it is then in folder offers of the terminal.
func publishing(ctx context.Context, term *terminal, name, manifest string) {
	GinkgoHelper()
	term.types(ctx, fmt.Sprintf(`mkdir -p offers %[1]s
cat >%[1]s/manifest.yaml <<'END'
%[2]sEND
cat >%[1]s/module-config.yaml <<'END'
name: example.com/module/%[1]s
version: 1.0.0
manifest: manifest.yaml
repository: https://example.com/%[1]s
documentation: https://example.com/%[1]s/docs
icons: [{name: module-icon, link: https://example.com/icon.svg}]
team: no one
END
kyma module create %[1]s --registry $REGISTRY --no-git -o - >offers/%[1]s.yaml`, name, manifest))
}

// generation of the Kyma's spec.
func generation(ctx context.Context, term *terminal) (number int) {
	GinkgoHelper()
	text := term.types(ctx, "kubectl get kyma demo -o jsonpath='{.metadata.generation}'")
	_, err := fmt.Sscan(text, &number)
	Expect(err).NotTo(HaveOccurred(), "%s", text)
	return number
}
