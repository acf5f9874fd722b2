package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/random"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// newcomer is a reader of docs/getting-started.md: what the page says that one has, and what the page's settings are for that one.
type newcomer struct {
	cluster  *localcluster.ControlPlane
	registry *localcluster.Registry
	shell    *session
	dir      string
	manager  *managerProcess
}

// pageVersion is the version in the examples of the page.
const pageVersion = "1.2.3"

// equipNewcomer starts a cluster that has never heard of Kyma, with workloads, and a registry, and puts a release into a folder.
func equipNewcomer(ctx context.Context) *newcomer {
	GinkgoHelper()
	n := &newcomer{dir: filepath.Join(GinkgoT().TempDir(), "release")}
	assets, err := localcluster.Assets(ctx)
	Expect(err).NotTo(HaveOccurred())
	n.cluster, err = localcluster.Start(ctx, localcluster.Options{Name: "cluster", Assets: assets, Workloads: true})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(n.cluster.Stop)
	n.registry, err = localcluster.StartRegistry(ctx, localcluster.RegistryOptions{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(n.registry.Stop)
	n.putRelease()
	n.shell = openSession(n.dir, append(userEnvironment(filepath.Dir(n.dir), filepath.Dir(n.cluster.Kubectl)), "KUBECONFIG="+n.cluster.Kubeconfig))
	return n
}

// putRelease makes a folder like one of make release, of the programs that were built for this suite. hack/release itself releases only what
// is committed, and links everything anew.
func (n *newcomer) putRelease() {
	GinkgoHelper()
	kyma, err := os.ReadFile(filepath.Join(programs, "kyma"))
	Expect(err).NotTo(HaveOccurred())
	var packed bytes.Buffer
	compressor, err := gzip.NewWriterLevel(&packed, gzip.NoCompression) // compressing takes longer than the rest of the page
	Expect(err).NotTo(HaveOccurred())
	program := tar.NewWriter(compressor)
	Expect(program.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "kyma", Mode: 0o755, Size: int64(len(kyma))})).To(Succeed())
	Expect(program.Write(kyma)).To(Equal(len(kyma)))
	Expect(program.Close()).To(Succeed())
	Expect(compressor.Close()).To(Succeed())
	installation, err := run(filepath.Join(programs, "kyma"), "install", "--export", "--image", "lifecycle-manager:"+pageVersion)
	Expect(err).NotTo(HaveOccurred())
	var sums bytes.Buffer
	Expect(os.Mkdir(n.dir, 0o755)).To(Succeed())
	for name, data := range map[string][]byte{
		"install.yaml": []byte(installation), "kyma_" + pageVersion + "_linux_amd64.tar.gz": packed.Bytes(),
		"lifecycle-manager_" + pageVersion + "_image.tar": anyImage(pageVersion),
	} {
		Expect(os.WriteFile(filepath.Join(n.dir, name), data, 0o644)).To(Succeed())
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(data), name)
	}
	Expect(os.WriteFile(filepath.Join(n.dir, "SHA256SUMS"), sums.Bytes(), 0o644)).To(Succeed())
}

// anyImage returns an OCI layout in a tar, as a release has one, with an image that has no program in it: no container runs in this test.
func anyImage(version string) []byte {
	GinkgoHelper()
	index, err := random.Index(1024, 1, 2)
	Expect(err).NotTo(HaveOccurred())
	dir := GinkgoT().TempDir()
	images, err := layout.Write(dir, empty.Index)
	Expect(err).NotTo(HaveOccurred())
	Expect(images.AppendIndex(index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": version}))).To(Succeed())
	var packed bytes.Buffer
	writer := tar.NewWriter(&packed)
	Expect(writer.AddFS(os.DirFS(dir))).To(Succeed())
	Expect(writer.Close()).To(Succeed())
	return packed.Bytes()
}

// runManager stands in for the pod of the manager, since the cluster of this test has Deployments and Pods but no containers: it runs the
// manager's program with the arguments of the Deployment that was installed, as its ServiceAccount, with the rights that were installed.
func (n *newcomer) runManager(ctx context.Context) {
	GinkgoHelper()
	hub, err := client.New(n.cluster.Config, client.Options{Scheme: testkit.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	deployment := &appsv1.Deployment{}
	key := client.ObjectKey{Namespace: v1beta2.DefaultNamespace, Name: testkit.ManagerServiceAccount}
	Expect(hub.Get(ctx, key, deployment)).To(Succeed())
	pod := deployment.Spec.Template.Spec
	access, err := n.cluster.ServiceAccountConfig(ctx, v1beta2.DefaultNamespace, pod.ServiceAccountName)
	Expect(err).NotTo(HaveOccurred())
	kubeconfig, err := localcluster.KubeconfigOf("cluster", access)
	Expect(err).NotTo(HaveOccurred())
	dir := GinkgoT().TempDir()
	file := filepath.Join(dir, "kubeconfig")
	Expect(os.WriteFile(file, kubeconfig, 0o600)).To(Succeed())
	// Its addresses and its folder are those of a container; newManager has others.
	own := slices.DeleteFunc(slices.Clone(pod.Containers[0].Args), func(arg string) bool {
		return strings.Contains(arg, "-bind-address=") || strings.HasPrefix(arg, "--content-dir=")
	})
	n.manager = newManager(dir, file, own...)
	n.manager.start()
	DeferCleanup(n.manager.end)
}

// settings returns a block of the page with the newcomer's own values in place of those of the page.
func (n *newcomer) settings(block string) string {
	GinkgoHelper()
	for page, own := range map[string]string{"https://registry.example.com": "http://" + n.registry.Host} {
		Expect(strings.Count(block, page)).To(Equal(1), "%s in the settings of the page", page)
		block = strings.Replace(block, page, own, 1)
	}
	return block
}

// The page is followed as it stands there: each line in one shell, each output compared.
var _ = Describe("docs/getting-started.md", Ordered, func() {
	It("leads to a first module, its upgrade, and back to nothing", func(ctx context.Context) {
		page, err := os.ReadFile(filepath.Join(root, "docs", "getting-started.md"))
		Expect(err).NotTo(HaveOccurred())
		blocks := fences(page)
		n := equipNewcomer(ctx)
		for i, block := range blocks {
			if block.language != "bash" {
				Expect(block.language).To(Equal("text"), "a block is commands or what they print")
				continue
			}
			text := block.text
			if i == 0 {
				text = n.settings(text)
			}
			var printed strings.Builder
			for _, command := range commands(text) {
				out, code := n.shell.enter(ctx, command)
				Expect(code).To(Equal(0), "%s\n%s", command, out)
				printed.WriteString(out)
				if strings.HasPrefix(command, "kyma install ") {
					n.runManager(ctx)
				}
			}
			if i+1 < len(blocks) && blocks[i+1].language == "text" {
				Expect(different(blocks[i+1].text, printed.String())).To(BeEmpty(), "what the page shows of\n%s\nwhich printed\n%s", text, &printed)
			}
		}
	})
})
