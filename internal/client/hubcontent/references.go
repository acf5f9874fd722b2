package hubcontent

import (
	"encoding/json"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/takeover"
)

// references are the Secrets and ConfigMaps that objects of a hub depend on.
type references struct {
	// named are objects by name, with who names them.
	named map[ID]string
	// selected are selectors of Secrets, by namespace and text.
	selected map[selection]string
}

// selection is a selector of Secrets in a namespace.
type selection struct{ namespace, selector string }

func newReferences() *references {
	return &references{named: map[ID]string{}, selected: map[selection]string{}}
}

func (r *references) name(kind, namespace, name, by string) {
	id := ID{kind, namespace, name}
	if _, known := r.named[id]; !known && name != "" {
		r.named[id] = by
	}
}

// ofKyma adds the values of a Kyma's entries.
func (r *references) ofKyma(kyma *v1beta2.Kyma) {
	by := ID{kindKyma, kyma.Namespace, kyma.Name}.String()
	for i := range kyma.Spec.Modules {
		for _, from := range kyma.Spec.Modules[i].ValuesFrom {
			r.name(string(from.Kind), kyma.Namespace, from.Name, by)
		}
	}
}

// ofManifest adds the values, the logins and the content of a Manifest, and the Secrets whose data it put into a runtime.
func (r *references) ofManifest(m *v1beta2.Manifest) {
	by := ID{kindManifest, m.Namespace, m.Name}.String()
	if values := m.Spec.KymaValues; values != nil {
		for _, from := range values.From {
			r.name(string(from.Kind), m.Namespace, from.Name, by)
		}
	}
	for _, injected := range m.Status.Injected {
		r.name(kindSecret, m.Namespace, injected.Name, by)
	}
	for _, install := range slices.Concat([]v1beta2.InstallInfo{m.Spec.Install}, m.Spec.AdditionalInstalls) {
		r.ofSource(m.Namespace, by, install.Source.Raw)
	}
	for _, image := range []*v1beta2.ImageSpec{m.Spec.Config, m.Spec.CRDs} {
		if image != nil {
			r.selects(m.Namespace, by, image.CredSecretSelector)
		}
	}
}

// ofSource adds what a source names. One that cannot be read names nothing.
func (r *references) ofSource(namespace, by string, raw []byte) {
	source := struct {
		CredSecretSelector *metav1.LabelSelector `json:"credSecretSelector"`
		ConfigMaps         []struct {
			Name string `json:"name"`
		} `json:"configMaps"`
	}{}
	if json.Unmarshal(raw, &source) != nil {
		return
	}
	r.selects(namespace, by, source.CredSecretSelector)
	for _, from := range source.ConfigMaps {
		r.name(kindConfigMap, namespace, from.Name, by)
	}
}

// selects adds a selector. One that selects everything is refused by the manager, and invalid ones, too.
func (r *references) selects(namespace, by string, selector *metav1.LabelSelector) {
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil || parsed.Empty() || parsed.String() == labels.Nothing().String() {
		return
	}
	r.selected[selection{namespace, parsed.String()}] = by
}

// ofManager adds the Secrets that the manager's flags name, and the ConfigMaps that it reads policies from.
func (r *references) ofManager(manager *appsv1.Deployment) {
	by := ID{"Deployment", manager.Namespace, manager.Name}.String()
	settings := takeover.SettingsOf(manager)
	for _, name := range settings.Secrets() {
		r.name(kindSecret, manager.Namespace, name, by)
	}
	for i := range manager.Spec.Template.Spec.Volumes {
		if from := manager.Spec.Template.Spec.Volumes[i].ConfigMap; from != nil {
			r.name(kindConfigMap, manager.Namespace, from.Name, by)
		}
	}
}
