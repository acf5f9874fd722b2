package integration

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// helmProgram is where make builds Helm's own program.
var helmProgram = filepath.Join("..", "..", "bin", "helm")

// helmFor returns Helm's own program for releases in a namespace of a cluster.
func helmFor(spec context.Context, cluster *testkit.Cluster, namespace string) func(args ...string) {
	return func(args ...string) {
		GinkgoHelper()
		command := exec.CommandContext(spec, helmProgram, append(args, "--namespace", namespace, "--kubeconfig", cluster.Kubeconfig)...)
		out, err := command.CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(out))
	}
}

// chartOfEverything returns a chart that uses what Helm gives to templates, beside hooks: the release, the cluster, what is looked up there,
// and a password that is kept by a lookup and refuses an upgrade that does not find it, as in the templates that public charts share.
func chartOfEverything(name string) testkit.Files {
	chart := chartWithHooks(name)
	chart[name+"/templates/facts.yaml"] = `apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Chart.Name }}-facts}
data:
  release: {{ printf "%s %d %t %t %s" .Release.Name .Release.Revision .Release.IsInstall .Release.IsUpgrade .Release.Service | quote }}
  cluster: {{ printf "%s %t %t" .Capabilities.KubeVersion.Version (.Capabilities.APIVersions.Has "batch/v1/Job") (.Capabilities.APIVersions.Has "example.com/v9") | quote }}
  theirs: {{ (lookup "v1" "ConfigMap" .Release.Namespace (printf "%s-theirs" .Chart.Name)).data.colour }}
  absent: {{ lookup "v1" "ConfigMap" .Release.Namespace "absent" | toJson | quote }}
  count: {{ len (lookup "v1" "ConfigMap" .Release.Namespace "").items | quote }}
`
	chart[name+"/templates/admin.yaml"] = `{{- $name := printf "%s-admin" .Chart.Name }}
{{- $known := (lookup "v1" "Secret" .Release.Namespace $name).data }}
{{- if and .Release.IsUpgrade (not $known) }}{{ fail "PASSWORDS ERROR: an upgrade needs the current password" }}{{ end }}
apiVersion: v1
kind: Secret
metadata: {name: {{ $name }}}
data: {password: {{ if $known }}{{ $known.password }}{{ else }}{{ randAlphaNum 24 | b64enc }}{{ end }}}
`
	return chart
}

// history records the objects that are created in a namespace, in their order.
type history struct {
	namespace, prefix string

	mu      sync.Mutex
	created map[int]string
}

// record starts a history of the kinds that the chart above has.
func record(namespace, prefix string) *history {
	GinkgoHelper()
	h := &history{namespace: namespace, prefix: prefix, created: map[int]string{}}
	objects, err := dynamic.NewForConfig(env.Runtimes[0].Config)
	Expect(err).NotTo(HaveOccurred())
	for _, resource := range []schema.GroupVersionResource{
		{Version: "v1", Resource: "configmaps"}, {Version: "v1", Resource: "secrets"}, {Version: "v1", Resource: "serviceaccounts"},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles"}, {Group: "batch", Version: "v1", Resource: "jobs"},
	} {
		stream, err := objects.Resource(resource).Namespace(namespace).Watch(ctx(), metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(stream.Stop)
		go h.follow(stream)
	}
	return h
}

func (h *history) follow(stream watch.Interface) {
	for event := range stream.ResultChan() {
		object, ok := event.Object.(*unstructured.Unstructured)
		if !ok || event.Type != watch.Added || !strings.HasPrefix(object.GetName(), h.prefix) {
			continue
		}
		if at, err := strconv.Atoi(object.GetResourceVersion()); err == nil {
			h.mu.Lock()
			h.created[at] = object.GetKind() + " " + strings.TrimPrefix(object.GetName(), h.prefix)
			h.mu.Unlock()
		}
	}
}

// names returns what was created, in its order. What is created between two hooks is sorted: helm creates it one after the other, and the
// manager at once.
func (h *history) names() (names []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	from := 0
	for i, at := range slices.Sorted(maps.Keys(h.created)) {
		name := h.created[at]
		names = append(names, name)
		if kind, _, _ := strings.Cut(name, " "); kind != "ConfigMap" && name != "Secret admin" {
			from = i + 1
		}
		slices.Sort(names[from:])
	}
	return names
}

// forget begins the history anew.
func (h *history) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	clear(h.created)
}

// dataOf reads the data of the chart's objects of one kind, by the names that they have in it.
func (h *history) dataOf(list client.ObjectList) map[string]map[string]string {
	GinkgoHelper()
	Expect(env.Runtimes[0].Client.List(ctx(), list, client.InNamespace(h.namespace))).To(Succeed())
	all := map[string]map[string]string{}
	switch list := list.(type) {
	case *corev1.ConfigMapList:
		for _, item := range list.Items {
			if name, ok := strings.CutPrefix(item.Name, h.prefix); ok {
				all[name] = item.Data
			}
		}
	case *corev1.SecretList:
		for _, item := range list.Items {
			if name, ok := strings.CutPrefix(item.Name, h.prefix); ok {
				all[name] = map[string]string{"password": string(item.Data["password"])}
			}
		}
	}
	return all
}

var _ = Describe("A chart, beside the same chart in the hands of helm", func() {
	It("creates the same objects in the same order, with the same content, through upgrades, and leaves less behind", func(spec context.Context) {
		emptyHub()
		chart := testkit.Unique("chart")
		files := chartOfEverything(chart)
		var both []*history
		for _, name := range []string{chart + "-helm", chart + "-kyma"} {
			env.Runtimes[0].Create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
			env.Runtimes[0].Create(&corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: chart + "-theirs"}, Data: map[string]string{"colour": "amber"},
			})
			both = append(both, record(name, chart+"-"))
		}
		helms, ours := both[0], both[1]
		packed := filepath.Join(GinkgoT().TempDir(), "chart.tgz")
		Expect(os.WriteFile(packed, files.Gzip(), 0o600)).To(Succeed())
		manifest := standAlone(env.PushLayer(files.Gzip(), v1beta2.RefTypeHelmChart), withValues(`{"colour":"grey"}`), func(m *v1beta2.Manifest) {
			m.Spec.TargetNamespace = ours.namespace
		})
		helm := helmFor(spec, env.Runtimes[0], helms.namespace)
		same := func() {
			GinkgoHelper()
			Eventually(ours.names).Should(Equal(helms.names()), "the same objects in the same order")
			ours.forget()
			helms.forget()
			Expect(ours.dataOf(&corev1.ConfigMapList{})).To(Equal(helms.dataOf(&corev1.ConfigMapList{})))
		}

		helm("install", manifest.Name, packed, "--set", "colour=grey")
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready())
		Expect(ours.dataOf(&corev1.ConfigMapList{})).To(HaveKeyWithValue("facts", And(
			HaveKeyWithValue("theirs", "amber"), HaveKeyWithValue("release", manifest.Name+" 1 true false Helm"))))
		same()
		passwords := ours.dataOf(&corev1.SecretList{})
		for i, colour := range []string{"blue", "green"} {
			By("upgrading to " + colour)
			for _, where := range both {
				theirs := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: where.namespace, Name: chart + "-theirs"}}
				testkit.Edit(env.Runtimes[0], theirs, func(m *corev1.ConfigMap) { m.Data["colour"] = colour })
			}
			helm("upgrade", manifest.Name, packed, "--set", "colour="+colour)
			testkit.Edit(env.Hub, manifest, withValues(fmt.Sprintf(`{"colour":%q}`, colour)))
			Eventually(func() map[string]map[string]string { return ours.dataOf(&corev1.ConfigMapList{}) }).Should(HaveKeyWithValue("facts", And(
				HaveKeyWithValue("theirs", colour), HaveKeyWithValue("release", fmt.Sprintf("%s %d false true Helm", manifest.Name, i+2)))))
			Eventually(testkit.Live(env.Hub, manifest)).Should(ready())
			same()
			Expect(ours.dataOf(&corev1.SecretList{})).To(Equal(passwords))
		}

		By("removing both")
		helm("uninstall", manifest.Name)
		remove(manifest)
		same()
		Expect(helms.dataOf(&corev1.SecretList{})).To(HaveKey("init"), "helm leaves the objects of hooks")
		Expect(ours.dataOf(&corev1.SecretList{})).To(BeEmpty())
	})
})
