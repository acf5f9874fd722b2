package node

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/dashboard/operations"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

const (
	// users is the namespace of those who look at the dashboard.
	people = "people"
	// records is where the dashboard writes down what is under way.
	records = "klm-dashboard"
	// late is a version whose image the node gets only when the test says so: its installation lasts that long.
	late      = "1.4.0"
	lateImage = "samples.kyma-project.io/greeter:late"
	// lapse is after how long no one believes that a dashboard which was killed is at an operation still; see internal/dashboard/operations.
	lapse = 45 * time.Second
	// atRest is what a dashboard that no one uses may hold, and atRestCPU what it may use: far less than its pod asks for.
	atRest    = 128 << 20
	atRestCPU = 10_000_000
)

// way leads to the dashboard.
var way *tunnel

var _ = Describe("The dashboard in a pod", Ordered, func() {
	var (
		before            map[string]bool
		admin, stranger   *person
		operation, logged string // an operation, and what the pods have said
	)

	BeforeAll(func() {
		before = settled(hub)
		stepf("deploying the manager and the dashboard")
		hub.make("deploy", "DEPLOY=../tests/node/dashboard", "IMG="+image)
		Eventually(dashboards).Should(HaveLen(1))
		offer(greeter, late, newer, runs(newer, "late")) // a version of its own: what is published stays as it is
		Expect(hub.client.Create(background(), testkit.Kyma(local, testkit.Local()))).To(Succeed())
		space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: people}}
		Expect(hub.client.Create(background(), space)).To(Succeed())
		ours, core := []string{v1beta2.GroupVersion.Group}, []string{""}
		admin = newPerson("admin",
			rbacv1.PolicyRule{APIGroups: ours, Resources: []string{"kymas"}, Verbs: []string{"get", "list", "watch", "patch", "update"}},
			rbacv1.PolicyRule{
				APIGroups: ours, Resources: []string{"manifests", "moduletemplates", "modulereleasemetas"}, Verbs: []string{"get", "list", "watch"},
			},
			rbacv1.PolicyRule{APIGroups: core, Resources: []string{"namespaces"}, Verbs: []string{"get", "list", "watch"}})
		stranger = newPerson("stranger")
		way = dig()
		DeferCleanup(func() { way.close() })
	})

	It("is reached through its service, and shows nothing but its page to a user unknown", func() {
		Eventually(hub.service).WithArguments("healthz").Should(ContainSubstring("ok"))
		page, err := stranger.ask(http.MethodGet, "/", nil)
		Expect(err).NotTo(HaveOccurred())
		Expect(page.Status).To(Equal(http.StatusOK))
		policy := page.Header.Get("Content-Security-Policy")
		Expect(policy).To(And(HavePrefix("default-src 'none'; script-src 'self'; "), Not(ContainSubstring("unsafe"))))
		Expect(page.Header.Get("Strict-Transport-Security")).NotTo(BeEmpty())
		script := regexp.MustCompile(`src="(/[^"]+\.js)"`).FindStringSubmatch(page.Text)
		Expect(script).To(HaveLen(2), page.Text)
		program, err := stranger.ask(http.MethodGet, script[1], nil)
		Expect(err).NotTo(HaveOccurred())
		Expect(program.Status).To(Equal(http.StatusOK))
		Expect(program.Header.Get("Content-Type")).To(ContainSubstring("javascript"))
		kymas, err := stranger.ask(http.MethodGet, "/api/v1/kymas", nil)
		Expect(err).NotTo(HaveOccurred())
		Expect(kymas.Status).To(Equal(http.StatusUnauthorized))
	})

	It("shows to whom a token belongs what that person may list, and says what not", func() {
		admin.enter()
		Expect(admin.cookies()).To(ConsistOf(HaveField("Name", "__Host-kyma-session")))
		Eventually(func() string { return admin.listed().Items }).Should(Equal("kcp-system/local"))
		stranger.enter()
		told := stranger.listed()
		Expect(told.Items).To(BeEmpty())
		Expect(told.Unread).To(ContainElement("Kyma.operator.kyma-project.io Forbidden"))
		refused := stranger.post("/api/v1/operations", adding(greeter, late), http.StatusForbidden)
		Expect(refused.reason()).To(Equal("Forbidden"))
	})

	It("lets no one guess tokens", func() {
		guesser := &person{}
		guesser.leave()
		guess := func() int {
			got, err := guesser.ask(http.MethodPost, "/api/v1/session", map[string]string{"token": stranger.token + "x"})
			Expect(err).NotTo(HaveOccurred())
			return got.Status
		}
		tries, told := 0, 0
		for ; tries < 60 && told != http.StatusTooManyRequests; tries++ { // slow machines are let guess more often
			told = guess()
			Expect(told).To(BeElementOf(http.StatusUnauthorized, http.StatusTooManyRequests))
		}
		stepf("guess %d was answered with %d", tries, told)
		Expect(told).To(Equal(http.StatusTooManyRequests))
		admin.enter()
	})

	It("is small while no one does anything", func() {
		var used consumption
		pod := dashboard()
		Eventually(func() uint64 {
			used = hub.usage(pod)
			return used.CPU.UsageNanoCores
		}).WithPolling(5 * time.Second).Should(BeNumerically("<", atRestCPU))
		stepf("the dashboard holds %d MiB and uses %.1f millicores", used.Memory.WorkingSetBytes>>20, float64(used.CPU.UsageNanoCores)/1e6)
		Expect(used.Memory.WorkingSetBytes).To(BeNumerically("<", atRest))
	})

	It("goes on with an operation when its pod was deleted, as the one who resumes it", func() {
		operation = admin.start(adding(greeter, late))
		admin.awaits(operation, operations.Running)
		Eventually(func() []v1beta2.Module { return get(local).Spec.Modules }).Should(ContainElement(HaveField("Name", greeter)))
		old := dashboard()
		logged += hub.logs(&old)
		Expect(hub.client.Delete(background(), &old)).To(Succeed())
		Eventually(dashboards).Should(ConsistOf(HaveField("UID", Not(Equal(old.UID)))))
		way.close()
		way = dig()
		gone, err := admin.ask(http.MethodGet, "/api/v1/operations", nil)
		Expect(err).NotTo(HaveOccurred())
		Expect(gone.Status).To(Equal(http.StatusUnauthorized), "sessions end with the process")
		admin.enter()
		admin.awaits(operation, operations.Interrupted)
		stranger.enter()
		stranger.post("/api/v1/operations/"+operation+"/resume", nil, http.StatusNotFound)
		admin.post("/api/v1/operations/"+operation+"/resume", nil, http.StatusAccepted)
		admin.awaits(operation, operations.Running)
	})

	It("goes on with it when its container was killed", Label(long), func() {
		old := dashboard()
		logged += hub.logs(&old)
		container := old.Status.ContainerStatuses[0].ContainerID
		begin := time.Now()
		hub.ctr("tasks", "kill", "--signal", "SIGKILL", strings.TrimPrefix(container, "containerd://"))
		another := HaveField("Status.ContainerStatuses", ConsistOf(HaveField("ContainerID", Not(Equal(container)))))
		Eventually(dashboards).Should(ConsistOf(another))
		way.close()
		way = dig()
		admin.enter()
		admin.awaits(operation, operations.Interrupted)
		Expect(time.Since(begin)).To(BeNumerically(">", lapse/2), "another dashboard could be at it: no one said that it has ended")
		admin.post("/api/v1/operations/"+operation+"/resume", nil, http.StatusAccepted)
		admin.awaits(operation, operations.Running)
	})

	It("comes to the end that was asked for", func() {
		hub.ctr("images", "tag", "samples.kyma-project.io/greeter:"+newer, lateImage)
		for _, pod := range podsOf(background(), hub, greeter) { // instead of waiting until it is tried again
			Expect(client.IgnoreNotFound(hub.client.Delete(background(), &pod))).To(Succeed())
		}
		admin.awaits(operation, operations.Succeeded)
		awaitReady(local, late)
	})

	It("has written no token and no cookie anywhere", func() {
		last := dashboard()
		logged += hub.logs(&last)
		Expect(logged).To(ContainSubstring("the dashboard listens"))
		record := client.ObjectKey{Namespace: records, Name: "kyma-task-" + operation}
		Expect(hub.client.Get(background(), record, &corev1.ConfigMap{})).To(Succeed())
		var maps corev1.ConfigMapList
		Expect(hub.client.List(background(), &maps)).To(Succeed())
		text, err := json.Marshal(maps)
		Expect(err).NotTo(HaveOccurred())
		Expect(string(text)).To(ContainSubstring(record.Name))
		secrets := []string{}
		for _, p := range []*person{admin, stranger} {
			secrets = append(secrets, p.token[strings.LastIndex(p.token, ".")+1:]) // its signature, without which it is worth nothing
			for _, cookie := range p.cookies() {
				secrets = append(secrets, cookie.Value)
			}
		}
		Expect(secrets).To(HaveLen(4))
		for _, secret := range secrets {
			Expect(strings.Contains(logged, secret)).To(BeFalse(), "the log has a token or a cookie")
			Expect(strings.Contains(string(text), secret)).To(BeFalse(), "a ConfigMap has a token or a cookie")
		}
	})

	It("goes, and leaves nothing behind", func() {
		Expect(hub.client.Delete(background(), get(local))).To(Succeed())
		Eventually(func() bool { return get(local) == nil && absent(hub, "greeter-system") }).Should(BeTrue())
		hub.make("uninstall")
		hub.make("undeploy")
		for _, name := range []string{v1beta2.DefaultNamespace, people} {
			Expect(hub.client.Delete(background(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})).To(Succeed())
		}
		own := []string{"ClusterRole /people-admin", "ClusterRoleBinding /people-admin"}
		Eventually(func() []string { return since(before, hub) }).WithPolling(time.Second).Should(ConsistOf(own), "what is left in the cluster")
		Eventually(func() string { return hub.ctr("containers", "ls", "--quiet") }).Should(BeEmpty(), "containers that are left")
	})
})

// adding returns the deed of adding one module in a version.
func adding(module, version string) operations.Request {
	return operations.Request{Kind: operations.Add, Kyma: "kcp-system/local", Modules: []operations.Wanted{{Name: module, Version: version}}}
}
