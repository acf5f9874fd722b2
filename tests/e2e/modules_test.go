package e2e

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// The ten modules, and the mandatory one beside them.
const (
	maps     = "maps"     // plain objects
	notes    = "notes"    // many plain objects, in an archive
	web      = "web"      // a Deployment whose images its descriptor names
	state    = "state"    // an operator that is a StatefulSet
	scaler   = "scaler"   // an operator with a default custom resource
	mesh     = "mesh"     // an operator whose custom resources have no namespace
	bare     = "bare"     // an operator without a default custom resource
	charted  = "charted"  // a chart with values from a config layer
	deployer = "deployer" // may take data from Secrets of the hub
	guarded  = "guarded"  // only for the Kymas that its release selects
	forced   = "forced"   // mandatory

	regular, fast = "regular", "fast"
	first         = "1.0.0"

	// credentials is the Secret of the hub that the deployer takes data from, and that in the runtime.
	credentials = "credentials"
)

// ten returns the modules of a Kyma. The policies of those with custom resources differ.
func ten(scalers, meshes v1beta2.CustomResourcePolicy) []v1beta2.Module {
	return []v1beta2.Module{
		{Name: maps}, {Name: notes}, {Name: web}, {Name: state},
		{Name: scaler, CustomResourcePolicy: scalers}, {Name: mesh, CustomResourcePolicy: meshes},
		{Name: bare}, {Name: charted}, {Name: deployer}, {Name: guarded},
	}
}

// offerAll publishes the first version of all ten and offers it on both channels.
func (s *environment) offerAll() {
	GinkgoHelper()
	s.Offer(maps, first, mapsAt(first, 3), regular, fast)
	s.Offer(notes, first, notesAt(first, 5), regular, fast)
	s.offerParts(web, first, webAt(web, first), []component.Resource{
		{Name: "operator", Type: "ociImage", Image: "prod.example.com/kyma/operator:" + first},
		{Name: "proxy", Type: "ociImage", Image: "prod.example.com/kyma/proxy:2.0.0"},
	}, regular, fast)
	s.Offer(state, first, stateAt(first), regular, fast)
	s.Offer(scaler, first, testkit.Operator(scaler, first), regular, fast)
	s.Offer(mesh, first, meshAt(first), regular, fast)
	testkit.Edit(s.Hub, testkit.ModuleTemplate(mesh, first), func(t *v1beta2.ModuleTemplate) {
		metav1.SetMetaDataAnnotation(&t.ObjectMeta, v1beta2.AnnotationIsClusterScoped, v1beta2.EnabledValue)
	})
	operator := testkit.Operator(bare, first)
	operator.DefaultCR = nil
	s.Offer(bare, first, operator, regular, fast)
	s.offerChart(first, regular, fast)
	s.Offer(deployer, first, asking(), regular, fast)
	s.Offer(guarded, first, testkit.ConfigMaps(guarded, first, 1), regular, fast)
	testkit.Edit(s.Hub, testkit.ModuleReleaseMeta(guarded), func(r *v1beta2.ModuleReleaseMeta) {
		r.Spec.KymaSelector = &metav1.LabelSelector{MatchLabels: map[string]string{account: "one"}}
	})
}

// offerParts publishes a version that consists of more than a manifest.
func (s *environment) offerParts(module, version string, content testkit.Content, parts []component.Resource, channels ...string) {
	GinkgoHelper()
	if len(content.Objects) > 0 {
		parts = append([]component.Resource{testkit.RawManifest(content.YAML())}, parts...)
	}
	s.Publish(testkit.ComponentName(module), version, parts...)
	s.Hub.Create(testkit.ModuleTemplate(module, version))
	s.Point(module, version, channels...)
}

func (s *environment) offerChart(version string, channels ...string) {
	GinkgoHelper()
	chart := testkit.Chart(charted, version, testkit.Files{
		"values.yaml": "colour: grey\n",
		"templates/settings.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: charted, namespace: default}
data: {version: {{ .Chart.Version | quote }}, colour: {{ .Values.colour | quote }}}
`,
	})
	s.offerParts(charted, version, testkit.Content{}, []component.Resource{
		{Name: "chart", Type: "helmChart", MediaType: "application/vnd.cncf.helm.chart.content.v1.tar+gzip", Data: chart.Gzip()},
		{Name: "config", Data: []byte("configs:\n- name: charted\n  overrides: colour=violet\n")},
	}, channels...)
}

func mapsAt(version string, count int) testkit.Content {
	return testkit.ConfigMaps(maps, version, count)
}

func notesAt(version string, count int) testkit.Content {
	content := testkit.ConfigMaps(notes, version, count)
	content.AsTar = true
	return content
}

// webAt returns a Deployment under any name, with two images of the build's registry.
func webAt(name, version string) testkit.Content {
	content := testkit.Deployment(name, version)
	for _, object := range content.Objects {
		if object.GetKind() == "Deployment" {
			containers := []any{map[string]any{"name": "manager", "image": "build.example.com/dev/operator:" + version, "env": []any{
				map[string]any{"name": "PROXY_IMAGE", "value": "build.example.com/dev/proxy:2.0.0"},
			}}}
			Expect(unstructured.SetNestedSlice(object.Object, containers, "spec", "template", "spec", "containers")).To(Succeed())
		}
	}
	return content
}

// stateAt returns an operator that is a StatefulSet.
func stateAt(version string) testkit.Content {
	GinkgoHelper()
	content := testkit.Operator(state, version)
	for i, object := range content.Objects {
		if object.GetKind() == "Deployment" {
			content.Objects[i] = testkit.ParseYAML(fmt.Sprintf(`
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: %[1]s, namespace: default}
spec:
  serviceName: %[1]s
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec: {serviceAccountName: %[1]s, containers: [{name: manager, image: "example.invalid/%[1]s:%[2]s"}]}`, state, version))
		}
	}
	content.Manager.Kind = "StatefulSet"
	return content
}

// stuckState returns one whose pods run nowhere.
func stuckState(version string) testkit.Content {
	GinkgoHelper()
	content := stateAt(version)
	for _, object := range content.Objects {
		if object.GetKind() == "StatefulSet" {
			Expect(unstructured.SetNestedField(object.Object, "golden", "spec", "template", "spec", "nodeSelector", "disk")).To(Succeed())
		}
	}
	return content
}

// meshAt returns an operator whose custom resources belong to no namespace.
func meshAt(version string) testkit.Content {
	GinkgoHelper()
	content := testkit.Operator(mesh, version)
	Expect(unstructured.SetNestedField(content.Objects[0].Object, "Cluster", "spec", "scope")).To(Succeed())
	content.DefaultCR.SetNamespace("")
	return content
}

// scalerAt returns a later version, which serves and stores another version of its API beside the old one.
func scalerAt(version string) testkit.Content {
	GinkgoHelper()
	content := testkit.Operator(scaler, version)
	versions, _, err := unstructured.NestedSlice(content.Objects[0].Object, "spec", "versions")
	Expect(err).NotTo(HaveOccurred())
	old, ok := versions[0].(map[string]any)
	Expect(ok).To(BeTrue())
	added := (&unstructured.Unstructured{Object: old}).DeepCopy().Object
	old["storage"], added["name"] = false, "v2"
	Expect(unstructured.SetNestedSlice(content.Objects[0].Object, []any{old, added}, "spec", "versions")).To(Succeed())
	content.DefaultCR.SetAPIVersion(content.DefaultCR.GroupVersionKind().Group + "/v2")
	return content
}

// asking returns a Secret that is to get its data from the hub's Secret of the same name.
func asking() testkit.Content {
	return testkit.Content{Objects: []*unstructured.Unstructured{{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret",
		"metadata": map[string]any{
			"name": credentials, "namespace": metav1.NamespaceDefault, "annotations": map[string]any{v1beta2.AnnotationInjectData: "true"},
		},
		"stringData": map[string]any{"password": "of the content"},
	}}}}
}

// hubCredentials is that Secret of the hub.
func hubCredentials(password string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: v1beta2.DefaultNamespace, Name: credentials, Labels: map[string]string{v1beta2.LabelModuleName: deployer}},
		Data:       map[string][]byte{"password": []byte(password)},
	}
}

// passwordIn is for Eventually: the password in the runtime's Secret.
func passwordIn(m *member) func() (string, error) {
	return func() (string, error) {
		secret, err := testkit.Live(m.runtime, &corev1.Secret{ObjectMeta: inDefault(credentials)})()
		return string(secret.Data["password"]), err
	}
}

// versionIn is for Eventually: the version of a ConfigMap of a module in a runtime; "" while it is not there.
func versionIn(m *member, name string) func() (string, error) {
	return func() (string, error) {
		found, err := testkit.Live(m.runtime, configMap(name))()
		if client.IgnoreNotFound(err) != nil || err != nil {
			return "", client.IgnoreNotFound(err)
		}
		return found.Data["version"], nil
	}
}

// imageIn is for Eventually: the image that a Deployment runs in a runtime.
func imageIn(m *member, name string) func() (string, error) {
	return func() (string, error) {
		live, err := testkit.Live(m.runtime, deployment(name))()
		if err != nil {
			return "", err
		}
		return live.Spec.Template.Spec.Containers[0].Image, nil
	}
}

// mine returns a user's custom resource of a module.
func mine(content testkit.Content, namespace string) *unstructured.Unstructured {
	cr := content.DefaultCR.DeepCopy()
	cr.SetName("mine")
	cr.SetNamespace(namespace)
	return cr
}

// partsOf returns the objects of a module.
func partsOf(content testkit.Content) []client.Object {
	parts := make([]client.Object, 0, len(content.Objects))
	for _, object := range content.Objects {
		parts = append(parts, object.DeepCopy())
	}
	return parts
}

func inDefault(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name}
}

func configMap(name string) *corev1.ConfigMap { return &corev1.ConfigMap{ObjectMeta: inDefault(name)} }

func deployment(name string) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: inDefault(name)}
}

func clusterRole(name string) *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// templateIn and releaseIn are what the catalog of a runtime shows of a module.
func templateIn(module, version string) *v1beta2.ModuleTemplate {
	shown := testkit.ModuleTemplate(module, version)
	shown.Namespace = v1beta2.RuntimeNamespace
	return shown
}

func releaseIn(module string) *v1beta2.ModuleReleaseMeta {
	shown := testkit.ModuleReleaseMeta(module)
	shown.Namespace = v1beta2.RuntimeNamespace
	return shown
}

// definitionIn returns that of one of our kinds.
func definitionIn(plural string) *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: plural + "." + v1beta2.GroupVersion.Group}}
}
