package v1alpha1

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// sameJSON compares raw JSON by what it says.
var sameJSON = cmp.Options{
	cmpopts.EquateEmpty(),
	cmp.Comparer(func(a, b runtime.RawExtension) bool {
		var x, y any
		if json.Unmarshal(a.Raw, &x) != nil || json.Unmarshal(b.Raw, &y) != nil {
			return string(a.Raw) == string(b.Raw)
		}
		return cmp.Equal(x, y)
	}),
}

const layer = `"repo":"r","name":"n","ref":"sha256:1"`

func raw(text string) runtime.RawExtension { return runtime.RawExtension{Raw: []byte(text)} }

// The types of sources: what v1alpha1 says, what v1beta2 makes of it, and what must be remembered.
func TestTypesOfSources(t *testing.T) {
	for name, test := range map[string]struct{ spoke, hub, spokeMemory, hubMemory string }{
		"a layer of type oci-ref is a chart":            {`"oci-ref",` + layer, `"helm-chart",` + layer, "", ""},
		"a layer that calls itself a chart is one, too": {`"helm-chart",` + layer, `"helm-chart",` + layer, `{"types":{"i":["helm-chart"]}}`, ""},
		"a layer without a type is a chart":             {`,` + layer, `"helm-chart",` + layer, `{"types":{"i":[]}}`, ""},
		"a layer with an empty type is a chart":         {`"",` + layer, `"helm-chart",` + layer, `{"types":{"i":[""]}}`, ""},
		"a layer whose type is null is a chart":         {`null,` + layer, `"helm-chart",` + layer, `{"types":{"i":[null]}}`, ""},
		"a chart of a Helm repository":                  {`"helm-chart","url":"u"`, `"helm-chart","url":"u"`, "", ""},
		"an address without a type stays":               {`,"url":"u"`, `,"url":"u"`, "", ""},
		"an address of type oci-ref is a chart":         {`"oci-ref","url":"u"`, `"helm-chart","url":"u"`, `{"types":{"i":["oci-ref"]}}`, ""},
		"a kustomization":                               {`"kustomize",` + layer, `"kustomize",` + layer, "", ""},
		"an archive":                                    {`"oci-dir",` + layer, `"oci-dir",` + layer, "", ""},
		"a word that no one knows":                      {`"tomorrow",` + layer, `"tomorrow",` + layer, "", ""},
		"a type that is no word":                        {`7,` + layer, `7,` + layer, "", ""},
		"plain YAML of v1beta2":                         {`"oci-ref",` + layer, `"oci-ref",` + layer, "", `{"types":{"i":["oci-ref"]}}`},
		"plain YAML without a type":                     {`,` + layer, `,` + layer, "", `{"types":{"i":[]}}`},
	} {
		t.Run(name, func(t *testing.T) {
			hub := &v1beta2.Manifest{TypeMeta: typeMeta("operator.kyma-project.io/v1beta2", "Manifest"), Spec: manifestDefaults()}
			hub.Spec.Install = v1beta2.InstallInfo{Name: "i", Source: raw(object(test.hub))}
			spoke := &Manifest{TypeMeta: typeMeta("operator.kyma-project.io/v1alpha1", "Manifest")}
			spoke.Spec.Installs = []InstallInfo{{Name: "i", Source: raw(object(test.spoke))}}
			remember(hub, AnnotationSpoke, test.spokeMemory)
			remember(spoke, AnnotationHub, test.hubMemory)
			gotHub, gotSpoke := &v1beta2.Manifest{}, &Manifest{}
			if err := ManifestToHub(spoke, gotHub); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(hub, gotHub, sameJSON); diff != "" {
				t.Errorf("to v1beta2 (-want +got):\n%s", diff)
			}
			if err := ManifestFromHub(hub, gotSpoke); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(spoke, gotSpoke, sameJSON); diff != "" {
				t.Errorf("from v1beta2 (-want +got):\n%s", diff)
			}
		})
	}
}

// object writes `<type>,<fields>` as a source.
func object(text string) string {
	word, fields, _ := strings.Cut(text, ",")
	if word == "" {
		return "{" + fields + "}"
	}
	return `{"type":` + word + "," + fields + "}"
}

func remember(on metav1.Object, annotation, text string) {
	if text != "" {
		on.SetAnnotations(map[string]string{annotation: text})
	}
}

func TestEditsWinOverWhatIsRemembered(t *testing.T) {
	hub := &v1beta2.Manifest{Spec: manifestDefaults()}
	hub.Spec.TargetNamespace = "kept"
	hub.Spec.Install = v1beta2.InstallInfo{Name: "yaml", Source: raw(`{"type":"oci-ref",` + layer + `}`)}
	hub.Spec.AdditionalInstalls = []v1beta2.InstallInfo{{Name: "gone", Source: raw(`{"type":"oci-ref",` + layer + `}`)}}
	for name, test := range map[string]struct {
		edit func(*ManifestSpec)
		want string // sources in order
	}{
		"without an edit everything is as it was": {func(*ManifestSpec) {}, `oci-ref oci-ref`},
		"another digest of the same kind": {
			func(s *ManifestSpec) { s.Installs[0].Source = raw(`{"type":"oci-ref","repo":"r","ref":"sha256:2"}`) }, `oci-ref oci-ref`,
		},
		"another type": {
			func(s *ManifestSpec) { s.Installs[0].Source = raw(`{"type":"kustomize",` + layer + `}`) }, `kustomize oci-ref`,
		},
		"another source altogether": {
			func(s *ManifestSpec) { s.Installs[0].Source = raw(`{"type":"helm-chart","url":"u"}`) }, `helm-chart oci-ref`,
		},
		"an installation of another name": {func(s *ManifestSpec) { s.Installs[0].Name = "new" }, `helm-chart oci-ref`},
		"an installation less":            {func(s *ManifestSpec) { s.Installs = s.Installs[:1] }, `oci-ref`},
		"an installation more, in front": {
			func(s *ManifestSpec) {
				s.Installs = append([]InstallInfo{{Name: "new", Source: raw(`{"type":"oci-ref",` + layer + `}`)}}, s.Installs...)
			}, `helm-chart oci-ref oci-ref`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			spoke, back := &Manifest{}, &v1beta2.Manifest{}
			if err := ManifestFromHub(hub, spoke); err != nil {
				t.Fatal(err)
			}
			test.edit(&spoke.Spec)
			if err := ManifestToHub(spoke, back); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, info := range append([]v1beta2.InstallInfo{back.Spec.Install}, back.Spec.AdditionalInstalls...) {
				source := v1beta2.ImageSpec{}
				if err := json.Unmarshal(info.Source.Raw, &source); err != nil {
					t.Fatal(err)
				}
				got = append(got, string(source.Type))
			}
			if strings.Join(got, " ") != test.want || back.Spec.TargetNamespace != "kept" {
				t.Errorf("types %v, want %s; namespace %q", got, test.want, back.Spec.TargetNamespace)
			}
		})
	}
}

func TestComponentsAreEditedByName(t *testing.T) {
	yes := true
	hub := &v1beta2.Kyma{Spec: v1beta2.KymaSpec{Channel: "fast", Remote: &yes, Modules: []v1beta2.Module{
		{Name: "pinned", Version: "1.2.3"}, moduleDefaults("plain"), {Name: "slow", Channel: "slow"},
	}}}
	spoke, back := &Kyma{}, &v1beta2.Kyma{}
	if err := KymaFromHub(hub, spoke); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(spoke.Annotations[AnnotationHub], "plain") {
		t.Errorf("a module that says nothing but its name is remembered: %s", spoke.Annotations[AnnotationHub])
	}
	spoke.Spec.Components = []Component{{Name: "new"}, {Name: "slow"}, {Name: "plain"}}
	if err := KymaToHub(spoke, back); err != nil {
		t.Fatal(err)
	}
	want := *hub.Spec.DeepCopy()
	want.Modules = []v1beta2.Module{moduleDefaults("new"), hub.Spec.Modules[2], moduleDefaults("plain")}
	if diff := cmp.Diff(want, back.Spec); diff != "" {
		t.Errorf("the spec differs (-want +got):\n%s", diff)
	}
}

func TestConversion_ADamagedAnnotation(t *testing.T) {
	for name, text := range map[string]string{
		"that is no JSON":              "{",
		"with a field of a later time": `{"wings":2}`,
		"with another type":            `{"spec":[]}`,
	} {
		t.Run(name, func(t *testing.T) {
			kyma, manifest := &Kyma{}, &Manifest{}
			remember(kyma, AnnotationHub, text)
			remember(manifest, AnnotationHub, text)
			for kind, err := range map[string]error{
				"Kyma": KymaToHub(kyma, &v1beta2.Kyma{}), "Manifest": ManifestToHub(manifest, &v1beta2.Manifest{}),
			} {
				if err == nil || !strings.Contains(err.Error(), AnnotationHub) {
					t.Errorf("%s: error %v, want one that names the annotation", kind, err)
				}
			}
			hub, spoke := &v1beta2.Manifest{}, &Manifest{}
			remember(hub, AnnotationSpoke, text)
			if err := ManifestFromHub(hub, spoke); err != nil || spoke.Annotations[AnnotationSpoke] != "" {
				t.Errorf("reading must never fail: %v; annotations %v", err, spoke.Annotations)
			}
		})
	}
}
