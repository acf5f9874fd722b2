package setup

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientfake "sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/modulecontent"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

func givenFiles(name, text string) *corev1.ConfigMap {
	yes := true
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: name}, Immutable: &yes, Data: map[string]string{"a.yaml": text},
	}
}

// The digest is the ETag: the content under it must be the installed one.
func TestContentIsShownUnderItsOwnDigestOnly(t *testing.T) {
	manifest := &v1beta2.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: "sample"}}
	from := func(name string) {
		manifest.Spec.Install = v1beta2.InstallInfo{
			Name: "first", Source: runtime.RawExtension{Raw: []byte(`{"configMaps":[{"name":"` + name + `"}]}`)},
		}
	}
	hub := clientfake.NewClientBuilder().WithScheme(Scheme()).WithObjects(givenFiles("old", "a: 1"), givenFiles("new", "a: 2")).Build()
	contents := modulecontent.NewContents(&content.OCI{Store: &content.Store{Dir: t.TempDir()}}, hub)
	from("old")
	resolved, _, err := contents.Files(t.Context(), manifest, "first")
	if err != nil {
		t.Fatal(err)
	}
	manifest.Status.Resolved = []v1beta2.ResolvedSource{resolved}
	for name, shown := range map[string]bool{"old": true, "new": false} {
		from(name)
		reader := clientfake.NewClientBuilder().WithScheme(Scheme()).WithObjects(manifest.DeepCopy()).Build()
		items, err := (&library{reader: reader, contents: contents}).items(t.Context(), "kcp-system", "sample")
		if err != nil || len(items) != 1 || items[0].Digest != resolved.Digest || (items[0].Tree != nil) != shown {
			t.Errorf("the spec names %s: items %+v, error %v", name, items, err)
		}
	}
}
