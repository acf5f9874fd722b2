package setup

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/modulecontent"
)

// TestOperatorLogin_HowFarTheOperatorsLoginGoes covers the finding that a Manifest of any namespace could read everything with the login.
func TestOperatorLogin_HowFarTheOperatorsLoginGoes(t *testing.T) {
	const layers = "registry.example.com/sub/component-descriptors/example.com/module/notes"
	everything, nothing := modulecontent.OperatorLogin{Any: true}, modulecontent.OperatorLogin{}
	ofKyma := func(name string, uid types.UID) func(*v1beta2.Manifest) {
		yes := true
		return func(m *v1beta2.Manifest) {
			m.OwnerReferences = []metav1.OwnerReference{{
				APIVersion: v1beta2.GroupVersion.String(), Kind: "Kyma", Name: name, UID: uid, Controller: &yes,
			}}
		}
	}
	named := func(name string) func(*v1beta2.Manifest) {
		return func(m *v1beta2.Manifest) {
			ofKyma("there", "1")(m)
			m.Annotations = map[string]string{v1beta2.AnnotationOCMComponentName: name}
		}
	}
	alone := func(*v1beta2.Manifest) {}
	for title, test := range map[string]struct {
		namespace string
		local     []string
		change    func(*v1beta2.Manifest)
		want      modulecontent.OperatorLogin
	}{
		"the operator's own namespace":                               {"operators", nil, alone, everything},
		"its own namespace, though another may install into the hub": {"operators", []string{"platform"}, alone, everything},
		"the namespace that it watches":                              {"kymas", nil, alone, everything},
		"a namespace that may install into the hub":                  {"platform", []string{"platform"}, alone, everything},
		"every namespace may install into the hub":                   {"tenant", []string{"*"}, alone, everything},
		"another one":                      {"tenant", nil, alone, nothing},
		"a Kyma in another namespace":      {"tenant", nil, ofKyma("there", "1"), modulecontent.OperatorLogin{Repository: layers}},
		"a Kyma that is gone":              {"tenant", nil, ofKyma("gone", "1"), nothing},
		"a Kyma that was recreated":        {"tenant", nil, ofKyma("there", "2"), nothing},
		"a Kyma of another namespace":      {"elsewhere", nil, ofKyma("there", "1"), nothing},
		"a Kyma, and an invalid component": {"tenant", nil, named("../../../private"), nothing},
		"a Kyma, and no component":         {"tenant", nil, named(""), nothing},
	} {
		t.Run(title, func(t *testing.T) {
			scheme := runtime.NewScheme()
			if err := v1beta2.AddToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			kyma := &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: "there", UID: "1"}}
			guard := &loginGuard{
				config: &Config{OperatorNamespace: "operators", Namespace: "kymas", LocalNamespaces: test.local, RegistrySubPath: "sub"},
				kymas:  fake.NewClientBuilder().WithScheme(scheme).WithObjects(kyma).Build(),
				host:   func() (string, bool) { return "registry.example.com", false },
			}
			m := &v1beta2.Manifest{ObjectMeta: metav1.ObjectMeta{
				Namespace: test.namespace, Name: "m", Annotations: map[string]string{v1beta2.AnnotationOCMComponentName: "example.com/module/notes"},
			}}
			m.Spec.Version = "1.0.0"
			test.change(m)
			if got, err := guard.of(t.Context(), m); err != nil || got != test.want {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
	everywhere := &Config{OperatorNamespace: "operators"} // --kyma-namespace=*
	if everywhere.trustsAuthors("tenant") {
		t.Error("every namespace is trusted where the operator looks after all of them")
	}
}
