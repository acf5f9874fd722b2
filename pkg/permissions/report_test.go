package permissions_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/pkg/permissions"
)

// TestReport_StaysTheSameWhenItIsStored: written as JSON and read again, a report compares as before.
func TestReport_StaysTheSameWhenItIsStored(t *testing.T) {
	for _, folder := range []string{"11-csi-driver-on-every-node", "18-gatekeeper-fails-closed", "24-definition-with-a-new-version", "43-policy-engine-writes-rights"} {
		report := permissions.Analyse(load(t, "testdata/pairs/"+folder, "after"))
		data, err := json.Marshal(report)
		if err != nil {
			t.Fatal(err)
		}
		var restored permissions.Report
		if err := json.Unmarshal(data, &restored); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(report, restored); diff != "" {
			t.Errorf("%s: %s", folder, diff)
		}
	}
}

func TestGravest_IsBoundedAndBeginsWithTheGravest(t *testing.T) {
	before := permissions.Analyse(load(t, "testdata/pairs/43-policy-engine-writes-rights", "before"))
	after := permissions.Analyse(load(t, "testdata/pairs/43-policy-engine-writes-rights", "after"))
	difference := permissions.Compare(before, after)
	want := []string{
		"May give any subject the rights of any ClusterRole of the cluster (bind).",
		"May give itself any right, by changing any ClusterRole of the cluster (escalate).",
	}
	if diff := cmp.Diff(want, difference.Gravest(2)); diff != "" {
		t.Error(diff)
	}
	if got := difference.Gravest(-1); got != nil {
		t.Errorf("fewer than none: %v", got)
	}
	rightsAdded, rightsRemoved, definitions, webhooks, images := difference.Counts()
	if got := [5]int{rightsAdded, rightsRemoved, definitions, webhooks, images}; got != [5]int{14, 0, 0, 0, 0} {
		t.Errorf("counts %v", got)
	}
	if !difference.NewRights() || permissions.Compare(after, before).NewRights() {
		t.Error("the version asks for more, and the way back does not")
	}
}

func TestWildcards_FindsRulesForEverything(t *testing.T) {
	report := permissions.Analyse(load(t, "testdata/pairs/05-wildcard-replaced-by-lists", "before"))
	if found := permissions.Wildcards(report); len(found) != 1 || found[0].Right.Resource != "*" {
		t.Errorf("found %v", found)
	}
	report = permissions.Analyse(load(t, "testdata/pairs/05-wildcard-replaced-by-lists", "after"))
	if found := permissions.Wildcards(report); len(found) != 0 {
		t.Errorf("found %v where rules list what they need", found)
	}
}

func BenchmarkAnalyse(b *testing.B) {
	objects := load(b, "testdata/pairs/07-cert-manager-cainjector", "after")
	b.ReportAllocs()
	for b.Loop() {
		permissions.Analyse(objects)
	}
}

func BenchmarkCompare(b *testing.B) {
	before := permissions.Analyse(load(b, "testdata/pairs/07-cert-manager-cainjector", "before"))
	after := permissions.Analyse(load(b, "testdata/pairs/07-cert-manager-cainjector", "after"))
	b.ReportAllocs()
	for b.Loop() {
		permissions.Compare(before, after)
	}
}
