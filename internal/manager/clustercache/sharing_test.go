package clustercache

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// One Manifest targets the hub and one a runtime, and both have the same label: neither may ever use the connection of the
// other, in whatever order they come.
func TestGet_LocalAndRemoteTargetsShareNothing(t *testing.T) {
	hub, far := newStub(t), newStub(t)
	path := "GET /api/v1/namespaces/ns/configmaps/a"
	hub.on(path, jsonAnswer(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"hub"}}`))
	far.on(path, jsonAnswer(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"runtime"}}`))
	for name, localFirst := range map[string]bool{"the local one comes first": true, "the remote one comes first": false} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(c *Config) { c.Hub = hub.config() })
			remote := b.remote(t, "shared", far.config())
			local := Target{Namespace: remote.Namespace, Name: remote.Name, Local: true, ServiceAccount: "kcp-system/installer"}
			targets := []Target{remote, local, remote, local}
			if localFirst {
				targets = []Target{local, remote, local, remote}
			}
			for _, target := range targets {
				want := "runtime"
				if target.Local {
					want = "hub"
				}
				if got := whoAnswers(t, b.mustGet(t, target)); got != want {
					t.Errorf("%s is served by the %s", target, got)
				}
			}

			before := b.mustGet(t, local)
			b.secrets.remove("access-shared")
			b.InvalidateAccess(remote.Namespace, remote.Name)
			if b.mustGet(t, local) != before {
				t.Error("the end of the access Secret ended the connection to the hub")
			}
		})
	}
}

func whoAnswers(t *testing.T, r *Runtime) string {
	t.Helper()
	maps := r.Cluster().Dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"})
	found, err := maps.Namespace("ns").Get(t.Context(), "a", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return found.GetName()
}
