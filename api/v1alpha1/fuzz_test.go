package v1alpha1

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/randfill" //nolint:depguard // tests only

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// rounds is how many random objects a plain test run looks at.
const rounds = 500

// filler makes objects as an API server could hold them: names of installations and modules are unique, sources are JSON objects, and
// no one else uses our two annotations.
func filler(f *randfill.Filler) *randfill.Filler {
	return f.NilChance(0.3).NumElements(0, 4).Funcs(
		func(m *metav1.ObjectMeta, c randfill.Continue) {
			m.Name, m.Namespace, m.Generation = c.String(8), c.String(8), int64(c.Int31())
			c.Fill(&m.Labels)
			c.Fill(&m.Annotations)
		},
		func(t *metav1.Time, _ randfill.Continue) { *t = metav1.Unix(1_700_000_000, 0).Rfc3339Copy() },
		func(k *v1beta2.RefType, c randfill.Continue) { *k = v1beta2.RefType(pick(c, words...)) },
		func(s *runtime.RawExtension, c randfill.Continue) { s.Raw = source(c) },
		func(u *unstructured.Unstructured, c randfill.Continue) {
			u.Object = map[string]any{"apiVersion": "v1", "kind": c.String(4) + "K", "stray": c.String(4), "n": int64(c.Int31())}
		},
		func(m *v1beta2.KymaSpec, c randfill.Continue) {
			c.FillNoCustom(m)
			for i := range m.Modules {
				m.Modules[i].Name = fmt.Sprint("m", i)
				if c.Bool() {
					m.Modules[i] = moduleDefaults(m.Modules[i].Name)
				}
			}
		},
		func(m *v1beta2.ManifestSpec, c randfill.Continue) {
			c.FillNoCustom(m)
			m.Install.Name = "first"
			for i := range m.AdditionalInstalls {
				m.AdditionalInstalls[i].Name = fmt.Sprint("i", i)
			}
		},
		func(m *KymaSpec, c randfill.Continue) {
			c.FillNoCustom(m)
			for i := range m.Components {
				m.Components[i].Name = fmt.Sprint("m", i)
			}
		},
		func(m *ManifestSpec, c randfill.Continue) {
			c.FillNoCustom(m)
			for i := range m.Installs {
				m.Installs[i].Name = fmt.Sprint("i", i)
			}
		},
		func(t *metav1.TypeMeta, _ randfill.Continue) { *t = metav1.TypeMeta{} },
	)
}

var words = []string{"oci-ref", "helm-chart", "oci-dir", "kustomize", "bundle", "", "other"}

func pick(c randfill.Continue, from ...string) string { return from[c.Intn(len(from))] }

func source(c randfill.Continue) []byte {
	fields := map[string]any{}
	if c.Bool() {
		fields["repo"] = pick(c, "", "r", "s")
	}
	if c.Bool() {
		fields["url"] = c.String(4)
	}
	switch c.Intn(8) {
	case 0:
		fields["type"] = nil
	case 1:
		fields["type"] = c.Intn(3)
	case 2:
	default:
		fields["type"] = pick(c, words...)
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	return raw
}

// kymaTrips takes a random Kyma of each version to the other one and back, and again with an edit on the way.
func kymaTrips(t *testing.T, f *randfill.Filler) {
	t.Helper()
	hub, away, back := &v1beta2.Kyma{}, &Kyma{}, &v1beta2.Kyma{}
	f.Fill(hub)
	hub.TypeMeta = typeMeta(v1beta2.GroupVersion.String(), "Kyma")
	must(t, KymaFromHub(hub, away))
	away = wire(t, away)
	must(t, KymaToHub(away, back))
	same(t, "v1beta2 Kyma", wire(t, hub), wire(t, back))

	spoke, there, again := &Kyma{}, &v1beta2.Kyma{}, &Kyma{}
	f.Fill(spoke)
	spoke.TypeMeta = typeMeta(GroupVersion.String(), "Kyma")
	must(t, KymaToHub(spoke, there))
	must(t, KymaFromHub(wire(t, there), again))
	same(t, "v1alpha1 Kyma", wire(t, spoke), wire(t, again))

	away.Spec = *spoke.Spec.DeepCopy()
	must(t, KymaToHub(away, there))
	must(t, KymaFromHub(there, again))
	same(t, "edited components", away.Spec, again.Spec)
}

// manifestTrips does the same with Manifests.
func manifestTrips(t *testing.T, f *randfill.Filler) {
	t.Helper()
	hub, away, back := &v1beta2.Manifest{}, &Manifest{}, &v1beta2.Manifest{}
	f.Fill(hub)
	hub.TypeMeta = typeMeta(v1beta2.GroupVersion.String(), "Manifest")
	must(t, ManifestFromHub(hub, away))
	away = wire(t, away)
	must(t, ManifestToHub(away, back))
	same(t, "v1beta2 Manifest", wire(t, hub), wire(t, back))

	spoke, there, again := &Manifest{}, &v1beta2.Manifest{}, &Manifest{}
	f.Fill(spoke)
	spoke.TypeMeta = typeMeta(GroupVersion.String(), "Manifest")
	must(t, ManifestToHub(spoke, there))
	must(t, ManifestFromHub(wire(t, there), again))
	same(t, "v1alpha1 Manifest", wire(t, spoke), wire(t, again))

	away.Spec = *spoke.Spec.DeepCopy()
	must(t, ManifestToHub(away, there))
	must(t, ManifestFromHub(there, again))
	same(t, "edited installations", away.Spec, again.Spec)
	there.Spec.Install, there.Spec.AdditionalInstalls = hub.Spec.Install, hub.Spec.AdditionalInstalls
	must(t, ManifestFromHub(there, again))
	must(t, ManifestToHub(again, back))
	same(t, "edited install", there.Spec, back.Spec)
}

// wire sends an object through JSON, as an API server does.
func wire[T any](t *testing.T, object *T) *T {
	t.Helper()
	data, err := json.Marshal(object)
	must(t, err)
	result := new(T)
	must(t, json.Unmarshal(data, result))
	return result
}

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got, sameJSON); diff != "" {
		t.Fatalf("%s differs after its way (-want +got):\n%s", what, diff)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestFuzz_NothingIsLost(t *testing.T) {
	for seed := range int64(rounds) {
		kymaTrips(t, filler(randfill.NewWithSeed(seed)))
		manifestTrips(t, filler(randfill.NewWithSeed(seed)))
	}
}

func FuzzKyma(f *testing.F) {
	f.Add([]byte("a Kyma of the days of old"))
	f.Fuzz(func(t *testing.T, data []byte) { kymaTrips(t, filler(randfill.NewFromGoFuzz(data))) })
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte("a Manifest of the days of old"))
	f.Fuzz(func(t *testing.T, data []byte) { manifestTrips(t, filler(randfill.NewFromGoFuzz(data))) })
}

// FuzzAnnotation: whatever stands in our annotations, nothing crashes, and reading as v1alpha1 never fails.
func FuzzAnnotation(f *testing.F) {
	f.Add(`{"types":{"first":["oci-ref"]}}`, `{"repo":"r","type":"helm-chart"}`)
	f.Add(`{"spec":{"channel":"fast"},"modules":[{"name":"first"}]}`, `[]`)
	f.Fuzz(func(t *testing.T, text, source string) {
		if !json.Valid([]byte(source)) {
			return
		}
		spoke, hub := &Manifest{}, &v1beta2.Manifest{}
		remember(spoke, AnnotationHub, text)
		spoke.Spec.Installs = []InstallInfo{{Name: "first", Source: raw(source)}}
		_ = ManifestToHub(spoke, hub)
		_ = KymaToHub(&Kyma{ObjectMeta: spoke.ObjectMeta, Spec: KymaSpec{Components: []Component{{Name: "first"}}}}, &v1beta2.Kyma{})
		remember(hub, AnnotationSpoke, text)
		hub.Spec.Install = v1beta2.InstallInfo{Name: "first", Source: raw(source)}
		must(t, ManifestFromHub(hub, spoke))
	})
}
