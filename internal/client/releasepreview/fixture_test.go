package releasepreview

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

const (
	namespace = "kcp-system"
	beacon    = "beacon"
	name      = "example.com/module/beacon"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC) // a Wednesday

// object parses a document.
func object(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	made := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &made.Object); err != nil {
		t.Fatal(err)
	}
	return made
}

func objects(t testing.TB, texts ...string) []*unstructured.Unstructured {
	t.Helper()
	var all []*unstructured.Unstructured
	for _, text := range texts {
		all = append(all, object(t, text))
	}
	return all
}

func deployment(image string) string {
	return fmt.Sprintf(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: manager, namespace: kyma-system},
 spec: {replicas: 1, template: {spec: {containers: [{name: manager, image: "%s"}]}}}}`, image)
}

// newTemplate returns the template of a version, edited.
func newTemplate(version string, edits ...func(*v1beta2.ModuleTemplateSpec)) v1beta2.ModuleTemplate {
	made := v1beta2.ModuleTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: module.TemplateName(beacon, version)}}
	made.Spec.ModuleName, made.Spec.Version = beacon, version
	for _, edit := range edits {
		edit(&made.Spec)
	}
	return made
}

func needsDowntime(spec *v1beta2.ModuleTemplateSpec) { spec.RequiresDowntime = true }

func newRelease(channels ...string) v1beta2.ModuleReleaseMeta {
	made := v1beta2.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: beacon}}
	made.Spec.ModuleName, made.Spec.OCMComponentName = beacon, name
	for i := 0; i < len(channels); i += 2 {
		made.Spec.Channels = append(made.Spec.Channels, v1beta2.ChannelVersion{Channel: channels[i], Version: channels[i+1]})
	}
	return made
}

func digestOf(version string) string {
	digits := fmt.Sprintf("%064x", []byte(version))
	return "sha256:" + digits[len(digits)-64:]
}

func newComponent(version string) module.Component {
	return module.Component{Source: &v1beta2.ImageSpec{
		Repo: "registry.example.com/component-descriptors", Name: name, Ref: digestOf(version), Type: v1beta2.RefTypeOCI,
	}}
}

// newHub returns a hub whose channel regular offers 1.0.0, with templates and the content of 1.1.0.
func newHub(edits ...func(*Hub)) *Hub {
	content := newComponent("1.1.0")
	hub := &Hub{
		Releases:  []v1beta2.ModuleReleaseMeta{newRelease("regular", "1.0.0", "fast", "1.1.0")},
		Templates: []v1beta2.ModuleTemplate{newTemplate("1.0.0"), newTemplate("1.1.0"), newTemplate("2.0.0")},
		Component: &content, WindowsKnown: true, RestrictedKnown: true, Now: noon, Names: 3,
	}
	for _, edit := range edits {
		edit(hub)
	}
	return hub
}

var upgrade = Request{Module: beacon, Channel: "regular", Version: "1.1.0"}

// newMember returns a Kyma that has the module in a version, ready; an empty version is none yet.
func newMember(number int, version string, edits ...func(*Member)) Member {
	kyma := &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: fmt.Sprintf("kyma-%04d", number), UID: types.UID(fmt.Sprintf("%08x-0000-4000-8000-000000000000", number)),
		CreationTimestamp: metav1.NewTime(noon.Add(-time.Hour)),
	}}
	kyma.Spec.Channel = "regular"
	kyma.Spec.Modules = []v1beta2.Module{{Name: beacon}}
	m := Member{Kyma: kyma}
	if version != "" {
		kyma.Status.Modules = []v1beta2.ModuleStatus{{
			Name: beacon, State: v1beta2.StateReady, Channel: "regular", Version: version, OCMComponentName: name,
		}}
		m.Manifests = []v1beta2.Manifest{newManifest(kyma, version)}
	}
	for _, edit := range edits {
		edit(&m)
	}
	return m
}

// newManifest returns the Manifest that a Kyma has of a version.
func newManifest(kyma *v1beta2.Kyma, version string) v1beta2.Manifest {
	yes := true
	made := v1beta2.Manifest{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: module.ManifestName(kyma.Name, name, beacon), UID: "manifest-" + kyma.UID, Generation: 1,
		Labels: map[string]string{
			v1beta2.LabelKymaName: kyma.Name, v1beta2.LabelModuleName: beacon, v1beta2.LabelManagedBy: v1beta2.ManagedByLifecycleManager,
			v1beta2.LabelChannel: "regular",
		},
		Annotations:     map[string]string{v1beta2.AnnotationOCMComponentName: name, v1beta2.AnnotationFQDN: name},
		OwnerReferences: []metav1.OwnerReference{{Kind: "Kyma", Name: kyma.Name, UID: kyma.UID, Controller: &yes}},
	}}
	made.Spec = *module.ContentOf(version, newComponent(version))
	made.Status.State, made.Status.ObservedGeneration, made.Status.InstalledVersion = v1beta2.StateReady, 1, version
	return made
}

// foresee returns the forecast of an upgrade of some members.
func foresee(t testing.TB, hub *Hub, ask Request, members ...Member) Result {
	t.Helper()
	forecast, err := NewForecast(hub, ask)
	if err != nil {
		t.Fatal(err)
	}
	return forecast.Foresee(members)
}

func asJSON(t testing.TB, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
