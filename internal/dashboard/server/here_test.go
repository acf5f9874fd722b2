package server

import (
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// here creates a local Kyma with the module lantern, whose custom resource is a Wick and whose inventory has two ConfigMaps, one of which
// is missing.
func (s *site) here(name string) {
	s.Helper()
	s.make(namespace(name), namespace("kyma-system"), definitionOf("wicks", "Wick"))
	template := s.template(name, "lantern", "1.0.0").(*v1beta2.ModuleTemplate)
	template.Spec.Data = wick()
	s.make(template)
	no := false
	kyma := &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "local"}}
	kyma.Spec = v1beta2.KymaSpec{Channel: "regular", Remote: &no, Modules: []v1beta2.Module{{Name: "lantern", Version: "1.0.0"}}}
	s.make(kyma)
	manifest := &v1beta2.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "local-lantern", Labels: map[string]string{
		v1beta2.LabelKymaName: "local", v1beta2.LabelModuleName: "lantern", v1beta2.LabelManagedBy: v1beta2.ManagedByLifecycleManager,
	}}}
	manifest.Spec.Install.Source.Raw, manifest.Spec.Version = []byte(`{}`), "1.0.0"
	manifest.Spec.Resource = wick()
	s.make(manifest, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "there"}})
	manifest.Status.State, manifest.Status.ObservedGeneration = v1beta2.StateReady, manifest.Generation
	for _, object := range []string{"there", "gone"} {
		manifest.Status.Synced = append(manifest.Status.Synced, v1beta2.Resource{
			Name: object, Namespace: name, Kind: "ConfigMap", Version: "v1", Hash: "x",
		})
	}
	if err := s.admin.Status().Update(s.Context(), manifest); err != nil {
		s.Fatal(err)
	}
	eventually(s.T, 20*time.Second, "the cluster serves the new kind", func() bool {
		err := s.admin.Create(s.Context(), wick())
		return err == nil || apierrors.IsAlreadyExists(err) // another test may have created it
	})
}

func wick() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Wick", "metadata": map[string]any{"namespace": "kyma-system", "name": "lantern"},
		"spec": map[string]any{"length": int64(3)}, "status": map[string]any{"state": "Ready"},
	}}
}

func TestHere_AModuleInThisVeryCluster(t *testing.T) {
	s := open(t, ModeLocal, func(o *Options) { o.glance = time.Hour }) // a watch must report it
	s.here("here")
	s.enter()
	var d moduleDetail
	eventually(t, 10*time.Second, "the module is read", func() bool {
		d = get[moduleDetail](s, "/api/v1/modules/here/local/lantern")
		return d.Module.Module.State == modulestatus.Ready
	})
	states := map[string]modulestatus.State{}
	for _, n := range d.Tree.Children {
		states[n.Kind+" "+n.Name] = n.State
	}
	if states["Wick lantern"] != modulestatus.Ready || states["ConfigMap there"] != modulestatus.Ready || states["ConfigMap gone"] != modulestatus.Error {
		t.Errorf("tree: %v", states)
	}
	if len(d.Why) == 0 || d.Why[len(d.Why)-1].What != "ConfigMap here/gone" {
		t.Errorf("why: %+v", d.Why)
	}
	r := get[moduleResource](s, "/api/v1/modules/here/local/lantern/resource")
	if r.Object["kind"] != "Wick" || !r.Editable || r.Schema == nil || r.Schema.Type != "object" || r.Default == nil {
		t.Errorf("resource: %+v", r)
	}
	if metadata, _ := r.Object["metadata"].(map[string]any); metadata["managedFields"] != nil {
		t.Error("managedFields are shown")
	}

	messages := s.listen("/api/v1/modules/here/local/lantern")
	s.until(messages, 20*time.Second, "the module", func(message) bool { return true })
	changed := wick()
	if err := s.admin.Get(t.Context(), keyOf(changed), changed); err != nil {
		t.Fatal(err)
	}
	_ = unstructured.SetNestedField(changed.Object, "Error", "status", "state")
	if err := s.admin.Update(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	s.until(messages, 20*time.Second, "that its custom resource is in Error", func(m message) bool {
		return strings.Contains(string(m.Body), `"module":{"state":"Error"`)
	})
}

func TestHere_ARuntimeIsForThoseWhoMayReadItsAccessSecret(t *testing.T) {
	s := open(t, ModeCluster)
	s.createAll("afar")
	s.enterAs(s.token("looks-afar", "*"))
	d := get[moduleDetail](s, "/api/v1/modules/afar/bad/greeter")
	said := false
	for _, u := range d.Unread {
		said = said || u.Kind == "Runtime" && u.Reason == WhyForbidden
	}
	if d.Access.Runtime || !said || d.Tree == nil {
		t.Errorf("access %+v, unread %+v", d.Access, d.Unread)
	}
	r := s.do(http.MethodGet, "/api/v1/modules/afar/bad/greeter/resource", "")
	if r.status != http.StatusOK || !strings.Contains(string(r.body), "access Secret") {
		t.Errorf("resource: %d %s", r.status, r.body)
	}
}
