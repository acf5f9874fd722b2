package installer

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

func TestRecorded_TheRecordCarriesWhatTheCallerSays(t *testing.T) {
	f := onServer(t)
	inst := f.installation(configMap("a", "k=1") + deployment("slow"))
	inst.RecordLabels, inst.RecordAnnotations = map[string]string{"example.com/kind": "demo"}, map[string]string{"example.com/version": "1"}
	inst.RecordWhenReady = map[string]string{"example.com/version": "1, ready"}
	if found, err := Recorded(t.Context(), inst); found != nil || err != nil {
		t.Fatalf("nothing is installed, and this is recorded: %v %v", found, err)
	}
	report, err := Install(t.Context(), inst)
	f.must(err)
	recorded := func() *Record {
		t.Helper()
		found, err := Recorded(t.Context(), Installation{Name: inst.Name, Namespace: inst.Namespace, Config: inst.Config})
		f.must(err)
		return found
	}
	if found := recorded(); report.Ready || found.Annotations["example.com/version"] != "1" || found.Labels["example.com/kind"] != "demo" {
		t.Errorf("%+v", found)
	}
	f.runs("slow")
	f.edit(f.get("v1", "Secret", "manifest.demo"), "metadata: {annotations: {example.com/other: stays}}")
	f.installs(inst)
	found := recorded()
	if found.Annotations["example.com/version"] != "1, ready" || found.Annotations["example.com/other"] != "stays" || len(found.Entries) != 2 {
		t.Errorf("%+v", found)
	}
	before := f.counter.Snapshot()
	inst.RecordAnnotations = nil
	f.installs(inst)
	f.equal("writes of the same again", f.writes(before), nil)

	inst.RecordAnnotations = map[string]string{"example.com/version": "going"}
	told := ""
	inst.Progress = func(ObjectReport) { told += recorded().Annotations["example.com/version"] + " " }
	report, err = Uninstall(t.Context(), inst)
	f.must(err)
	if told == "" || told[:6] != "going " || !report.Ready {
		t.Errorf("while it was taken down, the record said %q", told)
	}
}

func TestRecordsOfAListOfSecrets(t *testing.T) {
	f := onServer(t)
	inst := f.installation(configMap("a"))
	inst.RecordLabels = map[string]string{"example.com/kind": f.namespace}
	f.installs(inst)
	var secrets corev1.SecretList
	f.must(f.other.List(t.Context(), &secrets, client.MatchingLabels(inst.RecordLabels)))
	records := Records(secrets.Items)
	if len(records) != 1 || records[0].Err != nil || records[0].Owner != f.namespace+"/demo" || len(records[0].Entries) != 1 {
		t.Fatalf("%+v", records)
	}
	secrets.Items[0].Data[indexKey] = []byte(`{"format":1,"shards":["gone"]}`)
	if records := Records(secrets.Items); records[0].Err == nil || ReasonOf(records[0].Err) != ReasonInventoryUnreadable {
		t.Errorf("a record whose shard is missing is read: %+v", records)
	}
	secrets.Items[0].Type = corev1.SecretTypeOpaque
	if records := Records(secrets.Items); len(records) != 0 {
		t.Errorf("an ordinary Secret is taken for a record: %+v", records)
	}
}

func TestPruneWaitsForWhatReplaces(t *testing.T) {
	f := onServer(t)
	f.installs(f.installation(configMap("a") + configMap("old")))
	inst := f.installation(configMap("a") + deployment("next"))
	inst.PruneWhenReady = true
	report, err := Install(t.Context(), inst)
	f.must(err)
	if report.Ready || report.Reason != ReasonWaitingForInstall || !f.has("old") {
		t.Errorf("%s", pretty(report))
	}
	f.runs("next")
	f.installs(inst)
	if f.has("old") {
		t.Error("what is no longer declared stays")
	}
}

func TestSiblingsShareAndInherit(t *testing.T) {
	f := onServer(t)
	one, two := f.installation(configMap("shared")), f.installation(configMap("shared")+configMap("own"))
	one.Name, two.Name = "one", "two"
	owners := []string{f.namespace + "/one", f.namespace + "/two"}
	for _, inst := range []*Installation{&one, &two} {
		inst.Relation = func(owner string) apply.Relation {
			if slices.Contains(owners, owner) {
				return apply.OwnerSibling
			}
			return apply.OwnerForeign
		}
	}
	f.installs(one)
	report := f.installs(two)
	f.equal("actions", actions(report), []string{"ConfigMap own: Created", "ConfigMap shared: Shared"})
	before := f.counter.Snapshot()
	f.installs(two)
	f.equal("writes of the same again", f.writes(before), nil)
	one.Successor = func(id inventory.ID) string {
		if id.Name == "shared" {
			return owners[1]
		}
		return ""
	}
	one.Wait = time.Minute
	if report, err := Uninstall(t.Context(), one); err != nil || !report.Ready || !f.has("shared") {
		t.Errorf("%v %s", err, pretty(report))
	}
	two.Successor = func(inventory.ID) string { return "" }
	if report, err := Uninstall(t.Context(), two); err != nil || !report.Ready || f.has("shared") {
		t.Errorf("what was handed over did not go with the last one: %v %s", err, pretty(report))
	}
}
