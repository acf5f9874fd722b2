package installer

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/generated"
)

const (
	// generating has a password in a Secret.
	generating = `
apiVersion: v1
kind: Secret
metadata: {name: admin, annotations: {version: "{{ .Values.version }}"}}
stringData: {password: "{{ randAlphaNum 24 }}"}
`
	// remembering takes the password that it finds, as charts for Helm do, and says which release it is.
	remembering = `
{{- $found := lookup "v1" "Secret" .Release.Namespace "admin" }}
{{- $password := randAlphaNum 24 }}
{{- with $found.data }}{{ $password = .password | b64dec }}{{ end }}
apiVersion: v1
kind: Secret
metadata: {name: admin, annotations: {version: "{{ .Values.version }}", revision: "{{ .Release.Revision }}"}}
stringData: {password: "{{ $password }}"}
`
	// needing cannot be rendered without an object that others make.
	needing = `
{{- $found := required "the ConfigMap settings is missing" (lookup "v1" "ConfigMap" .Release.Namespace "settings").data }}
apiVersion: v1
kind: ConfigMap
metadata: {name: copy}
data: {colour: "{{ $found.colour }}"}
`
)

// generates returns an installation of a chart, with a value that counts as another release.
func (f *fixture) generates(version, template string) Installation {
	inst := f.chart(template)
	inst.Sources[0].Values = map[string]any{"version": version}
	return inst
}

// password returns what the Secret of the chart has, and its version and revision.
func (f *fixture) password() (password, version string) {
	f.Helper()
	live := f.get("v1", "Secret", "admin")
	password, _, _ = unstructured.NestedString(live.Object, "data", "password")
	return password, strings.TrimSpace(live.GetAnnotations()["version"] + " " + live.GetAnnotations()["revision"])
}

func TestInstall_GeneratesOnce(t *testing.T) {
	for name, template := range map[string]string{"by itself": generating, "behind a lookup": remembering} {
		t.Run(name, func(t *testing.T) {
			f := onServer(t)
			report := f.installs(f.generates("1", template))
			f.equal("done", actions(report), []string{"Secret demo.generated: Created", "Secret admin: Created"})
			first, _ := f.password()
			if first == "" {
				t.Fatal("there is no password")
			}
			since := f.counter.Snapshot()
			f.installs(f.generates("1", template))
			f.equal("a second call", f.writes(since), nil)
			if report, err := Check(t.Context(), f.generates("1", template)); err != nil || !report.Ready {
				t.Errorf("%v %s", err, pretty(report))
			}
			for _, version := range []string{"2", "3"} {
				f.installs(f.generates(version, template))
				if password, got := f.password(); password != first || !strings.HasPrefix(got, version) {
					t.Errorf("version %s has %s, and another password: %t", version, got, password != first)
				}
			}
			f.remove(f.get("v1", "Secret", "admin"))
			f.installs(f.generates("3", template))
			if password, _ := f.password(); password != first {
				t.Error("a deleted Secret came back with another password")
			}
			report, err := Uninstall(t.Context(), f.generates("3", template))
			f.must(err)
			if !report.Ready || f.find("v1", "Secret", f.namespace, "demo.generated") != nil {
				t.Errorf("left: %s", pretty(report))
			}
		})
	}
}

// The first release is an installation, each later one an upgrade, and the same one stays what it is.
func TestInstall_CountsReleases(t *testing.T) {
	f := onServer(t)
	for _, want := range []string{"1 1", "1 1", "2 2", "1 3"} {
		version, _, _ := strings.Cut(want, " ")
		f.installs(f.generates(version, remembering))
		if _, got := f.password(); got != want {
			t.Errorf("version and revision %s, want %s", got, want)
		}
	}
}

func TestInstall_FindsNothingWhereItMustNot(t *testing.T) {
	f := onServer(t)
	f.applied("kubectl-client-side-apply", configMap("settings", "colour=red"))
	inst := f.chart(needing)
	inst.Sources[0].NoLookups = true
	report, err := Install(t.Context(), inst)
	f.reason(report, err, content.ReasonContentInvalid)
}

// A chart that fails without what it looks up is installed by the call after that is there; what it found stays.
func TestInstall_ComesWithWhatItLooksUp(t *testing.T) {
	f := onServer(t)
	report, err := Install(t.Context(), f.chart(needing))
	f.reason(report, err, content.ReasonContentInvalid)
	if !strings.Contains(report.Message, "the ConfigMap settings is missing") || f.has("copy") || len(f.records()) > 0 {
		t.Errorf("%s, records %v", report.Message, f.records())
	}
	f.applied("kubectl-client-side-apply", configMap("settings", "colour=red"))
	f.installs(f.chart(needing))
	f.edit(f.get("v1", "ConfigMap", "settings"), "data: {colour: blue}")
	since := f.counter.Snapshot()
	f.installs(f.chart(needing))
	f.equal("a call after others changed what was found", f.writes(since), nil)
}

// What was generated is not made anew by itself.
func TestInstall_AsksForGeneratedValues(t *testing.T) {
	f := onServer(t)
	f.installs(f.generates("1", generating))
	first, _ := f.password()
	kept := f.get("v1", "Secret", "demo.generated")
	f.remove(kept)
	report, err := Install(t.Context(), f.generates("2", generating))
	f.reason(report, err, content.ReasonGeneratedValuesLost)
	if _, version := f.password(); version != "1" {
		t.Errorf("version %s came without the values", version)
	}

	restored := object(`{apiVersion: v1, kind: Secret, metadata: {name: demo.generated, namespace: ` + f.namespace + `}}`)
	restored.SetAnnotations(kept.GetAnnotations())
	restored.Object["data"] = kept.Object["data"]
	f.must(f.other.Create(t.Context(), restored))
	f.installs(f.generates("2", generating))
	if password, version := f.password(); password != first || version != "2" {
		t.Errorf("version %s, another password: %t", version, password != first)
	}

	f.edit(f.get("v1", "Secret", "demo.generated"), "data: {values.json: null}") // a user's word for new ones
	f.installs(f.generates("3", generating))
	if password, _ := f.password(); password == first {
		t.Error("no new password was made")
	}
}

// Two sources keep values of their own in one Secret, which transforms do not touch.
func TestInstall_KeepsTheValuesOfAllSources(t *testing.T) {
	f := onServer(t)
	inst := f.installation()
	for _, name := range []string{"one", "two"} {
		inst.Sources = append(inst.Sources, chartNamed(name, strings.ReplaceAll(generating, "name: admin", "name: "+name)))
	}
	inst.Transforms = []func(*unstructured.Unstructured) error{func(object *unstructured.Unstructured) error {
		object.SetName("own-" + object.GetName())
		return nil
	}}
	f.installs(inst)
	store, err := generated.Read(f.get("v1", "Secret", "demo.generated"))
	f.must(err)
	if len(store.Values["one"]) != 1 || len(store.Values["two"]) != 1 {
		t.Errorf("kept are the values of %d sources", len(store.Values))
	}
	since := f.counter.Snapshot()
	f.installs(inst)
	f.equal("a second call", f.writes(since), nil)
}

// What was installed otherwise has a password that is not known, unless the chart finds it.
func TestInstall_TakesOverGeneratedValues(t *testing.T) {
	const admin = "---\n{apiVersion: v1, kind: Secret, metadata: {name: admin}, stringData: {password: hunter2hunter2hunter2hun}}\n"
	f := onServer(t)
	f.applied("helm", admin)
	inst := f.generates("1", generating)
	report, err := Install(t.Context(), inst)
	f.reason(report, err, string(apply.ClassOwnershipConflict))
	if f.find("v1", "Secret", f.namespace, "demo.generated") != nil {
		t.Error("what is refused has generated values")
	}
	inst.Ownership = apply.AdoptIfUnowned
	report, err = Install(t.Context(), inst)
	f.reason(report, err, content.ReasonGeneratedValuesLost)
	before, version := f.password()
	if version != "" {
		t.Errorf("it was changed to version %s", version)
	}
	inst = f.generates("1", remembering)
	inst.Ownership = apply.AdoptIfUnowned
	f.installs(inst)
	if password, version := f.password(); password != before || version != "1 1" {
		t.Errorf("version %s, another password: %t", version, password != before)
	}
}

// An installation that is let go of leaves its values for the next one, whatever that is called.
func TestDisown_LeavesGeneratedValues(t *testing.T) {
	f := onServer(t)
	f.installs(f.generates("1", generating))
	first, _ := f.password()
	_, err := Disown(t.Context(), f.generates("1", generating))
	f.must(err)
	next := f.generates("2", generating)
	next.Name, next.GeneratedSecret, next.Ownership = "next", "demo.generated", apply.AdoptIfUnowned
	f.installs(next)
	if password, version := f.password(); password != first || version != "2" {
		t.Errorf("version %s, another password: %t", version, password != first)
	}
	next.GeneratedSecret = "" // the record knows it
	since := f.counter.Snapshot()
	f.installs(next)
	f.equal("a call that does not name the Secret", f.writes(since), nil)
}

// A process that dies before the values are applied has applied nothing that has one.
func TestInstall_KeepsValuesBeforeItUsesThem(t *testing.T) {
	f := onServer(t)
	var writes atomic.Int32
	f.loses = func(request *http.Request) bool { // the first write is that of the record
		return request.Method != http.MethodGet && strings.Contains(request.URL.Path, "/secrets") && writes.Add(1) > 1
	}
	if report, err := Install(t.Context(), f.generates("1", generating)); err == nil {
		t.Fatalf("no write was lost: %s", pretty(report))
	}
	if f.find("v1", "Secret", f.namespace, "admin") != nil {
		t.Error("a password was applied, and nothing says that it is kept")
	}
	f.loses = nil
	kept := f.get("v1", "Secret", "demo.generated").Object["data"]
	f.installs(f.generates("1", generating))
	if diff := cmp.Diff(kept, f.get("v1", "Secret", "demo.generated").Object["data"]); diff != "" {
		t.Error("the next call made other values")
	}
}

// Of two calls that generate at once, after a first one that ended before it wrote, one is told.
func TestInstall_TwoGenerateAtOnce(t *testing.T) {
	f := onServer(t)
	f.loses = func(request *http.Request) bool { return request.Method != http.MethodGet }
	if _, err := Install(t.Context(), f.generates("1", generating)); err == nil {
		t.Fatal("no write was lost")
	}
	f.loses = nil
	first := true
	f.before = func(request *http.Request) {
		if first && request.Method == http.MethodPut && strings.Contains(request.URL.Path, "manifest.") {
			first = false
			other := f.generates("1", generating)
			other.Config = rest.CopyConfig(f.config)
			if _, err := Install(t.Context(), other); err != nil {
				t.Errorf("the other call: %v", err)
			}
		}
	}
	report, err := Install(t.Context(), f.generates("1", generating))
	if first {
		t.Fatal("the record was not written before the values")
	}
	f.reason(report, err, ReasonRecordConflict)
	f.before = nil
	password, _ := f.password()
	f.installs(f.generates("1", generating))
	if after, _ := f.password(); after != password {
		t.Error("the password changed")
	}
}

// A source that is added to an installation is new, and one that begins to look something up was there before.
func TestInstall_KnowsWhatWasThereBefore(t *testing.T) {
	const telling = `
apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Values.name }}"}
data: {release: "{{ .Release.Revision }} {{ .Release.IsUpgrade }}"}
`
	f := onServer(t)
	f.installs(f.installation(configMap("plain", "a=1")))
	inst := f.installation(configMap("plain", "a=1"))
	for _, name := range []string{"plain", "added"} {
		source := chartNamed(name, telling)
		source.Values = map[string]any{"name": name}
		inst.Sources = append(inst.Sources, source)
	}
	inst.Sources = inst.Sources[1:]
	f.installs(inst)
	for name, want := range map[string]string{"plain": "2 true", "added": "1 false"} {
		if got, _, _ := unstructured.NestedString(f.get("v1", "ConfigMap", name).Object, "data", "release"); got != want {
			t.Errorf("%s is of release %q, want %q", name, got, want)
		}
	}
}

func TestInstall_RefusesNamesOfTheSecret(t *testing.T) {
	for _, name := range []string{"manifest.demo", "No Name"} {
		inst := Installation{Name: "demo", Namespace: "default", Config: &rest.Config{}, GeneratedSecret: name}
		if report, err := Install(t.Context(), inst); ReasonOf(err) != ReasonInstallationInvalid || !strings.Contains(report.Message, name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
