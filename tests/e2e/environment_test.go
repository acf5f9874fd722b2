package e2e

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

const (
	// inTime is how long anything may take on a machine that does much else.
	inTime = 2 * time.Minute
	// awhile is how long it is watched that something does not happen.
	awhile = 1500 * time.Millisecond

	pullSecret, loginSecret = "pull", "login"
	robot                   = "robot"
	account                 = "account"
)

// member is one of the Kymas, with its runtime.
type member struct {
	kyma    *v1beta2.Kyma
	runtime *testkit.Cluster
	line    *line
	before  []string // what the runtime held before the Kyma came
}

// environment is what the scenarios happen in: a hub, three runtimes, a registry and the manager's program.
type environment struct {
	*testkit.Env
	manager *managerProcess
	policy  string // file with the maintenance windows
	members []*member
	before  []string // what the hub held at first
}

// setScene starts everything. The manager runs as the ServiceAccount of config/default, with the rights that a deployed one has.
func setScene() *environment {
	GinkgoHelper()
	s := &environment{Env: testkit.Start(testkit.Options{Runtimes: 3, Workloads: true, HubWorkloads: true, Quiet: true})}
	dir := GinkgoT().TempDir()
	access, err := localcluster.KubeconfigOf("hub", s.ManagerConfig("config/default"))
	Expect(err).NotTo(HaveOccurred())
	kubeconfig, registries := filepath.Join(dir, "kubeconfig"), filepath.Join(dir, "registries.yaml")
	s.policy = filepath.Join(dir, "policy.json")
	s.windowAt(time.Now().Add(24 * time.Hour))
	hosts := fmt.Appendf(nil, "registries: [{host: %q, plainHTTP: true}]\n", s.Registry.Host)
	Expect(os.WriteFile(kubeconfig, access, 0o600)).To(Succeed())
	Expect(os.WriteFile(registries, hosts, 0o600)).To(Succeed())
	s.before = firstIn(s.Hub)
	s.Hub.Create(s.dockerSecret(loginSecret, "one"), s.dockerSecret(pullSecret, "one"))
	s.manager = newManager(dir, kubeconfig,
		"--registries-file="+registries, "--oci-registry-cred-secret="+loginSecret, "--skr-image-pull-secret="+pullSecret,
		"--maintenance-policy-file="+s.policy, "--restricted-default-modules="+guarded)
	s.manager.start()
	DeferCleanup(s.manager.end)
	return s
}

// windowAt makes the maintenance window of all three Kymas the hour that begins then.
func (s *environment) windowAt(begin time.Time) {
	GinkgoHelper()
	text := fmt.Sprintf(`{"rules":[{"match":{"plan":"^azure$"},"windows":[{"days":[],"begin":%q,"end":%q}]}]}`,
		begin.Format(time.RFC3339), begin.Add(time.Hour).Format(time.RFC3339))
	Expect(os.WriteFile(s.policy+".new", []byte(text), 0o600)).To(Succeed())
	Expect(os.Rename(s.policy+".new", s.policy)).To(Succeed())
}

// dockerSecret returns a Secret of the hub with a login for the registry.
func (s *environment) dockerSecret(name, password string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: v1beta2.DefaultNamespace, Name: name},
		Type:       corev1.SecretTypeDockerConfigJson,
		Data:       map[string][]byte{corev1.DockerConfigJsonKey: fmt.Appendf(nil, `{"auths":{%q:{"username":%q,"password":%q}}}`, s.Registry.Host, robot, password)},
	}
}

// newMember returns a Kyma with its modules, and a line to its runtime.
func newMember(name string, runtime *testkit.Cluster, modules []v1beta2.Module) *member {
	GinkgoHelper()
	address, err := url.Parse(runtime.Config.Host)
	Expect(err).NotTo(HaveOccurred())
	m := &member{runtime: runtime, line: layLine(address.Host), before: firstIn(runtime)}
	DeferCleanup(m.line.cut)
	m.kyma = testkit.Kyma(name, testkit.Labelled(account, "one"), testkit.Labelled("kyma-project.io/broker-plan-name", "azure"),
		testkit.Labelled("kyma-project.io/instance-id", "instance-of-"+name))
	m.kyma.Spec.Modules = modules
	return m
}

// join creates a member's Kyma and access Secret.
func (s *environment) join(m *member) {
	GinkgoHelper()
	s.Hub.Create(testkit.NewAccessSecret(m.kyma.Name, m.goodKubeconfig()), m.kyma.DeepCopy())
}

// goodKubeconfig leads to the runtime by the line, and may do everything there.
func (m *member) goodKubeconfig() []byte {
	GinkgoHelper()
	return m.kubeconfig("lifecycle-manager", "system:masters")
}

func (m *member) kubeconfig(user string, groups ...string) []byte {
	GinkgoHelper()
	config, err := m.runtime.AddUser(user, groups...)
	Expect(err).NotTo(HaveOccurred())
	config = rest.CopyConfig(config)
	config.Host = "https://" + m.line.address
	data, err := localcluster.KubeconfigOf("runtime", config)
	Expect(err).NotTo(HaveOccurred())
	return data
}

// rotate puts another kubeconfig into the member's access Secret.
func (s *environment) rotate(m *member, kubeconfig []byte) {
	GinkgoHelper()
	testkit.Edit(s.Hub, testkit.NewAccessSecret(m.kyma.Name, nil), func(secret *corev1.Secret) {
		secret.Data[v1beta2.AccessSecretKey] = kubeconfig
	})
}

// edit changes the Kyma on the hub.
func (s *environment) edit(m *member, change func(*v1beta2.Kyma)) {
	GinkgoHelper()
	testkit.Edit(s.Hub, m.kyma.DeepCopy(), change)
}

// editThere changes the Kyma in the runtime, as the runtime's user does.
func (m *member) editThere(change func(*v1beta2.Kyma)) {
	GinkgoHelper()
	testkit.Edit(m.runtime, m.copied(), change)
}

// copied returns the Kyma in the runtime.
func (m *member) copied() *v1beta2.Kyma {
	return &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: v1beta2.RuntimeNamespace, Name: v1beta2.RuntimeKymaName}}
}

// without takes modules from a Kyma.
func without(names ...string) func(*v1beta2.Kyma) {
	return func(k *v1beta2.Kyma) {
		k.Spec.Modules = slices.DeleteFunc(k.Spec.Modules, func(m v1beta2.Module) bool { return slices.Contains(names, m.Name) })
	}
}

// with adds modules to a Kyma.
func with(modules ...v1beta2.Module) func(*v1beta2.Kyma) {
	return func(k *v1beta2.Kyma) { k.Spec.Modules = append(k.Spec.Modules, modules...) }
}

// asFirst are modules as the Kyma had them at first.
func (m *member) asFirst(names ...string) []v1beta2.Module {
	return slices.DeleteFunc(slices.Clone(m.kyma.Spec.Modules), func(module v1beta2.Module) bool { return !slices.Contains(names, module.Name) })
}

// changed sets something of one module of a Kyma.
func changed(name string, change func(*v1beta2.Module)) func(*v1beta2.Kyma) {
	return func(k *v1beta2.Kyma) {
		for i := range k.Spec.Modules {
			if k.Spec.Modules[i].Name == name {
				change(&k.Spec.Modules[i])
			}
		}
	}
}

// labelled sets a label on the hub, or removes it when the value is empty.
func (s *environment) labelled(object client.Object, key, value string) {
	GinkgoHelper()
	testkit.Edit(s.Hub, object, func(o client.Object) {
		labels := o.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		if delete(labels, key); value != "" {
			labels[key] = value
		}
		o.SetLabels(labels)
	})
}

// sees waits until the Kyma on the hub is as the matchers say.
func (s *environment) sees(m *member, matchers ...types.GomegaMatcher) {
	GinkgoHelper()
	Eventually(testkit.Live(s.Hub, m.kyma)).WithTimeout(inTime).Should(And(matchers...), m.kyma.Name)
}

// whole waits until all three Kymas are Ready with ten modules.
func (s *environment) whole() {
	GinkgoHelper()
	for _, m := range s.members {
		s.sees(m, testkit.HaveState(v1beta2.StateReady), HaveField("Status.ModulesReady", "10/10"))
	}
}

// others returns the members but one.
func (s *environment) others(m *member) []*member {
	return slices.DeleteFunc(slices.Clone(s.members), func(o *member) bool { return o == m })
}

// unmoved checks that the Kymas of others stay Ready for a while.
func (s *environment) unmoved(members ...*member) {
	GinkgoHelper()
	Consistently(func(g Gomega) {
		for _, m := range members {
			g.Expect(testkit.Live(s.Hub, m.kyma)()).To(testkit.HaveState(v1beta2.StateReady), m.kyma.Name)
		}
	}).WithTimeout(awhile).Should(Succeed())
}

// runs waits until a module is Ready at a version in all these Kymas.
func (s *environment) runs(module, version string, members ...*member) {
	GinkgoHelper()
	for _, m := range members {
		s.sees(m, testkit.HaveModule(module, testkit.HaveState(v1beta2.StateReady), testkit.HaveVersion(version)))
	}
}

// manifest waits until the Manifest of a module is as the matchers say, and returns it.
func (s *environment) manifest(m *member, module string, matchers ...types.GomegaMatcher) *v1beta2.Manifest {
	GinkgoHelper()
	Eventually(s.ManifestOf(m.kyma.Name, module)).WithTimeout(inTime).Should(And(matchers...), m.kyma.Name)
	found, err := s.ManifestOf(m.kyma.Name, module)()
	Expect(err).NotTo(HaveOccurred())
	return found
}

// manifests lists those of a Kyma.
func (s *environment) manifests(m *member) func() ([]v1beta2.Manifest, error) {
	return func() ([]v1beta2.Manifest, error) {
		list := &v1beta2.ManifestList{}
		err := s.Hub.Client.List(context.Background(), list, client.MatchingLabels{v1beta2.LabelKymaName: m.kyma.Name})
		return list.Items, err
	}
}

// tells matches a Kyma or Manifest that is in a state for a reason, with a message that holds all the texts.
func tells(state v1beta2.State, reason string, texts ...string) types.GomegaMatcher {
	matchers := []types.GomegaMatcher{
		testkit.HaveState(state), testkit.HaveCondition(v1beta2.ConditionReady, metav1.ConditionFalse, reason),
	}
	for _, text := range texts {
		matchers = append(matchers, HaveField("Status.Conditions", ContainElement(And(
			HaveField("Type", v1beta2.ConditionReady), HaveField("Message", ContainSubstring(text))))))
	}
	return And(matchers...)
}

// there checks that objects exist.
func there(cluster *testkit.Cluster, objects ...client.Object) {
	GinkgoHelper()
	for _, object := range objects {
		Expect(testkit.Gone(cluster, object)()).To(BeFalse(), "%T %s", object, client.ObjectKeyFromObject(object))
	}
}

// gone waits until objects do not exist.
func gone(cluster *testkit.Cluster, objects ...client.Object) {
	GinkgoHelper()
	for _, object := range objects {
		Eventually(testkit.Gone(cluster, object)).WithTimeout(inTime).Should(BeTrue(), "%T %s", object, client.ObjectKeyFromObject(object))
	}
}

// explain shows what a user would look at after a failure.
func (s *environment) explain() {
	for _, m := range s.members {
		kyma, err := testkit.Live(s.Hub, m.kyma)()
		GinkgoWriter.Printf("\nKyma %s: %s %v %v\n", m.kyma.Name, kyma.Status.State, kyma.Status.Conditions, err)
		manifests, _ := s.manifests(m)()
		for i := range manifests {
			manifest := &manifests[i]
			GinkgoWriter.Printf("  %s %s %s %s\n", manifest.Name, manifest.Spec.Version, manifest.Status.State, strings.Join(messagesOf(manifest.Status.Conditions), "; "))
		}
	}
	GinkgoWriter.Printf("\nthe end of the manager's log\n%s\n", s.manager.tail())
}

func messagesOf(conditions []metav1.Condition) []string {
	var messages []string
	for _, c := range conditions {
		messages = append(messages, fmt.Sprintf("%s=%s (%s) %s", c.Type, c.Status, c.Reason, c.Message))
	}
	return messages
}
