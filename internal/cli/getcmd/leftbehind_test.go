package getcmd

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
)

func TestLeftbehind_AModuleLeftBehindIsListed(t *testing.T) {
	config := administrator(t)
	c, err := target.Of(config).Client()
	if err != nil {
		t.Fatal(err)
	}
	resource := &unstructured.Unstructured{}
	resource.SetAPIVersion("v1")
	resource.SetKind("ConfigMap")
	resource.SetNamespace("left")
	resource.SetName("only")
	orphan, absent := templateOf("left", "orphan", "0.1.0"), templateOf("left", "absent", "0.1.0")
	orphan.Spec.Data = resource.DeepCopy()
	absent.Spec.Data.SetAPIVersion("nobody.example.com/v1") // which this cluster does not serve
	space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "left"}}
	for _, o := range []client.Object{space, resource, orphan, absent} {
		if err := c.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		for _, o := range []client.Object{orphan, absent} {
			if err := c.Delete(context.WithoutCancel(t.Context()), o); err != nil {
				t.Error(err)
			}
		}
	})
	code, out, said, _ := kyma(t, config, "list", "-n", "left", "-o", "wide")
	if code != 0 || said != "" || !strings.Contains(out, "orphan") || !strings.Contains(out, "left/only exists") || strings.Contains(out, "absent") {
		t.Errorf("exit code %d, said %q, wrote\n%s", code, said, out)
	}
}
