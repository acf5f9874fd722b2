package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

const pull = "imagePullSecrets: [{name: pull}]"

func TestPullSecretGoesToEverythingThatRunsPods(t *testing.T) {
	elsewhere := &inventory.ID{Group: "apps", Kind: "Deployment", Namespace: "b", Name: "other"}
	for name, test := range everyWorkload {
		t.Run(name, func(t *testing.T) {
			object := workload(t, test.apiVersion, test.kind, test.at, "containers: [{name: c}]")
			before := object.DeepCopy()
			got, err := PullSecret([]*unstructured.Unstructured{object}, "pull", elsewhere)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(workload(t, test.apiVersion, test.kind, test.at, "containers: [{name: c}], "+pull), got[0]); diff != "" {
				t.Errorf("object (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, object); diff != "" {
				t.Errorf("what was given is changed (-before +after):\n%s", diff)
			}
		})
	}
}

func TestPullSecretTellsTheOperator(t *testing.T) {
	const env = "env: [{name: SKR_IMG_PULL_SECRET, value: pull}]"
	self := &inventory.ID{Group: "apps", Kind: "Deployment", Namespace: "b", Name: "a"}
	for name, test := range map[string]struct {
		manager    *inventory.ID
		pods, want string
	}{
		"in all its containers": {self, "containers: [{name: c}, {name: d}]", "containers: [{name: c, " + env + "}, {name: d, " + env + "}], " + pull},
		"and not in containers that run before it": {
			self, "initContainers: [{name: i}], containers: [{name: c}]", "initContainers: [{name: i}], containers: [{name: c, " + env + "}], " + pull,
		},
		"every Deployment when no manager is named":  {nil, "containers: [{name: c}]", "containers: [{name: c, " + env + "}], " + pull},
		"but no other object than the manager":       {&inventory.ID{Kind: "Pod", Name: "x"}, "containers: [{name: c}]", "containers: [{name: c}], " + pull},
		"beside the variables that it has":           {self, "containers: [{env: [{name: A}]}]", "containers: [{env: [{name: A}, {name: SKR_IMG_PULL_SECRET, value: pull}]}], " + pull},
		"once":                                       {self, "containers: [{" + env + "}], " + pull, "containers: [{" + env + "}], " + pull},
		"beside other Secrets to pull with":          {self, "containers: [], imagePullSecrets: [{name: own}]", "containers: [], imagePullSecrets: [{name: own}, {name: pull}]"},
		"and leaves a malformed list to the cluster": {self, "containers: [{env: 3}], imagePullSecrets: x", "containers: [{env: 3}], imagePullSecrets: x"},
		"and not where nothing is run":               {self, "containers: null", "containers: null, " + pull},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := PullSecret([]*unstructured.Unstructured{deploymentOf(t, test.pods)}, "pull", test.manager)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(deploymentOf(t, test.want), got[0]); diff != "" {
				t.Errorf("object (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPullSecretRefusesAnotherValueOfTheVariable(t *testing.T) {
	for name, variable := range map[string]string{
		"a value":           "{name: SKR_IMG_PULL_SECRET, value: other}",
		"a value elsewhere": "{name: SKR_IMG_PULL_SECRET, valueFrom: {fieldRef: {fieldPath: metadata.name}}}",
		"no value":          "{name: SKR_IMG_PULL_SECRET}",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := PullSecret([]*unstructured.Unstructured{deploymentOf(t, "containers: [{name: c, env: ["+variable+"]}]")}, "pull", nil)
			if content.ReasonOf(err) != content.ReasonContentInvalid {
				t.Fatalf("error %v", err)
			}
			for _, text := range []string{"Deployment.apps b/a", "container c", "SKR_IMG_PULL_SECRET", `"pull"`} {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("error %q does not say %q", err, text)
				}
			}
		})
	}
}

func TestPullSecretIsOptional(t *testing.T) {
	objects := []*unstructured.Unstructured{deploymentOf(t, "containers: [{name: c}]")}
	got, err := PullSecret(objects, "", nil)
	if err != nil || got[0] != objects[0] {
		t.Errorf("error %v, objects %v", err, got)
	}
}
