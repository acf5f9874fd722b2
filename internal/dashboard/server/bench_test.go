package server

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// manyKymas returns the inputs of a hub with many Kymas, each with the same modules.
func manyKymas(kymas, modules int) modulestatus.Inputs {
	var in modulestatus.Inputs
	for m := range modules {
		name := fmt.Sprintf("module-%c", 'a'+m)
		release := v1beta2.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: name}}
		release.Spec = v1beta2.ModuleReleaseMetaSpec{ModuleName: name, Channels: []v1beta2.ChannelVersion{{Channel: "regular", Version: "1.0.0"}}}
		template := v1beta2.ModuleTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: name + "-1.0.0"}}
		template.Spec.ModuleName, template.Spec.Version = name, "1.0.0"
		in.Releases, in.Templates = append(in.Releases, release), append(in.Templates, template)
	}
	for k := range kymas {
		kyma := v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: fmt.Sprintf("kyma-%05d", k), Generation: 1}}
		kyma.Spec.Channel, kyma.Status.State, kyma.Status.ObservedGeneration = "regular", v1beta2.StateReady, 1
		if k%10 == 0 {
			kyma.Status.State = v1beta2.StateWarning
		}
		for m := range modules {
			name := fmt.Sprintf("module-%c", 'a'+m)
			kyma.Spec.Modules = append(kyma.Spec.Modules, v1beta2.Module{Name: name})
			kyma.Status.Modules = append(kyma.Status.Modules, v1beta2.ModuleStatus{
				Name: name, State: kyma.Status.State, Channel: "regular", Version: "1.0.0",
				Manifest: &v1beta2.TrackingObject{PartialMeta: v1beta2.PartialMeta{Namespace: "kcp-system", Name: kyma.Name + "-" + name}},
			})
			manifest := v1beta2.Manifest{ObjectMeta: metav1.ObjectMeta{
				Namespace: "kcp-system", Name: kyma.Name + "-" + name, Generation: 1,
				Labels: map[string]string{
					v1beta2.LabelKymaName: kyma.Name, v1beta2.LabelModuleName: name, v1beta2.LabelManagedBy: v1beta2.ManagedByLifecycleManager,
				},
			}}
			manifest.Spec.Version, manifest.Status.State, manifest.Status.ObservedGeneration = "1.0.0", v1beta2.StateReady, 1
			in.Manifests = append(in.Manifests, manifest)
		}
		in.Kymas = append(in.Kymas, kyma)
	}
	return in
}

// ready returns a server that has computed a fleet.
func ready(b *testing.B, in modulestatus.Inputs) (*Server, context.Context) {
	b.Helper()
	server, err := New(Options{Mode: ModeLocal, Config: &rest.Config{Host: "https://127.0.0.1:1"}})
	if err != nil {
		b.Fatal(err)
	}
	made := newSeen(in)
	made.unread, made.beat = []Unread{}, server.pulse.number()
	server.keep(made)
	return server, as(b.Context(), server.self)
}

// BenchmarkPage reads one page of 50 from a fleet of 5,000 Kymas with 25,000 modules, as a user turns pages, searches and filters.
func BenchmarkPage(b *testing.B) {
	server, ctx := ready(b, manyKymas(5000, 5))
	for name, path := range map[string]string{
		"Kymas":           "/api/v1/kymas?limit=50&offset=2500",
		"Kymas/searched":  "/api/v1/kymas?limit=50&search=kyma-04",
		"Kymas/sorted":    "/api/v1/kymas?limit=50&sort=-state",
		"modules":         "/api/v1/modules?limit=50&offset=12000",
		"modules/search":  "/api/v1/modules?limit=50&search=kyma-0425+module-c",
		"modules/warning": "/api/v1/modules?limit=50&state=Warning&sort=name",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				request := httptest.NewRequestWithContext(ctx, http.MethodGet, path, http.NoBody)
				out := &kept{header: http.Header{}, status: http.StatusOK}
				server.api(out, request)
				if out.status != http.StatusOK {
					b.Fatalf("%d %s", out.status, out.body.String())
				}
			}
		})
	}
}

// BenchmarkCompute computes everything for a fleet, as after a change.
func BenchmarkCompute(b *testing.B) {
	in := manyKymas(5000, 5)
	b.ReportAllocs()
	for b.Loop() {
		newSeen(in)
	}
}
