package node

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// sighting is what the status of a Kyma said about a module at some moment.
type sighting struct {
	Version string
	State   v1beta2.State
	Message string
}

// observer follows a Kyma, event by event, and looks at the pods at the very moment when a module is said to be Ready.
type observer struct {
	where *cluster // where the modules run
	mu    sync.Mutex
	seen  map[string][]sighting // by module
	lies  []string
}

// observe follows until the spec ends.
func observe(kyma string, where *cluster) *observer {
	GinkgoHelper()
	ctx, cancel := context.WithCancel(context.Background())
	o := &observer{where: where, seen: map[string][]sighting{}}
	stream, err := hub.client.Watch(ctx, &v1beta2.KymaList{}, client.InNamespace(v1beta2.DefaultNamespace))
	Expect(err).NotTo(HaveOccurred())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range stream.ResultChan() {
			if k, ok := event.Object.(*v1beta2.Kyma); ok && event.Type != watch.Deleted && k.Name == kyma {
				o.take(ctx, k)
			}
		}
	}()
	DeferCleanup(func() {
		cancel()
		stream.Stop()
		<-done
	})
	return o
}

func (o *observer) take(ctx context.Context, kyma *v1beta2.Kyma) {
	for i := range kyma.Status.Modules {
		module := &kyma.Status.Modules[i]
		now := sighting{module.Version, module.State, module.Message}
		lie := ""
		if module.State == v1beta2.StateReady {
			if lie = o.contradiction(ctx, module.Name, module.Version); lie != "" && o.movedOn(ctx, kyma, module) {
				lie = "" // the look came later than what was said
			}
		}
		o.mu.Lock()
		if known := o.seen[module.Name]; len(known) == 0 || known[len(known)-1] != now {
			o.seen[module.Name] = append(known, now)
			stepf("%s %s is %s: %s", module.Name, now.Version, now.State, now.Message)
		}
		if lie != "" {
			o.lies = append(o.lies, lie)
		}
		o.mu.Unlock()
	}
}

// movedOn looks whether the Kyma is about another version of a module by now.
func (o *observer) movedOn(ctx context.Context, kyma *v1beta2.Kyma, module *v1beta2.ModuleStatus) bool {
	now := &v1beta2.Kyma{}
	err := hub.client.Get(ctx, client.ObjectKeyFromObject(kyma), now)
	if apierrors.IsNotFound(err) || err == nil && !now.DeletionTimestamp.IsZero() {
		return true // it is about none
	}
	if err != nil {
		return false
	}
	return slices.ContainsFunc(now.Status.Modules, func(m v1beta2.ModuleStatus) bool {
		return m.Name == module.Name && m.Version != module.Version
	})
}

// contradiction returns what speaks against a module being ready in a version.
func (o *observer) contradiction(ctx context.Context, module, version string) string {
	key := types.NamespacedName{Namespace: module + "-system", Name: module}
	deployment := &appsv1.Deployment{}
	if err := o.where.client.Get(ctx, key, deployment); err != nil {
		if ctx.Err() != nil {
			return ""
		}
		return fmt.Sprintf("%s %s is said to be Ready: %v", module, version, err)
	}
	for _, pod := range podsOf(ctx, o.where, module) {
		if pod.Spec.Containers[0].Image == deployment.Spec.Template.Spec.Containers[0].Image && readyFor(&pod, deployment.Spec.MinReadySeconds) {
			return ""
		}
	}
	return fmt.Sprintf("%s %s is said to be Ready, and no pod of image %s has been for %d s",
		module, version, deployment.Spec.Template.Spec.Containers[0].Image, deployment.Spec.MinReadySeconds)
}

// readyFor allows for the whole seconds of the API's times.
func readyFor(pod *corev1.Pod, seconds int32) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue {
			return time.Since(condition.LastTransitionTime.Time) >= time.Duration(seconds)*time.Second
		}
	}
	return false
}

// podsOf returns the pods of a module's operator that are not on their way out.
func podsOf(ctx context.Context, where *cluster, module string) []corev1.Pod {
	var list corev1.PodList
	if err := where.client.List(ctx, &list, client.InNamespace(module+"-system"), client.MatchingLabels{"app": module}); err != nil {
		return nil
	}
	var pods []corev1.Pod
	for i := range list.Items {
		if list.Items[i].DeletionTimestamp == nil {
			pods = append(pods, list.Items[i])
		}
	}
	return pods
}

// awaits waits until the module was seen in a state.
func (o *observer) awaits(module, version string, state v1beta2.State) {
	GinkgoHelper()
	Eventually(func() []sighting { return o.of(module) }).Should(ContainElement(SatisfyAll(
		HaveField("Version", version), HaveField("State", state))), "%s %s never was %s", module, version, state)
}

// of returns all sightings of a module, in order.
func (o *observer) of(module string) []sighting {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]sighting(nil), o.seen[module]...)
}

// truthful checks that Ready was true whenever it was said.
func (o *observer) truthful() {
	GinkgoHelper()
	o.mu.Lock()
	defer o.mu.Unlock()
	Expect(o.lies).To(BeEmpty())
}

// observeNothing takes the place of an observer whose stream was cut.
func observeNothing() *observer { return &observer{seen: map[string][]sighting{}} }
