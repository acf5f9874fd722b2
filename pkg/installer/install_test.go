package installer

import (
	"testing"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/health"
)

func TestInstallCheckUpgradeAndUninstall(t *testing.T) {
	f := onServer(t)
	inst := f.installation(configMap("a", "k=1") + configMap("b", "k=1"))
	report, err := Check(t.Context(), inst)
	if err != nil || report.Ready || report.Reason != ReasonNotInstalled {
		t.Errorf("Check before: %v\n%s", err, pretty(report))
	}
	report = f.installs(inst)
	f.equal("first", actions(report), []string{"ConfigMap a: Created", "ConfigMap b: Created"})
	if report.State != StateReady || report.Reason != ReasonInstalled || report.Objects[0].Health != health.Ready || report.Objects[0].Version != "v1" {
		t.Error(pretty(report))
	}
	if len(report.Resolved) != 1 || report.Resolved[0].Source != "source-0" || report.Resolved[0].Digest == "" {
		t.Error(pretty(report.Resolved))
	}
	before := f.counter.Snapshot()
	f.equal("second", actions(f.installs(inst)), []string{"ConfigMap a: Unchanged", "ConfigMap b: Unchanged"})
	if report, err = Check(t.Context(), inst); err != nil || !report.Ready {
		t.Errorf("Check after: %v\n%s", err, pretty(report))
	}
	f.equal("writes of a second Install and a Check", f.writes(before), nil)

	upgrade := f.installation(configMap("a", "k=2") + configMap("c"))
	if report, err = Check(t.Context(), upgrade); err != nil || report.Ready || report.Reason != ReasonOutdated || len(report.Objects) != 3 {
		t.Errorf("Check of an upgrade: %v\n%s", err, pretty(report))
	}
	report = f.installs(upgrade)
	f.equal("upgrade", actions(report), []string{"ConfigMap a: Updated", "ConfigMap c: Created", "ConfigMap b: Gone"})
	if f.has("b") || f.get("v1", "ConfigMap", "a").Object["data"].(map[string]any)["k"] != "2" {
		t.Error("the upgrade left something behind")
	}
	f.equal("records", f.records(), []string{"manifest.demo"})

	report, err = Uninstall(t.Context(), Installation{Name: "demo", Namespace: f.namespace, Config: f.config})
	if err != nil || !report.Ready || report.State != StateGone || len(report.Objects) != 2 {
		t.Errorf("Uninstall: %v\n%s", err, pretty(report))
	}
	if f.has("a") || f.has("c") || len(f.records()) > 0 {
		t.Error("something is left")
	}
	before = f.counter.Snapshot()
	if report, err = Uninstall(t.Context(), inst); err != nil || !report.Ready {
		t.Errorf("Uninstall of nothing: %v\n%s", err, pretty(report))
	}
	f.equal("writes of Uninstall of nothing", f.writes(before), nil)
}

func TestInstallHealsWhatOthersChanged(t *testing.T) {
	f := onServer(t)
	inst := f.installation(configMap("changed", "k=1") + configMap("deleted"))
	f.installs(inst)
	f.edit(f.get("v1", "ConfigMap", "changed"), "data: {k: theirs}")
	f.remove(f.get("v1", "ConfigMap", "deleted"))
	report, err := Check(t.Context(), inst)
	if err != nil || report.Ready || report.Reason != ReasonOutdated ||
		report.Objects[0].Message != "was changed by another client" || report.Objects[1].Message != "was deleted" {
		t.Errorf("Check: %v\n%s", err, pretty(report))
	}
	f.equal("healed", actions(f.installs(inst)), []string{"ConfigMap changed: Updated", "ConfigMap deleted: Created"})
	if value := f.get("v1", "ConfigMap", "changed").Object["data"].(map[string]any)["k"]; value != "1" || !f.has("deleted") {
		t.Errorf("k is %v", value)
	}
}

func TestInstallTellsWhatIsNotReady(t *testing.T) {
	f := onServer(t)
	inst := f.installation(deployment("app"))
	report, err := Install(t.Context(), inst)
	if err != nil || report.Ready || report.State != StateProcessing || report.Reason != ReasonNotReady || report.Objects[0].Health != health.InProgress {
		t.Errorf("before: %v\n%s", err, pretty(report))
	}
	f.runs("app")
	before := f.counter.Snapshot()
	f.installs(inst)
	f.equal("writes once it runs", f.writes(before), nil)
}

func TestSourcesWaitForEachOther(t *testing.T) {
	f := onServer(t)
	inst := f.installation(deployment("first"), configMap("second"))
	report, err := Install(t.Context(), inst)
	if err != nil || report.Reason != ReasonWaitingForInstall || f.has("second") {
		t.Errorf("%v\n%s", err, pretty(report))
	}
	if last := report.Objects[1]; last.Action != "" || last.Message != "is not yet applied" {
		t.Error(pretty(report))
	}
	f.runs("first")
	f.installs(inst)
	if !f.has("second") {
		t.Error("the second source is missing")
	}
}

func TestInstall_ALaterSourceIsNotAppliedWhenAnEarlierOneFails(t *testing.T) {
	f := onServer(t)
	inst := f.installation(configMap("good")+"---\napiVersion: v1\nkind: Service\nmetadata: {name: bad}\nspec: {ports: [{port: 99999}]}\n",
		configMap("later"))
	report, err := Install(t.Context(), inst)
	f.reason(report, err, string(apply.ClassRefused))
	if !f.has("good") || f.has("later") {
		t.Errorf("good %t, later %t", f.has("good"), f.has("later"))
	}
	f.equal("actions", actions(report), []string{"ConfigMap good: Created", "Service bad: Refused", "ConfigMap later: "})
}

func TestInstall_NothingIsPrunedUntilEverythingIsApplied(t *testing.T) {
	f := onServer(t)
	f.installs(f.installation(configMap("old")))
	report, err := Install(t.Context(), f.installation("apiVersion: v1\nkind: Service\nmetadata: {name: bad}\nspec: {ports: [{port: 99999}]}\n"))
	f.reason(report, err, string(apply.ClassRefused))
	if !f.has("old") {
		t.Error("pruned ahead of a failure")
	}
	f.equal("repaired", actions(f.installs(f.installation(configMap("new")))), []string{"ConfigMap new: Created", "ConfigMap old: Gone", "Service bad: Gone"})
}

func TestEmptyContentRemovesNothing(t *testing.T) {
	f := onServer(t)
	f.installs(f.installation(configMap("a")))
	report, err := Install(t.Context(), f.installation("# nothing\n"))
	f.reason(report, err, "ContentInvalid")
	if !f.has("a") {
		t.Error("everything was removed")
	}
}
