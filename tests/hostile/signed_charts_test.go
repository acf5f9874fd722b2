package hostile

import (
	"context"
	"crypto/rsa"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// sealChart publishes a chart with its config, signs both, and returns the Manifest that a Kyma would get for it.
func sealChart(key *rsa.PrivateKey) *sealed {
	GinkgoHelper()
	module := testkit.Unique("sealed")
	chart := testkit.Chart(module, "1.0.0", testkit.Files{
		"values.yaml": "text: default\n",
		"templates/map.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name | quote }}, namespace: default}\n" +
			"data: {text: {{ .Values.text | quote }}}\n",
	})
	config := fmt.Sprintf("configs:\n- name: %s\n  overrides: \"text=signed\"\n", module)
	env.Publish(testkit.ComponentName(module), "1.0.0",
		component.Resource{Name: "chart", Type: "helmChart", MediaType: component.MediaTypeTar, Data: chart.Tar()},
		component.Resource{Name: "config", MediaType: component.MediaTypeYAML, Data: []byte(config)})
	registry := component.Registry{Host: env.Registry.Host, PlainHTTP: true}
	_, err := component.Sign(context.Background(), registry, testkit.ComponentName(module), "1.0.0", &component.Signer{Key: key})
	Expect(err).NotTo(HaveOccurred())
	layer := v1beta2.ImageSpec{
		Repo: "http://" + env.Registry.Host + "/component-descriptors", Name: testkit.ComponentName(module),
		Ref: digestOf(string(chart.Tar())), Type: v1beta2.RefTypeHelmChart,
	}
	values := layer
	values.Ref, values.Type = digestOf(config), v1beta2.RefTypeOCI
	return &sealed{module: module, manifest: testkit.Manifest(module, layer, func(m *v1beta2.Manifest) {
		testkit.Remote(m.Name)(m)
		m.Labels[v1beta2.LabelModuleName] = module
		m.Annotations = map[string]string{v1beta2.AnnotationOCMComponentName: testkit.ComponentName(module)}
		m.Spec.Install.Name, m.Spec.Config = "raw-manifest", &values
	})}
}

// chartRows covers every input of a chart's rendering, changed by the author of a Manifest. TestEveryFieldHasARow compares them with
// render.Input.
var chartRows = map[string]fieldRow[*sealed]{
	"Name": attacks("the name "+evil, func(s *sealed) { s.manifest.Labels[v1beta2.LabelModuleName] = evil + "-" + s.module }),
	"Namespace": attacks("spec.targetNamespace: "+notCovered,
		func(s *sealed) { s.manifest.Spec.TargetNamespace = "kube-system" }),
	"Path": attacks("", func(s *sealed) { source("path", s.module)(s) }),
	"Values": attacks(notCovered,
		func(s *sealed) { s.manifest.Spec.Values = &runtime.RawExtension{Raw: []byte(`{"text":"evil"}`)} },
		func(s *sealed) { s.manifest.Spec.Config = nil },
		func(s *sealed) {
			layer := evilLayer(s)
			s.manifest.Spec.Config = &layer
		}),
	"KubeVersion":            harmless[*sealed]("is what the cluster says, and the templates that ask are signed"),
	"APIVersions":            harmless[*sealed]("are what the cluster serves, and the templates that ask are signed"),
	"Hooks":                  harmless[*sealed]("is what this manager does for each chart, and the hooks are templates of the signed chart"),
	"Generated.Found":        harmless[*sealed]("is nothing where a signature is enforced, whatever is kept (TestSignedContentFindsNothing)"),
	"Generated.Revision":     harmless[*sealed]("counts releases, and the templates that ask are signed"),
	"Generated.Installation": harmless[*sealed]("tells renders apart, and goes into none"),
	"Generated.Values":       harmless[*sealed]("are kept in the runtime, and a value that its function would not give is refused (package generated)"),
	"Explore":                harmless[*sealed]("has the same chart rendered more often, to tell what it may do; none of that is installed"),
}

var _ = Describe("Under enforce a signed chart", Ordered, func() {
	var key *rsa.PrivateKey

	BeforeAll(func() {
		key = newKey()
		writeSignatures(key)
		DeferCleanup(func() { writeSignatures(nil) })
	})

	It("is rendered with nothing that is not signed", func() {
		var all []*struckSeal
		for field, r := range chartRows {
			for _, change := range r.attacks {
				s := sealChart(key)
				change(s)
				s.install()
				all = append(all, &struckSeal{s, field, r.says})
			}
		}
		expectRefused(all)
	})

	It("is installed as it was signed", func() {
		s := sealChart(key)
		s.install()
		Eventually(testkit.Live(env.Hub, s.manifest)).Should(testkit.HaveState(v1beta2.StateReady))
		Expect(mapOf(s.module)()).To(HaveKeyWithValue("text", "signed"))
	})
})
