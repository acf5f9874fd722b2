package modulecontent

import (
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// wantsLogin makes the registry require a login.
func (f *fake) wantsLogin(user, password string) {
	next := f.next
	f.next = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, secret, ok := r.BasicAuth(); !ok || name != user || secret != password {
			w.Header().Set("WWW-Authenticate", `Basic realm="here"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func TestLayers_EveryLayerHasALoginOfItsOwn(t *testing.T) {
	f := startRegistry(t)
	install, crds, config := f.source(t, configMap), f.source(t, strings.ReplaceAll(configMap, "sample", "first")), f.source(t, "configs: []\n")
	f.wantsLogin("puller", "right")
	secret := login("login", `{"auths":{"`+f.host+`":{"username":"puller","password":"right"}}}`)
	for name, without := range map[string]*v1beta2.ImageSpec{"first": &install, PartCRDs: &crds, PartConfig: &config, "": {}} {
		t.Run("without one for "+name, func(t *testing.T) {
			for _, layer := range []*v1beta2.ImageSpec{&install, &crds, &config} {
				layer.CredSecretSelector = selecting("login")
			}
			without.CredSecretSelector = nil
			m := manifestOf(encode(t, install))
			m.Spec.CRDs, m.Spec.Config = &crds, &config
			parts, err := f.objects(t, secret).Read(t.Context(), m, noCluster)
			if name == "" {
				if err != nil || len(parts) != 3 {
					t.Errorf("%d parts, error %v", len(parts), err)
				}
				return
			}
			if content.ReasonOf(err) != content.ReasonRegistryUnauthorized || !strings.HasPrefix(err.Error(), name+":") {
				t.Errorf("error %v, want one that names %s", err, name)
			}
		})
	}
}

func TestLayers_EveryLayerHasATypeOfItsOwn(t *testing.T) {
	f := startRegistry(t)
	archive := func(text string) v1beta2.ImageSpec {
		source := f.source(t, string(content.Archive([]content.File{{Path: "only.yaml", Data: []byte(text)}})))
		source.Type = v1beta2.RefTypeOCIDir
		return source
	}
	crds, config := archive(strings.ReplaceAll(configMap, "sample", "first")), archive("configs: [{name: first, clientConfig: Namespace=own}]\n")
	m := manifestOf(encode(t, f.source(t, configMap)))
	m.Spec.CRDs, m.Spec.Config = &crds, &config
	parts, err := f.objects(t).Read(t.Context(), m, noCluster)
	if err != nil || len(parts) != 3 {
		t.Fatalf("%d parts, error %v", len(parts), err)
	}
	if got := parts[1].Rendered.Objects(); len(got) != 1 || got[0].GetName() != "first" || parts[2].Namespace != "own" {
		t.Errorf("definitions %v, namespace %q", got, parts[2].Namespace)
	}
	untyped := crds
	untyped.Type = ""
	m.Spec.CRDs = &untyped
	if _, err := f.objects(t).Read(t.Context(), m, noCluster); content.ReasonOf(err) != content.ReasonContentInvalid {
		t.Errorf("an archive that is taken for YAML: %v", err)
	}
}

// Default types: an installation of the spec may have any type, and one without a type has the default of its place.
func TestLayers_ASourceWithoutATypeIsWhatItsPlaceHolds(t *testing.T) {
	f := startRegistry(t)
	plain := f.source(t, configMap)
	plain.Type = ""
	m := manifestOf(encode(t, plain))
	m.Spec.AdditionalInstalls = []v1beta2.InstallInfo{{Name: "second", Source: runtime.RawExtension{Raw: []byte(encode(t, plain))}}}
	parts, err := f.objects(t).Read(t.Context(), m, noCluster)
	if err != nil || len(parts) != 2 || len(parts[0].Rendered.Objects()) != 1 {
		t.Errorf("parts %+v, error %v", parts, err)
	}
}
