package node

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

const (
	// releases labels what needs the folders of two releases; make e2e-release builds them.
	releases = "release"
	// releaseBefore and releaseNow are the variables that name these folders.
	releaseBefore, releaseNow = "RELEASE_BEFORE", "RELEASE"
	// modulesAt is the registry of the modules, as pods on the node reach it.
	modulesAt = "http://10.199.0.2:" + registryPort
)

// releaseDir is the folder of a release.
type releaseDir struct{ path, version string }

// releaseFrom returns the release in the folder that a variable names, and loads its image into the hub's node, as nodes without a registry
// get it.
func releaseFrom(variable string) releaseDir {
	GinkgoHelper()
	dir := os.Getenv(variable)
	if dir == "" {
		Skip(variable + " is not set: make e2e-release builds the releases")
	}
	charts, err := filepath.Glob(filepath.Join(dir, "lifecycle-manager-*.tgz"))
	Expect(err).NotTo(HaveOccurred())
	Expect(charts).To(HaveLen(1), "charts in %s", dir)
	version := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(charts[0]), "lifecycle-manager-"), ".tgz")
	hub.ctr("images", "import", filepath.Join(dir, "lifecycle-manager_"+version+"_image.tar"))
	return releaseDir{dir, version}
}

// image is the name by which the installation knows its image.
func (r releaseDir) image() string { return "lifecycle-manager:" + r.version }

// installation is the release's install.yaml, which names the registry of the modules.
func (r releaseDir) installation() string { return filepath.Join(r.path, "install.yaml") }

// overlay writes the kustomization of docs/releasing.md beside the release's install.yaml, and returns its folder.
func (r releaseDir) overlay() string {
	GinkgoHelper()
	page, err := os.ReadFile(filepath.Join(root, "docs", "releasing.md"))
	Expect(err).NotTo(HaveOccurred())
	_, text, found := strings.Cut(string(page), "```yaml\nresources: [install.yaml]\n")
	Expect(found).To(BeTrue(), "the kustomization in docs/releasing.md")
	text, _, _ = strings.Cut(text, "```")
	Expect(strings.Count(text, "https://registry.example.com")).To(Equal(1), "the registry in\n%s", text)
	text = "resources: [install.yaml]\n" + strings.Replace(text, "https://registry.example.com", modulesAt, 1)
	dir := GinkgoT().TempDir()
	installation, err := os.ReadFile(r.installation())
	Expect(err).NotTo(HaveOccurred())
	Expect(os.WriteFile(filepath.Join(dir, "install.yaml"), installation, 0o600)).To(Succeed())
	Expect(os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(text), 0o600)).To(Succeed())
	return dir
}

// chart returns the arguments by which helm installs or upgrades to the release's chart, with further values.
func (r releaseDir) chart(verb string, values ...string) []string {
	args := []string{
		verb, "lifecycle-manager", filepath.Join(r.path, "lifecycle-manager-"+r.version+".tgz"), "--namespace", v1beta2.DefaultNamespace,
		"--create-namespace", "--set", "local.enabled=true",
	}
	for _, value := range values {
		args = append(args, "--set", value)
	}
	return args
}

// administer runs a program on the hub as its administrator, whose machine has kubectl and helm, and neither Go nor the checkout.
func administer(program string, args ...string) {
	GinkgoHelper()
	path := map[string]string{"kubectl": filepath.Join(assets, "kubectl"), "helm": filepath.Join(root, "bin", "helm")}[program]
	home := GinkgoT().TempDir()
	command := exec.Command(path, args...)
	command.Dir, command.Env = home, []string{"HOME=" + home, "PATH=", "KUBECONFIG=" + filepath.Join(hub.dir, "kubeconfig")}
	out, err := command.CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), "%s %s\n%s", program, strings.Join(args, " "), out)
	stepf("%s %s", program, strings.Join(args, " "))
}

// awaitManager waits until the one pod of the manager that is ready runs a release's image, and leads.
func awaitManager(of releaseDir) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		ready := managers()
		g.Expect(ready).To(HaveLen(1))
		g.Expect(ready[0].Spec.Containers[0].Image).To(Equal(of.image()))
		holder, err := leaderName()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(holder).To(ContainSubstring(ready[0].Name), "who leads")
	}).Should(Succeed())
}

// life is what of a module must outlive another version of the manager: identities, generations, and how often each container started.
func life(where *cluster) map[string]any {
	GinkgoHelper()
	found := map[string]any{"generation": deployment(where, greeter).Generation}
	for name, uid := range identities(where) {
		found[name] = uid
	}
	for _, pod := range podsOf(background(), where, greeter) {
		for i := range pod.Status.ContainerStatuses {
			found["pod "+string(pod.UID)+" restarts"] = pod.Status.ContainerStatuses[i].RestartCount
		}
	}
	return found
}

// outlives has a module of a Kyma run while the manager changes: nothing of it is made anew or restarted, and the manager of after manages it.
func outlives(name string, where *cluster, change func()) {
	GinkgoHelper()
	awaitReady(name, older)
	greet(where, "before")
	before := life(where)
	change()
	// A version that the new manager alone can install: only then is it known to have gone through this Kyma.
	offer(beacon, older, older)
	kyma := get(name)
	kyma.Spec.Modules = append(kyma.Spec.Modules, v1beta2.Module{Name: beacon})
	Expect(hub.client.Update(background(), kyma)).To(Succeed())
	awaitReady(name, older, older)
	now := life(where)
	for what, value := range before {
		Expect(now).To(HaveKeyWithValue(what, value), "%s changed with the manager", what)
	}
	offer(greeter, newer, newer)
	awaitReady(name, newer, older)
	greet(where, "after")
	Expect(hub.client.Delete(background(), get(name))).To(Succeed())
	Eventually(func() *v1beta2.Kyma { return get(name) }).Should(BeNil())
	Eventually(func() bool { return absent(where, "greeter-system") && absent(where, "beacon-system") }).Should(BeTrue())
}

// definitionNames returns the names of the definitions that a release brings, which helm leaves where they are.
func definitionNames() (names []string) {
	GinkgoHelper()
	files, err := filepath.Glob(filepath.Join(root, "config", "crd", "bases", v1beta2.GroupVersion.Group+"_*.yaml"))
	Expect(err).NotTo(HaveOccurred())
	for _, file := range files {
		plural := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), v1beta2.GroupVersion.Group+"_"), ".yaml")
		names = append(names, plural+"."+v1beta2.GroupVersion.Group)
	}
	return names
}

var _ = Describe("A release, from its folder alone", Ordered, Label(long, releases), func() {
	var (
		old, now releaseDir
		before   map[string]bool
	)

	BeforeAll(func() {
		old, now = releaseFrom(releaseBefore), releaseFrom(releaseNow)
		Expect(old.version).NotTo(Equal(now.version))
		if whole := "docker.io/library/" + old.image(); !strings.Contains(hub.ctr("images", "ls", "--quiet"), whole) {
			hub.ctr("images", "tag", old.image(), whole) // releases up to 6da4d123 have a name that a kubelet does not look for
		}
		before = settled(hub)
	})

	AfterEach(func() { Expect(since(before, hub)).To(BeEmpty(), "what is left in the hub") })

	It("makes a hub by kubectl, becomes the next one while modules run, and goes", func() {
		administer("kubectl", "apply", "--server-side", "-k", old.overlay())
		awaitManager(old)
		runtime := newCluster("runtime")
		runtime.start()
		DeferCleanup(func() { runtime.stop() })
		config := rest.CopyConfig(runtime.config)
		config.Host = "https://10.199.0.2:" + runtimePort
		access, err := localcluster.KubeconfigOf("runtime", config)
		Expect(err).NotTo(HaveOccurred())
		offer(greeter, older, older)
		Expect(hub.client.Create(background(), testkit.NewAccessSecret(remote, access))).To(Succeed())
		Expect(hub.client.Create(background(), testkit.Kyma(remote, testkit.WithModule(greeter)))).To(Succeed())
		outlives(remote, runtime, func() {
			administer("kubectl", "apply", "--server-side", "-f", now.installation())
			awaitManager(now)
		})
		administer("kubectl", "delete", "-f", now.installation())
	})

	It("makes a hub by install.yaml alone", func() {
		administer("kubectl", "apply", "-f", now.installation())
		awaitManager(now)
		administer("kubectl", "delete", "-f", now.installation())
	})

	It("makes a single cluster by the chart, becomes the next one while modules run, and goes", func() {
		administer("helm", old.chart("install", "registry.host="+modulesAt)...)
		awaitManager(old)
		offer(greeter, older, older)
		Expect(hub.client.Create(background(), testkit.Kyma(local, testkit.Local(), testkit.WithModule(greeter)))).To(Succeed())
		outlives(local, hub, func() {
			administer("helm", now.chart("upgrade")...)
			awaitManager(now)
		})
		administer("helm", "uninstall", "lifecycle-manager", "--namespace", v1beta2.DefaultNamespace, "--wait")
		administer("kubectl", append([]string{"delete", "crd"}, definitionNames()...)...)
		administer("kubectl", "delete", "namespace", v1beta2.DefaultNamespace)
	})
})
