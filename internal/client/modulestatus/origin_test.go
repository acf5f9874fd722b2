package modulestatus

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestOriginOf(t *testing.T) {
	whole := Origin{Name: "ours", URL: "https://example.com/all-modules.yaml", Digest: "sha256:a", Pinned: true, Key: "KEY"}
	noted := &v1beta2.ModuleTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "default"}}
	if err := whole.Note(noted); err != nil {
		t.Fatal(err)
	}
	in := func(namespace, text string) *v1beta2.ModuleTemplate {
		return &v1beta2.ModuleTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Annotations: map[string]string{AnnotationOrigin: text}}}
	}
	for name, c := range map[string]struct {
		template *v1beta2.ModuleTemplate
		want     *Origin
	}{
		"a written origin is read":          {noted, &whole},
		"one without it came from nowhere":  {&v1beta2.ModuleTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "default"}}, nil},
		"one of a file does not count":      {in("", `{"url":"https://example.com"}`), nil},
		"one without an address is ignored": {in("default", `{"name":"ours"}`), nil},
		"invalid JSON is ignored":           {in("default", "https://example.com"), nil},
		"unknown fields are ignored":        {in("default", `{"url":"https://example.com","later":1}`), &Origin{URL: "https://example.com"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, OriginOf(c.template)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if whole.RequestedDigest() != "sha256:a" || (Origin{Digest: "sha256:a"}).RequestedDigest() != "" {
		t.Error("only a digest that was asked for is asked for again")
	}
}
