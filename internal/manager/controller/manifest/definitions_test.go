package manifest

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/kyma-project/lifecycle-manager/pkg/crdsafety"
)

func TestRetryFindings_DependsOnTheRule(t *testing.T) {
	object, field := crdsafety.Finding{Rule: crdsafety.ObjectInvalid}, crdsafety.Finding{Rule: crdsafety.FieldRemoved}
	for name, test := range map[string]struct {
		left []crdsafety.Finding
		want time.Duration
	}{
		"soon, when only objects stand in the way that a user may mend": {[]crdsafety.Finding{object, object}, retryObjects},
		"late, when the content has to change":                          {[]crdsafety.Finding{field}, retryIncompatible},
		"late, when both have to":                                       {[]crdsafety.Finding{object, field}, retryIncompatible},
	} {
		t.Run(name, func(t *testing.T) {
			if got := retryFindings(test.left); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestCRDRules_MatchTheRulesOfCRDSafety(t *testing.T) {
	schema, err := os.ReadFile("../../../../config/crd/bases/operator.kyma-project.io_manifests.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(schema), "allowCRDChanges:")
	values, _, ended := strings.Cut(after, "maxItems")
	if !found || !ended {
		t.Fatal("the schema has no allowCRDChanges")
	}
	for _, rule := range crdsafety.Rules() {
		if !strings.Contains(values, "- "+rule+"\n") {
			t.Errorf("the API server would refuse the rule %s: add it to CRDRule in api/v1beta2", rule)
		}
	}
	if got, want := strings.Count(values, "- "), len(crdsafety.Rules()); got != want {
		t.Errorf("the API accepts %d rules and there are %d", got, want)
	}
}
