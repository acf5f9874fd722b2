package integration

import (
	"context"
	"fmt"
	"sync"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// kstatusAnswer is what kstatus says of a version of a Kyma, as it came from the API server.
type kstatusAnswer struct {
	generation int64
	status     kstatus.Status
	unready    string // why it may not be Current
}

// kstatusAnswers follows a Kyma from before it exists.
type kstatusAnswers struct {
	mu   sync.Mutex
	seen []kstatusAnswer
}

func (a *kstatusAnswers) of(generation int64) (all []kstatus.Status) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, one := range a.seen {
		if one.generation == generation {
			all = append(all, one.status)
		}
	}
	return all
}

// last is for Eventually: the latest answer.
func (a *kstatusAnswers) last() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.seen) == 0 {
		return ""
	}
	one := a.seen[len(a.seen)-1]
	return fmt.Sprintf("%s of generation %d", one.status, one.generation)
}

// early returns the versions that were Current and not ready.
func (a *kstatusAnswers) early() (found []kstatusAnswer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, one := range a.seen {
		if one.status == kstatus.CurrentStatus && one.unready != "" {
			found = append(found, one)
		}
	}
	return found
}

// followKstatus asks kstatus about every version of a Kyma, until the spec ends.
func followKstatus(name string) *kstatusAnswers {
	GinkgoHelper()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(v1beta2.GroupVersion.WithKind("KymaList"))
	watching, cancel := context.WithCancel(context.Background())
	stream, err := env.Hub.Client.Watch(watching, list, client.InNamespace(v1beta2.DefaultNamespace),
		client.MatchingFields{"metadata.name": name})
	Expect(err).NotTo(HaveOccurred())
	all := &kstatusAnswers{}
	var done sync.WaitGroup
	done.Go(func() {
		for event := range stream.ResultChan() {
			if object, ok := event.Object.(*unstructured.Unstructured); ok {
				all.add(object)
			}
		}
	})
	DeferCleanup(func() {
		cancel()
		stream.Stop()
		done.Wait()
	})
	return all
}

func (a *kstatusAnswers) add(object *unstructured.Unstructured) {
	one := kstatusAnswer{generation: object.GetGeneration()}
	if result, err := kstatus.Compute(object); err == nil {
		one.status = result.Status
	}
	asked, _, _ := unstructured.NestedSlice(object.Object, "spec", "modules")
	told, _, _ := unstructured.NestedSlice(object.Object, "status", "modules")
	if len(asked) != len(told) {
		one.unready = fmt.Sprintf("%d modules are asked for, and the status has %d", len(asked), len(told))
	}
	for _, entry := range told {
		module, _ := entry.(map[string]any)
		if module["state"] != string(v1beta2.StateReady) {
			one.unready = fmt.Sprintf("module %v is %v", module["name"], module["state"])
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen = append(a.seen, one)
}

var _ = Describe("What a tool of GitOps waits for", func() {
	It("is current for kstatus only while everything is ready, through installation, edit, error, healing and deletion", func() {
		deployed, maps := testkit.Unique("deploy"), offerMaps("1.0.0")
		env.Offer(deployed, "1.0.0", testkit.Deployment(deployed, "1.0.0"), "regular")
		kyma := testkit.Kyma(testkit.Unique("kyma"), besideOthers(env.Runtimes[0], []testkit.KymaOption{testkit.WithModule(deployed)})...)
		all := followKstatus(kyma.Name)
		env.AccessSecret(kyma.Name, env.Runtimes[0])
		env.Hub.Create(kyma)
		ends := func(generation int64, want kstatus.Status) {
			GinkgoHelper()
			Eventually(all.last).Should(Equal(fmt.Sprintf("%s of generation %d", want, generation)))
			Expect(all.of(generation)[0]).To(Equal(kstatus.InProgressStatus), "nothing was observed of generation %d yet", generation)
		}
		ends(1, kstatus.CurrentStatus)
		enable(kyma, v1beta2.Module{Name: maps})
		ends(2, kstatus.CurrentStatus)
		testkit.Edit(env.Hub, kyma, func(k *v1beta2.Kyma) { k.Spec.Modules[1].Version = "9.9.9" })
		ends(3, kstatus.FailedStatus)
		Expect(all.of(3)).NotTo(ContainElement(kstatus.CurrentStatus))
		testkit.Edit(env.Hub, kyma, func(k *v1beta2.Kyma) { k.Spec.Modules[1].Version = "" })
		ends(4, kstatus.CurrentStatus)
		env.Hub.Delete(kyma)
		Eventually(testkit.Gone(env.Hub, kyma)).Should(BeTrue())
		Eventually(all.last).Should(HavePrefix(string(kstatus.TerminatingStatus)))
		Expect(all.early()).To(BeEmpty())
	})

	It("is in progress while nothing looks at it", func() {
		suspended := map[string]string{v1beta2.LabelSkipReconciliation: v1beta2.EnabledValue}
		kyma := testkit.Kyma(testkit.Unique("kyma"))
		kyma.Labels = suspended
		content := testkit.ConfigMaps(testkit.Unique("maps"), "1.0.0", 1)
		manifest := testkit.Manifest(testkit.Unique("manifest"), publish(testkit.RawManifest(content.YAML())))
		manifest.Labels = suspended
		for _, object := range []client.Object{kyma, manifest} {
			env.Hub.Create(object)
			Expect(testkit.Kstatus(object)).To(Equal(kstatus.InProgressStatus))
			live, err := testkit.Live(env.Hub, object)()
			Expect(err).NotTo(HaveOccurred())
			Expect(testkit.Kstatus(live)).To(Equal(kstatus.InProgressStatus))
			env.Hub.Delete(object)
			Eventually(testkit.Gone(env.Hub, object)).Should(BeTrue())
		}
	})
})
