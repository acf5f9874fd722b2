package directinstall_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/directinstall"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// TestDial_ADescriptorLeadsNowhereThatMayNotBeDialled: the author of a template chooses the location of its component, so a program that
// fetches on behalf of others must check the address.
func TestDial_ADescriptorLeadsNowhereThatMayNotBeDialled(t *testing.T) {
	f := onCluster(t)
	var asked atomic.Int32
	inside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusNotFound)
	}))
	defer inside.Close()
	template := &v1beta2.ModuleTemplate{Spec: v1beta2.ModuleTemplateSpec{ModuleName: "inside", Version: "0.1.0"}}
	template.Name, template.Namespace = "inside-0.1.0", "default"
	template.Spec.Descriptor = runtime.RawExtension{Raw: []byte(`{"component": {"name": "example.com/module/inside", "version": "0.1.0",
		"repositoryContexts": [{"type": "OCIRegistry", "baseUrl": "` + inside.URL + `"}]}}`)}
	plan := directinstall.Plan{Config: f.config, Template: template, Access: f.access(), Wait: patience}
	if _, err := directinstall.Install(t.Context(), plan); err == nil || asked.Load() == 0 {
		t.Fatalf("without a look at addresses it is asked for: %v after %d requests", err, asked.Load())
	}
	asked.Store(0)
	refused := errors.New("this address is not dialled")
	ctx := content.WithDialControl(t.Context(), func(context.Context, string, string, syscall.RawConn) error { return refused })
	if _, err := directinstall.Install(ctx, plan); err == nil || !strings.Contains(err.Error(), refused.Error()) || asked.Load() != 0 {
		t.Errorf("got %v after %d requests", err, asked.Load())
	}
}
