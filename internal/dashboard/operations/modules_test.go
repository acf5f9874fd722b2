package operations

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// object parses YAML.
func object(text string) *unstructured.Unstructured {
	made := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &made.Object); err != nil {
		panic(err)
	}
	return made
}

// sample returns a custom resource of a module that is installed directly.
func sample(module, name, color string) *unstructured.Unstructured {
	return object(fmt.Sprintf("{apiVersion: %s.example.com/v1, kind: Sample, metadata: {name: %s, namespace: %s}, spec: {color: %s}}",
		module, name, modulestatus.DirectNamespace, color))
}

// community serves a community module in a version: a kind of its own, a ConfigMap of that version, and a default Sample.
func (b *bench) community(module, version, color string) *v1beta2.ModuleTemplate {
	text := strings.NewReplacer("MODULE", module, "VERSION", version).Replace(`apiVersion: v1
kind: ConfigMap
metadata: {name: MODULE, namespace: kyma-system}
data: {version: "VERSION"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: MODULE-VERSION, namespace: kyma-system}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: samples.MODULE.example.com}
spec:
  group: MODULE.example.com
  scope: Namespaced
  names: {kind: Sample, plural: samples}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`)
	b.mutex.Lock()
	b.files[module+"/"+version] = text
	b.mutex.Unlock()
	return &v1beta2.ModuleTemplate{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: module + "-" + version},
		Spec: v1beta2.ModuleTemplateSpec{
			ModuleName: module, Version: version, Data: sample(module, "default", color),
			Resources:           []v1beta2.Named{{Name: "rawManifest", Link: b.web.URL + "/" + module + "/" + version}},
			AssociatedResources: []metav1.GroupVersionKind{{Group: module + ".example.com", Version: "v1", Kind: "Sample"}},
		},
	}
}

// find reads an object; nil if there is none.
func (b *bench) find(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	b.Helper()
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(schema.FromAPIVersionAndKind(apiVersion, kind))
	err := b.Get(context.WithoutCancel(b.Context()), client.ObjectKey{Namespace: namespace, Name: name}, live)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil
	}
	if err != nil {
		b.Fatal(err)
	}
	return live
}

// color returns the color of a Sample; empty if there is none.
func (b *bench) color(module, name string) string {
	b.Helper()
	live := b.find(module+".example.com/v1", "Sample", modulestatus.DirectNamespace, name)
	if live == nil {
		return ""
	}
	color, _, _ := unstructured.NestedString(live.Object, "spec", "color")
	return color
}

// configMap returns a ConfigMap of kyma-system; nil if there is none.
func (b *bench) configMap(name string) *unstructured.Unstructured {
	b.Helper()
	return b.find("v1", "ConfigMap", modulestatus.DirectNamespace, name)
}
