package takeover

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/kubeconfig"
)

// upstreams returns the hub of testdata, read anew for each call, since tests change it.
func upstreams(t *testing.T) *Hub {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "hub.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	hub := &Hub{}
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		object := unstructured.Unstructured{}
		data, err := yaml.YAMLToJSON([]byte(document))
		if err == nil {
			err = object.UnmarshalJSON(data)
		}
		if err != nil {
			t.Fatal(err)
		}
		hub.put(t, object)
	}
	for _, definition := range rules(t).Definitions {
		live := definition.DeepCopy()
		live.Status.StoredVersions = []string{"v1beta1", "v1beta2"}
		if slices.Contains(ownKinds, live.Spec.Names.Kind) { // upstream does not have them
			continue
		}
		if live.Spec.Names.Kind == "ModuleReleaseMeta" { // a newer kind
			live.Status.StoredVersions = []string{"v1beta2"}
		}
		hub.Definitions.Items = append(hub.Definitions.Items, *live)
	}
	return hub
}

// put adds an object to the field that the real command uses for it.
func (hub *Hub) put(t *testing.T, object unstructured.Unstructured) {
	t.Helper()
	switch object.GetKind() {
	case "Deployment":
		hub.Manager.Items = append(hub.Manager.Items, as[appsv1.Deployment](t, object))
	case "ConfigMap":
		hub.Policies.Items = append(hub.Policies.Items, as[corev1.ConfigMap](t, object))
	case "Secret":
		secret := as[corev1.Secret](t, object)
		for key, value := range secret.StringData {
			secret.Data = map[string][]byte{key: []byte(value)}
		}
		if secret.Labels[v1beta2.LabelKymaName] != "" {
			hub.Access.Items = append(hub.Access.Items, secret)
		} else {
			hub.Named.Items = append(hub.Named.Items, secret)
		}
	case "Kyma":
		hub.Kymas.Items = append(hub.Kymas.Items, object)
	case "Manifest":
		hub.Manifests.Items = append(hub.Manifests.Items, object)
	case "ModuleTemplate":
		hub.Templates.Items = append(hub.Templates.Items, object)
	case "ModuleReleaseMeta":
		hub.Releases.Items = append(hub.Releases.Items, object)
	case "Watcher":
		hub.Watchers.Items = append(hub.Watchers.Items, object)
	default:
		t.Fatalf("what is a %s?", object.GetKind())
	}
}

func as[T any](t *testing.T, object unstructured.Unstructured) T {
	t.Helper()
	var typed T
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &typed); err != nil {
		t.Fatal(err)
	}
	return typed
}

// rules returns the manager's own rules.
func rules(t *testing.T) Rules {
	t.Helper()
	made := Rules{
		Policy: func(text []byte) error {
			if strings.Contains(string(text), "rules") {
				return nil
			}
			return errors.New("it has no rules")
		},
		Kubeconfig: func(text []byte) string {
			if _, refusal := kubeconfig.Parse(text); refusal != nil {
				return refusal.Message
			}
			return ""
		},
	}
	files, err := filepath.Glob("../../config/crd/bases/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no definitions: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		definition := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(text, definition); err != nil {
			t.Fatal(err)
		}
		made.Definitions = append(made.Definitions, definition)
	}
	return made
}

// findings returns the findings of the given levels; without levels, all of them.
func findings(t *testing.T, hub *Hub, levels ...Level) []Finding {
	t.Helper()
	return slices.DeleteFunc(Judge(hub, rules(t)), func(f Finding) bool { return len(levels) > 0 && !slices.Contains(levels, f.Level) })
}

// set sets a field of a stored object.
func set(t *testing.T, object *unstructured.Unstructured, value any, path ...string) {
	t.Helper()
	if err := unstructured.SetNestedField(object.Object, value, path...); err != nil {
		t.Fatal(err)
	}
}

// arg adds an argument to upstream's Deployment.
func arg(arguments ...string) func(*testing.T, *Hub) {
	return func(_ *testing.T, hub *Hub) {
		container := &hub.Manager.Items[0].Spec.Template.Spec.Containers[0]
		container.Args = append(container.Args, arguments...)
	}
}
