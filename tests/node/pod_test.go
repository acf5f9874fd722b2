package node

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// dashboards returns the pods of the dashboard, once it is available and no other pod of it is left.
func dashboards() []corev1.Pod {
	GinkgoHelper()
	at := types.NamespacedName{Namespace: v1beta2.DefaultNamespace, Name: "klm-dashboard"}
	deployment := &appsv1.Deployment{}
	Expect(client.IgnoreNotFound(hub.client.Get(background(), at, deployment))).To(Succeed())
	var pods corev1.PodList
	Expect(hub.client.List(background(), &pods, client.InNamespace(at.Namespace),
		client.MatchingLabels{"app.kubernetes.io/component": "dashboard"})).To(Succeed())
	if deployment.Status.AvailableReplicas != 1 || len(pods.Items) != 1 || !readyFor(&pods.Items[0], 0) {
		return nil
	}
	return pods.Items
}

// dashboard returns the pod of the dashboard, as soon as there is one that is ready.
func dashboard() (pod corev1.Pod) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		all := dashboards()
		g.Expect(all).To(HaveLen(1))
		pod = all[0]
	}).Should(Succeed())
	return pod
}

// logs returns what a pod has said so far.
func (c *cluster) logs(pod *corev1.Pod) string {
	GinkgoHelper()
	core, err := kubernetes.NewForConfig(c.config)
	Expect(err).NotTo(HaveOccurred())
	stream, err := core.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{}).Stream(background())
	Expect(err).NotTo(HaveOccurred())
	defer stream.Close()
	text, err := io.ReadAll(stream)
	Expect(err).NotTo(HaveOccurred())
	return string(text)
}

// service asks the dashboard by way of the endpoints that its service has.
func (c *cluster) service(path string) (string, error) {
	core, err := kubernetes.NewForConfig(c.config)
	if err != nil {
		return "", err
	}
	text, err := core.CoreV1().Services(v1beta2.DefaultNamespace).ProxyGet("https", "klm-dashboard", "https", path, nil).DoRaw(background())
	return string(text), err
}

// consumption is what the kubelet says of a container.
type consumption struct {
	CPU struct {
		UsageNanoCores uint64 `json:"usageNanoCores"`
	} `json:"cpu"`
	Memory struct {
		WorkingSetBytes uint64 `json:"workingSetBytes"`
	} `json:"memory"`
}

// usage waits until the kubelet has measured a pod of one container.
func (c *cluster) usage(pod corev1.Pod) (used consumption) {
	GinkgoHelper()
	core, err := kubernetes.NewForConfig(c.config)
	Expect(err).NotTo(HaveOccurred())
	Eventually(func(g Gomega) {
		path := fmt.Sprintf("/api/v1/nodes/%s/proxy/stats/summary", pod.Spec.NodeName)
		text, err := core.CoreV1().RESTClient().Get().AbsPath(path).DoRaw(background())
		g.Expect(err).NotTo(HaveOccurred())
		var summary struct {
			Pods []struct {
				Ref struct {
					UID string `json:"uid"`
				} `json:"podRef"`
				Containers []consumption `json:"containers"`
			} `json:"pods"`
		}
		g.Expect(json.Unmarshal(text, &summary)).To(Succeed())
		for _, one := range summary.Pods {
			if one.Ref.UID == string(pod.UID) && len(one.Containers) == 1 {
				used = one.Containers[0]
			}
		}
		g.Expect(used.Memory.WorkingSetBytes).NotTo(BeZero(), pod.Name)
	}).WithPolling(time.Second).Should(Succeed())
	return used
}
