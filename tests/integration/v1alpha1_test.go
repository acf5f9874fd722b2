package integration

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1alpha1"
	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/conversion"
	"github.com/kyma-project/lifecycle-manager/internal/manager/setup"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

const (
	oldKymas     = "kymas.v1alpha1.operator.kyma-project.io"
	oldManifests = "manifests.v1alpha1.operator.kyma-project.io"
)

// days is a hub of its own that serves v1alpha1, with a manager outside of it, and the users who use kubectl there.
type days struct {
	env    *testkit.Env
	access *rest.Config
	url    string
	stop   func()
}

// begin starts the hub and installs what config/components/webhook adds to it.
func begin() *days {
	GinkgoHelper()
	started, err := testkit.Launch(ctx(), testkit.Options{Quiet: true})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(started.Stop()).To(Succeed()) })
	d := &days{env: started, stop: func() {}}
	var objects []*unstructured.Unstructured
	for _, object := range started.Hub.Kustomize("config/playground") {
		switch object.GetKind() {
		case "CustomResourceDefinition", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding":
			objects = append(objects, object)
		}
	}
	started.Hub.Apply(objects...)
	d.access = started.ManagerConfig("config/playground")
	d.url = "https://" + freeAddress()
	return d
}

func freeAddress() string {
	GinkgoHelper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	Expect(listener.Close()).To(Succeed())
	return listener.Addr().String()
}

func answers(url string) error {
	answer, err := http.Get(url)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", url, answer.Status)
	}
	return nil
}

// start runs the manager and waits until it converts; lifetime is that of a certificate.
func (d *days) start(lifetime time.Duration) {
	GinkgoHelper()
	d.run(func(c *setup.Config) { c.WebhookLifetime = lifetime })
	// The API server has been told, and follows.
	Eventually(func() error { _, err := d.kubectl(oldKyma("first"), "apply", "-f", "-"); return err }).Should(Succeed())
	d.do("", "delete", "kyma", "first")
}

// run runs the manager and waits until it is ready.
func (d *days) run(change func(*setup.Config)) {
	GinkgoHelper()
	config := setup.Defaults()
	config.RegistryHost, config.Namespace = "http://"+d.env.Registry.Host, ""
	config.MetricsAddress, config.ProbeAddress = "0", freeAddress()
	config.ContentDir = GinkgoT().TempDir()
	config.Webhooks, config.WebhookURL, config.WebhookAddress = true, d.url, strings.TrimPrefix(d.url, "https://")
	change(&config)
	Expect(config.Validate()).To(Succeed())
	running, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- setup.Run(running, d.access, config, d.env.Log.Logger(), setup.Hooks{AllowManyManagers: true})
	}()
	d.stop = func() {
		GinkgoHelper()
		cancel()
		Eventually(done).Should(Receive(BeNil()), "the manager ends without an error")
		d.stop = func() {}
	}
	Eventually(func() error { return answers("http://" + config.ProbeAddress + "/readyz") }, "60s").Should(Succeed())
}

// kubectl runs one command in the namespace of Kymas, with text as what -f - reads.
func (d *days) kubectl(text string, args ...string) (string, error) {
	bounded, cancel := context.WithTimeout(ctx(), time.Minute)
	defer cancel()
	command := exec.CommandContext(bounded, d.env.Hub.Kubectl, append([]string{"--kubeconfig=" + d.env.Hub.Kubeconfig, "--namespace=kcp-system"}, args...)...)
	command.Stdin = strings.NewReader(text)
	var out, complaints strings.Builder
	command.Stdout, command.Stderr = &out, &complaints
	if err := command.Run(); err != nil {
		return out.String(), fmt.Errorf("%w: %s", err, complaints.String())
	}
	return out.String(), nil
}

func (d *days) do(text string, args ...string) string {
	GinkgoHelper()
	out, err := d.kubectl(text, args...)
	Expect(err).NotTo(HaveOccurred(), "kubectl %s", strings.Join(args, " "))
	return out
}

// kyma is one as the first README shows it.
func oldKyma(name string, components ...string) string {
	text := "apiVersion: operator.kyma-project.io/v1alpha1\nkind: Kyma\nmetadata:\n  name: " + name + "\nspec:\n  components:\n"
	for _, component := range components {
		text += "  - name: " + component + "\n"
	}
	return text
}

func (d *days) spec(name string) v1beta2.KymaSpec {
	GinkgoHelper()
	found := &v1beta2.Kyma{}
	Expect(d.env.Hub.Client.Get(ctx(), client.ObjectKey{Namespace: v1beta2.DefaultNamespace, Name: name}, found)).To(Succeed())
	Expect(found.Annotations).NotTo(HaveKey(v1alpha1.AnnotationHub), "nothing of v1alpha1 stays behind")
	return found.Spec
}

func namesOf(spec v1beta2.KymaSpec) []string {
	var names []string
	for _, module := range spec.Modules {
		names = append(names, module.Name)
	}
	return names
}

var _ = Describe("v1alpha1", Ordered, func() {
	var d *days

	BeforeAll(func() {
		d = begin()
		d.start(conversion.DefaultLifetime)
		DeferCleanup(func() { d.stop() })
		for _, module := range []string{"istio", "serverless", "eventing"} {
			d.env.Offer(module, "1.0.0", testkit.ConfigMaps(module, "1.0.0", 1), "regular", "fast")
		}
	})

	wait := func(name string) {
		GinkgoHelper()
		d.do("", "wait", "--for=condition=Ready", "--timeout=1m", oldKymas+"/"+name)
	}

	It("makes a Kyma of components a local one of channel regular that counts custom resources", func() {
		d.do(oldKyma("kyma-sample", "istio", "serverless"), "apply", "--validate=strict", "-f", "-")
		wait("kyma-sample")
		spec := d.spec("kyma-sample")
		Expect(namesOf(spec)).To(Equal([]string{"istio", "serverless"}))
		Expect(spec.Channel).To(Equal("regular"))
		Expect(spec.Remote).To(HaveValue(BeFalse()))
		Expect(spec.Readiness).To(Equal(v1beta2.ReadinessBoth))
		Expect(d.do("", "get", oldKymas, "kyma-sample", "--no-headers")).To(MatchRegexp(`kyma-sample +Ready`))
		Expect(d.do("", "get", oldKymas, "kyma-sample", "-o", "jsonpath={.spec}|{.metadata.annotations.operator\\.kyma-project\\.io/v1beta2}")).
			To(Equal(`{"components":[{"name":"istio"},{"name":"serverless"}]}|`))
	})

	It("keeps what only v1beta2 can say while components are edited, by whatever way", func() {
		d.do("", "patch", "kyma", "kyma-sample", "--type=merge",
			`--patch={"spec":{"channel":"fast","modules":[{"name":"istio","customResourcePolicy":"Ignore"},{"name":"serverless"}]}}`)
		d.do(oldKyma("kyma-sample", "istio", "serverless", "eventing"), "apply", "-f", "-")
		spec := d.spec("kyma-sample")
		Expect(namesOf(spec)).To(Equal([]string{"istio", "serverless", "eventing"}))
		Expect(spec.Channel).To(Equal("fast"))
		Expect(spec.Modules[0].CustomResourcePolicy).To(Equal(v1beta2.CustomResourcePolicyIgnore))

		By("kubectl patch")
		d.do("", "patch", oldKymas, "kyma-sample", "--type=merge", `--patch={"spec":{"components":[{"name":"istio"},{"name":"eventing"}]}}`)
		spec = d.spec("kyma-sample")
		Expect(namesOf(spec)).To(Equal([]string{"istio", "eventing"}))
		Expect(spec.Channel).To(Equal("fast"))

		By("server-side apply, in both versions")
		d.do(oldKyma("kyma-sample", "istio"), "apply", "--server-side", "--force-conflicts", "--field-manager=old", "-f", "-")
		d.do("apiVersion: operator.kyma-project.io/v1beta2\nkind: Kyma\nmetadata:\n  name: kyma-sample\nspec:\n  channel: regular\n",
			"apply", "--server-side", "--force-conflicts", "--field-manager=new", "-f", "-")
		spec = d.spec("kyma-sample")
		Expect(spec.Channel).To(Equal("regular"))
		Expect(spec.Modules[0].CustomResourcePolicy).To(Equal(v1beta2.CustomResourcePolicyIgnore))

		By("kubectl replace of what was read")
		Eventually(func() error { // the manager writes the status meanwhile
			read := d.do("", "get", oldKymas, "kyma-sample", "-o", "yaml")
			_, err := d.kubectl(read, "replace", "-f", "-")
			return err
		}).Should(Succeed())
		Expect(d.spec("kyma-sample")).To(Equal(spec))
		wait("kyma-sample")
	})

	It("refuses a write that leaves out what v1alpha1 cannot say, so that no remote Kyma turns into a local one", func() {
		d.do("apiVersion: operator.kyma-project.io/v1beta2\nkind: Kyma\nmetadata:\n  name: far\nspec:\n  channel: regular\n", "create", "-f", "-")
		Eventually(func() error {
			_, err := d.kubectl(oldKyma("far", "istio"), "replace", "-f", "-", "--dry-run=server")
			return err
		}).Should(MatchError(ContainSubstring("this object has settings that v1alpha1 cannot say")))
		Expect(d.spec("far").Remote).To(HaveValue(BeTrue()))
		forged := strings.Replace(oldKyma("forged", "istio"), "metadata:\n",
			"metadata:\n  annotations:\n    operator.kyma-project.io/v1beta2: '{\"spec\":{\"channel\":\"NO\"}}'\n", 1)
		_, err := d.kubectl(forged, "create", "-f", "-")
		Expect(err).To(MatchError(ContainSubstring("is the operator's own")))
		d.do("", "delete", "kyma", "far")
	})

	It("does not lose the inventory of a Manifest that is edited", func() {
		names := strings.Fields(d.do("", "get", "manifests", "-l", v1beta2.LabelKymaName+"=kyma-sample", "-o", "jsonpath={.items[*].metadata.name}"))
		Expect(names).NotTo(BeEmpty())
		before := &v1beta2.Manifest{}
		key := client.ObjectKey{Namespace: v1beta2.DefaultNamespace, Name: names[0]}
		Expect(d.env.Hub.Client.Get(ctx(), key, before)).To(Succeed())
		Expect(before.Status.Synced).NotTo(BeEmpty())
		Expect(d.do("", "get", oldManifests, names[0], "-o", "jsonpath={.spec.installs[*].name}")).To(Equal("raw-manifest"))
		d.do(d.do("", "get", oldManifests, names[0], "-o", "yaml"), "replace", "-f", "-")
		d.do("", "label", oldManifests, names[0], "mine=stays")
		after := &v1beta2.Manifest{}
		Expect(d.env.Hub.Client.Get(ctx(), key, after)).To(Succeed())
		Expect(after.Spec).To(Equal(before.Spec))
		Expect(after.Status.Synced).To(Equal(before.Status.Synced))
		Expect(after.Generation).To(Equal(before.Generation), "nothing that counts has changed")
	})

	It("says what is wrong in the words of the version that is used", func() {
		_, err := d.kubectl(oldKyma("Wrong"), "create", "-f", "-")
		Expect(err).To(HaveOccurred())
		empty := "apiVersion: operator.kyma-project.io/v1alpha1\nkind: Manifest\nmetadata:\n  name: empty\nspec:\n  installs: []\n"
		_, err = d.kubectl(empty, "create", "-f", "-")
		Expect(err).To(MatchError(ContainSubstring("spec.installs")))
	})

	It("leaves people alone who use v1beta2 while no one converts, and goes on with the same certificate", func() {
		before := d.secret()
		d.stop()
		_, err := d.kubectl("", "get", oldKymas, "kyma-sample")
		Expect(err).To(MatchError(ContainSubstring("conversion webhook")))
		d.do("", "get", "kymas")
		d.do("apiVersion: operator.kyma-project.io/v1beta2\nkind: Kyma\nmetadata:\n  name: new\nspec:\n  channel: regular\n  remote: false\n", "apply", "-f", "-")
		d.do("", "label", "kyma", "new", "mine=stays")
		d.do("", "patch", "kyma", "new", "--type=merge", `--patch={"spec":{"channel":"fast"}}`)
		d.do("", "delete", "kyma", "new")

		By("an object that was last written as v1alpha1: Kubernetes asks for the conversion to keep its record of who wrote what")
		fast := "apiVersion: operator.kyma-project.io/v1beta2\nkind: Kyma\nmetadata:\n  name: kyma-sample\nspec:\n  channel: fast\n"
		_, err = d.kubectl(fast, "apply", "--server-side", "--force-conflicts", "--field-manager=new", "-f", "-")
		Expect(err).To(MatchError(ContainSubstring("conversion webhook")), "server-side apply cannot do without")
		d.run(func(c *setup.Config) { c.Webhooks = false })
		d.do("", "patch", "kyma", "kyma-sample", "--type=merge", `--patch={"spec":{"channel":"regular"}}`)
		d.do("", "wait", "--for=condition=Ready", "--timeout=20s", "kyma/kyma-sample")
		Eventually(func() string { return d.do("", "get", "kyma", "kyma-sample", "-o", "jsonpath={.status.activeChannel}") }).Should(Equal("regular"))
		d.stop()

		d.start(conversion.DefaultLifetime)
		Expect(d.secret().Data).To(Equal(before.Data))
		wait("kyma-sample")
	})

	describeCertificate(func() *days { return d })

	It("can be taken away again, in one step for each definition", func() {
		for _, name := range conversion.Definitions {
			d.do("", "patch", "crd", name, "--type=json", `--patch=[
				{"op":"test","path":"/spec/versions/0/name","value":"v1alpha1"}, {"op":"remove","path":"/spec/versions/0"},
				{"op":"replace","path":"/spec/conversion","value":{"strategy":"None"}}]`)
		}
		d.env.Hub.Apply(d.env.Hub.Kustomize("config/crd")...)
		Eventually(func() error { _, err := d.kubectl("", "get", oldKymas); return err }).Should(MatchError(Or(
			ContainSubstring("resource type"), ContainSubstring("could not find the requested resource")))) // as kubectl remembers or not
		d.do("apiVersion: operator.kyma-project.io/v1beta2\nkind: Kyma\nmetadata:\n  name: kyma-sample\nspec:\n  channel: fast\n",
			"apply", "--server-side", "--force-conflicts", "--field-manager=new", "-f", "-")
		Expect(namesOf(d.spec("kyma-sample"))).To(Equal([]string{"istio"}))
	})
})
