package testkit

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
)

const (
	// contentNamespace is the namespace of sample modules' objects. It exists everywhere, because a namespace that a module brings can only be
	// deleted where a kube-controller-manager runs.
	contentNamespace = metav1.NamespaceDefault
	// contentGroup is the API group of the custom resources of sample modules.
	contentGroup = "testkit.kyma-project.io"
	// VersionLabel is on every object of a sample module and holds the version of the module.
	VersionLabel = contentGroup + "/version"
)

// Content is the content of a version of a sample module.
type Content struct {
	// Objects to install.
	Objects []*unstructured.Unstructured
	// DefaultCR of the module; nil when it has none.
	DefaultCR *unstructured.Unstructured
	// Manager of the module; nil when it has none.
	Manager *v1beta2.Manager
	// Associated are the kinds of which users create objects with the module.
	Associated []metav1.GroupVersionKind
	// AsTar packs the objects into a tar archive, which makes the source an oci-dir.
	AsTar bool
}

// YAML returns the objects as one stream.
func (c Content) YAML() []byte {
	var out strings.Builder
	for _, object := range c.Objects {
		data, err := yaml.Marshal(object.Object)
		if err != nil {
			panic(fmt.Sprintf("%s %s cannot be written as YAML: %v", object.GetKind(), object.GetName(), err))
		}
		out.WriteString("---\n")
		out.Write(data)
	}
	return []byte(out.String())
}

func (c Content) layer() component.Resource {
	if c.AsTar {
		return RawManifestDir(c.YAML())
	}
	return RawManifest(c.YAML())
}

// ConfigMaps returns a module without workload: count objects, which are ready when they exist.
func ConfigMaps(module, version string, count int) Content {
	var content Content
	for i := range count {
		name := fmt.Sprintf("%s-%d", module, i)
		content.Objects = append(content.Objects, sample(fmt.Sprintf(`
apiVersion: v1
kind: ConfigMap
metadata: {name: %s, namespace: %s}
data: {version: %q}`, name, contentNamespace, version), version))
	}
	return content
}

// Deployment returns a module that is ready when its pods run, which requires a runtime with workloads.
func Deployment(module, version string) Content {
	return Content{Objects: []*unstructured.Unstructured{
		sample(fmt.Sprintf(`
apiVersion: v1
kind: ServiceAccount
metadata: {name: %s, namespace: %s}`, module, contentNamespace), version),
		deployment(module, version),
	}}
}

// Operator returns a module with all parts of a real one: a CRD, the operator that serves it, its permissions, and a default CR.
func Operator(module, version string) Content {
	kind := KindOf(module)
	plural := strings.ToLower(kind) + "s"
	cr := sample(fmt.Sprintf(`
apiVersion: %s/v1
kind: %s
metadata: {name: default, namespace: %s}
spec: {size: 1}`, contentGroup, kind, contentNamespace), version)
	crd := sample(fmt.Sprintf(crdTemplate, plural, contentGroup, kind, strings.ToLower(kind)), version)
	objects := append([]*unstructured.Unstructured{crd}, Deployment(module, version).Objects...)
	objects = append(objects,
		sample(fmt.Sprintf(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: %[1]s}
rules:
- apiGroups: [%[2]s]
  resources: [%[3]s, %[3]s/status]
  verbs: [get, list, watch, update, patch]`, module, contentGroup, plural), version),
		sample(fmt.Sprintf(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: %[1]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %[1]s}
subjects: [{kind: ServiceAccount, name: %[1]s, namespace: %[2]s}]`, module, contentNamespace), version))
	return Content{Objects: objects, DefaultCR: cr, Manager: &v1beta2.Manager{
		GroupVersionKind: metav1.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"},
		Namespace:        contentNamespace, Name: module,
	}}
}

// KindOf returns the kind of the custom resources of a module from Operator.
func KindOf(module string) string {
	var kind strings.Builder
	for part := range strings.SplitSeq(module, "-") {
		kind.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return kind.String()
}

// crdTemplate takes plural, group, kind and singular.
const crdTemplate = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]s.%[2]s}
spec:
  group: %[2]s
  scope: Namespaced
  names: {plural: %[1]s, singular: %[4]s, kind: %[3]s, listKind: %[3]sList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties: {size: {type: integer}}
          status:
            type: object
            x-kubernetes-preserve-unknown-fields: true
            properties: {state: {type: string}}`

func deployment(module, version string) *unstructured.Unstructured {
	return sample(fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s, namespace: %[2]s}
spec:
  replicas: 1
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec:
      serviceAccountName: %[1]s
      containers: [{name: manager, image: "example.invalid/%[1]s:%[3]s"}]`, module, contentNamespace, version), version)
}

// sample parses an object and labels it with the module's version.
func sample(text, version string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	data, err := yaml.YAMLToJSON([]byte(text))
	if err == nil {
		err = object.UnmarshalJSON(data)
	}
	if err != nil {
		panic(fmt.Sprintf("sample content is no object: %v\n%s", err, text))
	}
	labels := object.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[VersionLabel] = version
	object.SetLabels(labels)
	return object
}
