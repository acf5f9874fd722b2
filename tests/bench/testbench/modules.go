package testbench

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
)

// moduleNamespace is where modules install; it exists everywhere.
const moduleNamespace = metav1.NamespaceDefault

// Module is one version of a module.
type Module struct {
	Name, Version string
	// Objects is R: how many it installs, the Deployment included when it has one.
	Objects    int
	Deployment bool
	// Defines means that two of the objects are a definition and an object of its kind. The default custom resource is a further one.
	Defines bool
	// Kinds is of how many kinds the others are: 1 (ConfigMaps) when 0, at most len(kinds).
	Kinds int
	// Text is how many bytes of text each ConfigMap carries beside its few fields.
	Text int
	// RollbackTo is what the template says of the versions that can take over from this one.
	RollbackTo string
}

// Image returns the image of the module's Deployment.
func (m Module) Image() string { return "example.invalid/" + m.Name + ":" + m.Version }

// YAML returns what the module installs.
func (m Module) YAML() []byte {
	var out strings.Builder
	others := m.Objects
	if m.Deployment {
		others--
		fmt.Fprintf(&out, deployment, m.Name, moduleNamespace, m.Version)
	}
	if m.Defines {
		others -= 2
		fmt.Fprintf(&out, ownKind, m.Name, moduleNamespace, m.Version)
	}
	text := strings.Repeat("x", m.Text)
	for i := range others {
		fmt.Fprintf(&out, header, kinds[i%max(1, m.Kinds)].head, m.Name, i, moduleNamespace)
		fmt.Fprintf(&out, kinds[i%max(1, m.Kinds)].body, m.Name, i, m.Version, text)
	}
	return []byte(out.String())
}

// header takes kind, module, number and namespace; what follows takes module, number, version and text.
const header = `---
%[1]s
metadata: {name: %[2]s-%04[3]d, namespace: %[4]s, labels: {app.kubernetes.io/name: %[2]s}}
`

// kinds are cheap ones, which every API server takes without anything else being there.
var kinds = []struct{ head, body string }{
	{"apiVersion: v1\nkind: ConfigMap", "data: {version: %[3]q, text: %[4]q, name: %[1]q, number: \"%[2]d\"}\n"},
	{"apiVersion: v1\nkind: Secret", "type: Opaque\ndata: {}\nstringData: {}\n#%[1]s%[2]d%[3]s%[4]s\n"},
	{"apiVersion: v1\nkind: ServiceAccount", "automountServiceAccountToken: false\n#%[1]s%[2]d%[3]s%[4]s\n"},
	{"apiVersion: rbac.authorization.k8s.io/v1\nkind: Role",
		"rules: [{apiGroups: [\"\"], resources: [configmaps], verbs: [get]}]\n#%[1]s%[2]d%[3]s%[4]s\n"},
	{"apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding",
		"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}\n" +
			"subjects: [{kind: ServiceAccount, name: %[1]s, namespace: default}]\n#%[2]d%[3]s%[4]s\n"},
	{"apiVersion: v1\nkind: Service", "spec: {selector: {app: %[1]s}, ports: [{name: web, port: 80, protocol: TCP}]}\n#%[2]d%[3]s%[4]s\n"},
	{"apiVersion: v1\nkind: LimitRange",
		"spec: {limits: [{type: Container, default: {cpu: 100m}, defaultRequest: {cpu: 10m}}]}\n#%[1]s%[2]d%[3]s%[4]s\n"},
	{"apiVersion: v1\nkind: ResourceQuota", "spec: {hard: {pods: \"1000\"}}\n#%[1]s%[2]d%[3]s%[4]s\n"},
}

// deployment takes module, namespace and version.
const deployment = `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s, namespace: %[2]s, labels: {app.kubernetes.io/name: %[1]s}}
spec:
  replicas: 1
  selector: {matchLabels: {app.kubernetes.io/name: %[1]s}}
  template:
    metadata: {labels: {app.kubernetes.io/name: %[1]s}}
    spec:
      containers: [{name: manager, image: "example.invalid/%[1]s:%[3]s"}]
`

// ownKind takes module, namespace and version.
const ownKind = `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: lamps.%[1]s.example.com}
spec:
  group: %[1]s.example.com
  scope: Namespaced
  names: {plural: lamps, singular: lamp, kind: Lamp, listKind: LampList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {version: {type: string}}}}}}
---
apiVersion: %[1]s.example.com/v1
kind: Lamp
metadata: {name: %[1]s, namespace: %[2]s, labels: {app.kubernetes.io/name: %[1]s}}
spec: {version: %[3]q}
`

// lamp returns the default custom resource of a module that defines its kind.
func (m Module) lamp() *unstructured.Unstructured {
	lamp := &unstructured.Unstructured{}
	lamp.SetAPIVersion(m.Name + ".example.com/v1")
	lamp.SetKind("Lamp")
	lamp.SetNamespace(moduleNamespace)
	lamp.SetName("default")
	return lamp
}

// Component returns the name of the module's component.
func (m Module) Component() string { return componentName(m.Name) }

// Offer publishes a version of a module and creates its ModuleTemplate; channels point at it when any are named.
func (w *Bench) Offer(ctx context.Context, m Module, channels ...string) error {
	spec := v1beta2.ModuleTemplateSpec{ModuleName: m.Name, Version: m.Version, RollbackTo: m.RollbackTo}
	if m.Defines {
		spec.Data = m.lamp()
	}
	return w.offer(ctx, spec, m.YAML(), channels)
}

// OfferContent is Offer for objects of any kind, as YAML.
func (w *Bench) OfferContent(ctx context.Context, module, number string, content []byte, channels ...string) error {
	return w.offer(ctx, v1beta2.ModuleTemplateSpec{ModuleName: module, Version: number}, content, channels)
}

func (w *Bench) offer(ctx context.Context, spec v1beta2.ModuleTemplateSpec, content []byte, channels []string) error {
	module, number := spec.ModuleName, spec.Version
	version := component.Version{
		Name: componentName(module), Version: number, Provider: "kyma-project.io",
		Resources: []component.Resource{{Name: "raw-manifest", MediaType: component.MediaTypeYAML, Data: content}},
	}
	registry := component.Registry{Host: w.Registry.Host, PlainHTTP: true}
	if _, err := component.Push(ctx, registry, version, component.Overwrite); err != nil {
		return err
	}
	template := &v1beta2.ModuleTemplate{
		ObjectMeta: metav1.ObjectMeta{Namespace: v1beta2.DefaultNamespace, Name: module + "-" + number},
		Spec:       spec,
	}
	if err := w.Hub.Client.Create(ctx, template); err != nil {
		return err
	}
	if len(channels) == 0 {
		return nil
	}
	return w.Point(ctx, module, number, channels...)
}

// Point makes channels of a module offer a version.
func (w *Bench) Point(ctx context.Context, module, version string, channels ...string) error {
	release := &v1beta2.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Namespace: v1beta2.DefaultNamespace, Name: module}}
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		err := w.Hub.Client.Get(ctx, client.ObjectKeyFromObject(release), release)
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
		missing := err != nil
		release.Spec.ModuleName, release.Spec.OCMComponentName = module, componentName(module)
		release.Spec.Channels = nil
		for _, channel := range channels {
			release.Spec.Channels = append(release.Spec.Channels, v1beta2.ChannelVersion{Channel: channel, Version: version})
		}
		if missing {
			return w.Hub.Client.Create(ctx, release)
		}
		return w.Hub.Client.Update(ctx, release)
	})
}

func componentName(module string) string { return "kyma-project.io/module/" + module }
