package inventory_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

func TestIDOf(t *testing.T) {
	for _, test := range []struct {
		name, apiVersion, kind, namespace string
		want                              inventory.ID
		text                              string
	}{
		{"an object of the core group has an empty group", "v1", "ConfigMap", "kyma-system",
			inventory.ID{Kind: "ConfigMap", Namespace: "kyma-system", Name: "foo"}, "ConfigMap kyma-system/foo"},
		{"a named group is kept and its version dropped", "apps/v1", "Deployment", "kyma-system",
			inventory.ID{Group: "apps", Kind: "Deployment", Namespace: "kyma-system", Name: "foo"}, "Deployment.apps kyma-system/foo"},
		{"a cluster-scoped object has no namespace", "v1", "Namespace", "",
			inventory.ID{Kind: "Namespace", Name: "foo"}, "Namespace foo"},
		{"a group with dots is one group", "operator.kyma-project.io/v1alpha1", "Sample", "",
			inventory.ID{Group: "operator.kyma-project.io", Kind: "Sample", Name: "foo"}, "Sample.operator.kyma-project.io foo"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := inventory.IDOf(object(test.apiVersion, test.kind, test.namespace, "foo", ""))
			if got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
			if got.String() != test.text {
				t.Errorf("got %q, want %q", got, test.text)
			}
			if want := (schema.GroupKind{Group: test.want.Group, Kind: test.kind}); got.GroupKind() != want {
				t.Errorf("got the kind %v, want %v", got.GroupKind(), want)
			}
		})
	}
}

func TestCompareOrdersByGroupKindNamespaceName(t *testing.T) {
	ascending := []inventory.ID{
		{Kind: "ConfigMap", Namespace: "a", Name: "z"},
		{Kind: "ConfigMap", Namespace: "b", Name: "a"},
		{Kind: "ConfigMap", Namespace: "b", Name: "b"},
		{Kind: "Secret", Namespace: "a", Name: "a"},
		{Group: "apps", Kind: "Deployment", Namespace: "a", Name: "a"},
	}
	for a := range ascending {
		for b := range ascending {
			if got := ascending[a].Compare(ascending[b]); (got < 0) != (a < b) || (got == 0) != (a == b) {
				t.Errorf("%v against %v: got %d", ascending[a], ascending[b], got)
			}
		}
	}
}
