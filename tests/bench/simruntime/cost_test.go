package simruntime

import (
	"fmt"
	"runtime"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func sample(i int) *document {
	return &document{Unstructured: unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{
			"name": fmt.Sprintf("module-%d", i), "namespace": "default",
			"labels":      map[string]any{"operator.kyma-project.io/managed-by": "kyma", "app": "module"},
			"annotations": map[string]any{"operator.kyma-project.io/owned-by": "kcp-system/kyma-17-module", "note": "DO NOT EDIT"},
		},
		"data": map[string]any{"version": "1.0.0", "text": "some lines of text that stand for what a module holds"},
	}}}
}

func (r *Runtime) writing(manager string) *writing {
	return &writing{runtime: r, table: r.findLocked(configMaps.GroupResource()), version: "v1", at: place{namespace: "default"}, manager: manager, strict: true}
}

// cpu reports the processor time of an iteration, which other processes of the machine do not change.
func cpu(b *testing.B) func() {
	b.Helper()
	spent := func() time.Duration {
		var usage syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
			b.Fatal(err)
		}
		return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	before := spent()
	return func() { b.ReportMetric(float64((spent()-before).Microseconds())/float64(b.N), "cpu-us/op") }
}

// BenchmarkCreate is the work of one create, without HTTP.
func BenchmarkCreate(b *testing.B) {
	r := start(b, Options{}).Runtime(0)
	i := 0
	defer cpu(b)()
	for b.Loop() {
		i++
		func() {
			defer r.lock()()
			if _, err := r.writing("me").createLocked(sample(i)); err != nil {
				b.Fatal(err)
			}
		}()
	}
}

// BenchmarkApply is the work of a server-side apply that changes nothing, without HTTP.
func BenchmarkApply(b *testing.B) {
	r := start(b, Options{}).Runtime(0)
	body := []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"module-1","namespace":"default","labels":{"app":"module"}},"data":{"version":"1.0.0"}}`)
	defer cpu(b)()
	for b.Loop() {
		func() {
			defer r.lock()()
			w := r.writing("me")
			w.at.name, w.patch = "module-1", true
			if _, err := w.applyLocked(body, w.table.objects[w.at], true); err != nil {
				b.Fatal(err)
			}
		}()
	}
}

// BenchmarkMemory is what an object of a runtime holds, its part of the runtime included.
func BenchmarkMemory(b *testing.B) {
	const runtimes, objects = 200, 100
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		fleet := start(b, Options{Runtimes: runtimes})
		for _, r := range fleet.All() {
			unlock := r.lock()
			for i := range objects {
				if _, err := r.writing("me").createLocked(sample(i)); err != nil {
					b.Fatal(err)
				}
			}
			unlock()
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/runtimes/objects, "B/object")
		fleet.Close()
	}
}

// BenchmarkOverTheWire is one create and one apply by a client.
func BenchmarkOverTheWire(b *testing.B) {
	r := start(b, Options{}).Runtime(0)
	maps := clientOf(b, r.Config()).Resource(configMaps).Namespace("default")
	i := 0
	defer cpu(b)()
	for b.Loop() {
		i++
		if _, err := maps.Create(b.Context(), &sample(i).Unstructured, metav1.CreateOptions{FieldManager: "me"}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStart is what 1,000 runtimes cost that no one has called yet, their kubeconfigs included.
func BenchmarkStart(b *testing.B) {
	const runtimes = 1000
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		fleet := start(b, Options{Runtimes: runtimes})
		for _, r := range fleet.All() {
			if len(r.Kubeconfig()) == 0 {
				b.Fatal("no kubeconfig")
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc+after.StackInuse-before.HeapAlloc-before.StackInuse)/runtimes, "B/runtime")
		fleet.Close()
	}
}
