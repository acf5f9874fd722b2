package installer

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/render/helm"
)

// chart returns an installation of a chart with these templates.
func (f *fixture) chart(templates ...string) Installation {
	inst := f.installation()
	inst.Sources = []Source{chartNamed("chart", templates...)}
	return inst
}

func chartNamed(name string, templates ...string) Source {
	files := fstest.MapFS{"Chart.yaml": {Data: []byte("apiVersion: v2\nname: demo\nversion: 1.0.0\n")}}
	for i, text := range templates {
		files[fmt.Sprintf("templates/%d.yaml", i)] = &fstest.MapFile{Data: []byte(text)}
	}
	return Source{Name: name, Content: Files(files, "."), Renderer: helm.Renderer{}}
}

// jobAt is a hook that runs to completion. More are further annotations.
func jobAt(name, events string, more ...string) string {
	return `---
apiVersion: batch/v1
kind: Job
metadata: {name: ` + name + `, annotations: {` + strings.Join(append(more, `helm.sh/hook: "`+events+`"`), ", ") + `}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: "example.com/main:1"}]}}}
`
}

// ends plays the controller of Jobs, which an API server alone does not have: how is Complete or Failed.
func (f *fixture) ends(name, how string) {
	f.Helper()
	live := f.get("batch/v1", "Job", name)
	now := time.Now().UTC().Format(time.RFC3339)
	condition := func(kind string) any {
		return map[string]any{"type": kind, "status": "True", "lastTransitionTime": now}
	}
	status := map[string]any{"startTime": now}
	if how == "Complete" {
		status["completionTime"], status["succeeded"] = now, int64(1)
		status["conditions"] = []any{condition("SuccessCriteriaMet"), condition(how)}
	} else {
		status["failed"] = int64(1)
		status["conditions"] = []any{condition("FailureTarget"), condition(how)}
	}
	live.Object["status"] = status
	f.must(f.other.Status().Update(f.Context(), live))
}

// expect checks which Jobs and ConfigMaps exist, by their names.
func (f *fixture) expect(names ...string) {
	f.Helper()
	var found []string
	for _, kind := range []string{"v1 ConfigMap", "batch/v1 Job"} {
		version, kind, _ := strings.Cut(kind, " ")
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion(version)
		list.SetKind(kind + "List")
		f.must(f.other.List(f.Context(), list, client.InNamespace(f.namespace)))
		for i := range list.Items {
			if name := list.Items[i].GetName(); name != "kube-root-ca.crt" {
				found = append(found, name)
			}
		}
	}
	f.equal("exists", found, names)
}

// waitsFor expects that a call waits for a hook.
func (f *fixture) waitsFor(text string, call func() (Report, error)) {
	f.Helper()
	report, err := call()
	if err != nil || report.Ready || report.Reason != ReasonWaitingForHook || !strings.Contains(report.Message, text) {
		f.Fatalf("%v\n%s\nwant that it waits for %q", err, pretty(report), text)
	}
}

func (f *fixture) installing(inst Installation) func() (Report, error) {
	return func() (Report, error) { return Install(f.Context(), inst) }
}

func (f *fixture) uninstalling() func() (Report, error) {
	return func() (Report, error) {
		return Uninstall(f.Context(), Installation{Name: "demo", Namespace: f.namespace, Config: f.config})
	}
}

var aroundPlain = jobAt("before", "pre-install,pre-upgrade") + jobAt("after", "post-install") + jobAt("leaves", "pre-delete") +
	jobAt("left", "post-delete")

func TestHooks_RunAroundAnInstallationAndAnUpgrade(t *testing.T) {
	f := onServer(t)
	inst := f.chart(configMap("plain", "k=1"), aroundPlain)
	f.waitsFor("hook pre-install of chart: Job.batch "+f.namespace+"/before: it was created", f.installing(inst))
	f.expect("before")
	before := f.counter.Snapshot()
	f.waitsFor("hook pre-install", f.installing(inst))
	f.equal("writes while it runs", f.writes(before), nil)
	f.ends("before", "Complete")
	f.waitsFor("hook post-install of chart", f.installing(inst))
	f.expect("plain", "after", "before")
	if report, err := Check(t.Context(), inst); err != nil || report.Reason != ReasonOutdated || !strings.Contains(report.Message, "post-install") {
		t.Errorf("Check: %v\n%s", err, pretty(report))
	}
	f.ends("after", "Complete")
	f.installs(inst)
	before = f.counter.Snapshot()
	f.installs(inst)
	if report, err := Check(t.Context(), inst); err != nil || !report.Ready {
		t.Errorf("Check: %v\n%s", err, pretty(report))
	}
	f.equal("writes of the same again", f.writes(before), nil)

	upgrade := f.chart(configMap("plain", "k=2"), aroundPlain)
	f.waitsFor("hook pre-upgrade", f.installing(upgrade))
	f.ends("before", "Failed")
	f.edit(f.get("v1", "ConfigMap", "plain"), "data: {k: theirs}")
	report, err := Install(t.Context(), upgrade)
	f.reason(report, err, ReasonChartHookFailed)
	if value := f.get("v1", "ConfigMap", "plain").Object["data"].(map[string]any)["k"]; value != "theirs" {
		t.Errorf("k is %v: content was changed before its hook has completed", value)
	}
	f.remove(f.get("batch/v1", "Job", "before"))
	f.waitsFor("it was created", f.installing(upgrade))
	f.ends("before", "Complete")
	f.installs(upgrade)
	if value := f.get("v1", "ConfigMap", "plain").Object["data"].(map[string]any)["k"]; value != "2" {
		t.Errorf("k is %v", value)
	}
}

func TestHooks_OfARemovalNeedNoSource(t *testing.T) {
	f := onServer(t)
	inst := f.completing(f.chart(configMap("plain"), aroundPlain))
	f.installs(inst)
	f.waitsFor("hook pre-delete of chart: Job.batch "+f.namespace+"/leaves", f.uninstalling())
	f.expect("plain", "after", "before", "leaves")
	f.ends("leaves", "Complete")
	f.waitsFor("hook post-delete of chart: Job.batch "+f.namespace+"/left", f.uninstalling())
	f.expect("left")
	f.ends("left", "Complete")
	if report, err := f.uninstalling()(); err != nil || !report.Ready {
		t.Errorf("%v\n%s", err, pretty(report))
	}
	f.expect()
	f.equal("records", f.records(), nil)
}

// completing returns an Installation that waits, of which each Job completes as soon as it is created.
func (f *fixture) completing(inst Installation) Installation {
	inst.Wait = time.Minute
	inst.Progress = func(report ObjectReport) {
		if report.Kind == "Job" && report.Action == apply.Created {
			f.ends(report.Name, "Complete")
		}
	}
	return inst
}

func TestHooks_RunInOneCallThatWaits(t *testing.T) {
	f := onServer(t)
	inst := f.completing(f.chart(configMap("plain"), aroundPlain))
	f.equal("actions", actions(f.installs(inst)), []string{"ConfigMap plain: Created", "Job after: Created", "Job before: Created"})
	report, err := Uninstall(t.Context(), inst)
	if err != nil || !report.Ready {
		t.Errorf("%v\n%s", err, pretty(report))
	}
	f.expect()
}

func TestHooks_SourceWaitsForThoseOfTheOneBefore(t *testing.T) {
	f := onServer(t)
	inst := f.installation()
	inst.Sources = []Source{
		chartNamed("first", configMap("one"), jobAt("after", "post-install")),
		chartNamed("second", configMap("two"), jobAt("before", "pre-install")),
	}
	f.waitsFor("hook post-install of first", f.installing(inst))
	f.expect("one", "after")
	f.ends("after", "Complete")
	f.waitsFor("hook pre-install of second", f.installing(inst))
	f.ends("before", "Complete")
	f.installs(inst)
	f.expect("one", "two", "after", "before")
}

func TestHooks_PoliciesAndWhatIsNoProgram(t *testing.T) {
	f := onServer(t)
	settings := strings.Replace(configMap("settings", "k=1"), "{name: settings}", `{name: settings, annotations: {helm.sh/hook: pre-install}}`, 1)
	inst := f.completing(f.chart(configMap("plain"), settings, jobAt("drops", "pre-install", "helm.sh/hook-delete-policy: hook-succeeded")))
	f.installs(inst)
	f.expect("plain", "settings")
	f.edit(f.get("v1", "ConfigMap", "settings"), "data: {k: theirs}")
	before := f.counter.Snapshot()
	f.installs(inst)
	f.equal("writes for a hook that was changed between its events", f.writes(before), nil)
	f.installs(f.completing(f.chart(configMap("plain"))))
	f.expect("plain")
}

func TestHooks_AChartThatGetsItsFirstOnesIsUpgraded(t *testing.T) {
	f := onServer(t)
	f.installs(f.chart(configMap("plain", "k=1")))
	f.waitsFor("hook pre-upgrade", f.installing(f.chart(configMap("plain", "k=2"), aroundPlain)))
}

func TestHooks_ARemovalThatWasGivenUpIsInstalledAnew(t *testing.T) {
	f := onServer(t)
	inst := f.completing(f.chart(configMap("plain"), aroundPlain))
	f.installs(inst)
	f.waitsFor("hook pre-delete", f.uninstalling())
	f.equal("actions", actions(f.installs(inst)), []string{
		"ConfigMap plain: Unchanged", "Job after: Created", "Job before: Created",
	})
}

func TestHooks_ARemovalGoesWithoutThem(t *testing.T) {
	f := onServer(t)
	f.installs(f.chart(configMap("plain"), jobAt("leaves", "pre-delete")))
	f.waitsFor("hook pre-delete", f.uninstalling())
	f.ends("leaves", "Failed")
	report, err := f.uninstalling()()
	f.reason(report, err, ReasonChartHookFailed)
	way := fmt.Sprintf("annotate the Secret %s/manifest.demo with %s=true", f.namespace, AnnotationSkipDeleteHooks)
	if !strings.Contains(fmt.Sprint(err), way) {
		t.Errorf("%v, want the way out: %s", err, way)
	}
	f.edit(f.get("v1", "Secret", "manifest.demo"), `metadata: {annotations: {`+AnnotationSkipDeleteHooks+`: "true"}}`)
	if report, err := f.uninstalling()(); err != nil || !report.Ready {
		t.Errorf("%v\n%s", err, pretty(report))
	}
	f.expect()
}

func TestHooks_OfAnotherOwnerStay(t *testing.T) {
	f := onServer(t)
	theirs := object(jobAt("before", "none"))
	theirs.SetNamespace(f.namespace)
	f.must(f.other.Create(t.Context(), theirs))
	report, err := Install(t.Context(), f.chart(configMap("plain"), jobAt("before", "pre-install")))
	f.reason(report, err, string(apply.ClassOwnershipConflict))
	f.expect("before")
}

func TestHooks_OfARemovalThatAreTooLargeAreRefused(t *testing.T) {
	f := onServer(t)
	large := strings.Replace(configMap("large", "k="+strings.Repeat("x", maxRemoval)), "{name: large}", `{name: large, annotations: {helm.sh/hook: pre-delete}}`, 1)
	report, err := Install(t.Context(), f.chart(configMap("plain"), large))
	f.reason(report, err, content.ReasonContentTooLarge)
	f.expect()
}

// Whichever call is the last of a process, the next one ends the installation, and no hook runs twice.
func TestHooks_RunOnceWhateverCallIsTheLast(t *testing.T) {
	for last := 1; ; last++ {
		f := onServer(t)
		inst := f.completing(f.chart(configMap("plain"), jobAt("before", "pre-install")+jobAt("after", "post-install")))
		var created []string
		f.loses = func(request *http.Request) bool {
			if request.Method == http.MethodPost && strings.HasSuffix(request.URL.Path, "/jobs") {
				created = append(created, request.URL.Path)
			}
			return false
		}
		var calls atomic.Int64
		ctx, die := context.WithCancel(t.Context())
		f.before = func(request *http.Request) {
			if calls.Add(1) > int64(last) { // nothing of a process that has died reaches the server
				die()
				request.URL.Host = "127.0.0.1:1"
			}
		}
		report, err := Install(ctx, inst)
		die()
		f.before = nil
		f.installs(inst)
		if len(created) != 2 {
			t.Errorf("after %d calls (%s, %v): %d Jobs were created, want 2", last, report.Reason, err, len(created))
		}
		f.expect("plain", "after", "before")
		if calls.Load() <= int64(last) {
			break
		}
	}
}
