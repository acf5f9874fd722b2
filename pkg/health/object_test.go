package health_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/kyma-project/lifecycle-manager/pkg/health"
)

// object reads YAML with numbers as a cluster's client decodes them.
func object(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return u
}

// healthCase is one object and its verdict. The body follows apiVersion and kind.
type healthCase struct {
	name, body string
	status     health.Status
	message    string
}

func runHealth(t *testing.T, apiVersion, kind string, cases []healthCase) {
	t.Helper()
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			u := object(t, "apiVersion: "+apiVersion+"\nkind: "+kind+"\n"+test.body)
			before := u.DeepCopy()
			if diff := cmp.Diff(health.Result{Status: test.status, Message: test.message}, health.Of(u)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(before, u); diff != "" {
				t.Errorf("the object was changed: %s", diff)
			}
		})
	}
}
