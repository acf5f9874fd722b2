package manifest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/hooks"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// jobAt returns a hook of a chart.
func jobAt(name, events string) *unstructured.Unstructured {
	made := object("batch/v1", "Job", name)
	made.SetNamespace("default")
	made.SetAnnotations(map[string]string{hooks.AnnotationEvents: events})
	return made
}

// charted is a Manifest of a chart with hooks, and the cluster that it is installed into.
type charted struct {
	*testing.T
	r        *Reconciler
	c        *cluster
	manifest *v1beta2.Manifest
}

func newCharted(t *testing.T, parts ...Part) *charted {
	t.Helper()
	manifest := newManifest()
	r := newReconciler(t, manifest)
	r.Content = &contents{parts: parts}
	return &charted{t, r, filled(), manifest}
}

// scope is that of the next pass.
func (c *charted) scope() *scope {
	c.Helper()
	w := newScope(stored(c.T, c.r, c.manifest), testTime)
	w.runtime, w.recorded = c.c, fromStatus(w.manifest.Status.Synced)
	w.stored = w.recorded
	if err := c.r.readSources(w); err != nil {
		c.Fatal(err)
	}
	return w
}

// pass makes one pass and expects it to tell a reason, and a message with the text.
func (c *charted) pass(work func(w *scope) (passResult, error), reason, text string) {
	c.Helper()
	w := c.scope()
	found, err := work(w)
	if err != nil {
		c.Fatal(err)
	}
	if found.reason != reason || !strings.Contains(found.message, text) {
		c.Errorf("it tells %s: %s, want %s with %q", found.reason, found.message, reason, text)
	}
	if !found.gone {
		w.report(found)
		if err := c.r.flush(c.Context(), w); err != nil {
			c.Fatal(err)
		}
	}
}

func (c *charted) install(reason, text string) {
	c.Helper()
	c.pass(func(w *scope) (passResult, error) { return c.r.converge(c.Context(), w) }, reason, text)
}

func (c *charted) remove(reason, text string) {
	c.Helper()
	c.pass(func(w *scope) (passResult, error) {
		if err := c.r.removeInstalled(c.Context(), w); err != nil {
			return deleting(err)
		}
		return passResult{gone: true}, nil
	}, reason, text)
}

// end ends a Job: Complete or Failed.
func (c *charted) end(name, how string) {
	c.Helper()
	jobs := c.c.dynamic.Resource(jobsResource).Namespace("default")
	live, err := jobs.Get(c.Context(), name, metav1.GetOptions{})
	if err != nil {
		c.Fatal(err)
	}
	live.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": how, "status": "True"}}}
	if _, err := jobs.Update(c.Context(), live, metav1.UpdateOptions{}); err != nil {
		c.Fatal(err)
	}
}

// has reports whether the ConfigMap and Jobs exist, by their names.
func (c *charted) expect(names ...string) {
	c.Helper()
	var got []string
	for _, resource := range []struct {
		name string
		err  error
	}{{"plain", c.get("plain")}, {"before", c.get("before")}, {"after", c.get("after")}, {"leaves", c.get("leaves")}, {"left", c.get("left")}} {
		if resource.err == nil {
			got = append(got, resource.name)
		} else if !apierrors.IsNotFound(resource.err) {
			c.Fatal(resource.err)
		}
	}
	if diff := cmp.Diff(names, got); diff != "" {
		c.Errorf("exists (-want +got):\n%s", diff)
	}
}

func (c *charted) get(name string) error {
	resource := jobsResource
	if name == "plain" {
		resource = mapsResource
	}
	_, err := c.c.dynamic.Resource(resource).Namespace("default").Get(c.Context(), name, metav1.GetOptions{})
	return err
}

func chartPart() Part {
	objects, _ := configMaps("plain")
	source := v1beta2.ResolvedSource{Name: "raw-manifest", Reference: "registry.example.com/components/sample@" + digest, Digest: digest}
	return Part{Source: source, Steps: [][]*unstructured.Unstructured{objects}, Hooks: []*unstructured.Unstructured{
		jobAt("before", "pre-install,pre-upgrade"), jobAt("after", "post-install"), jobAt("leaves", "pre-delete"), jobAt("left", "post-delete"),
	}}
}

func TestHooks_RunAroundTheObjects(t *testing.T) {
	c := newCharted(t, chartPart())
	c.install(v1beta2.ReasonWaitingForHook, "hook pre-install of raw-manifest: Job.batch default/before: it was created")
	c.expect("before")
	c.install(v1beta2.ReasonWaitingForHook, "hook pre-install of raw-manifest: Job.batch default/before: was not started yet")
	c.end("before", "Complete")
	c.install(v1beta2.ReasonWaitingForHook, "hook post-install of raw-manifest: Job.batch default/after")
	c.expect("plain", "before", "after")
	c.end("after", "Failed")
	c.install(v1beta2.ReasonChartHookFailed, "delete the object to try again")
	if err := c.c.dynamic.Resource(jobsResource).Namespace("default").Delete(c.Context(), "after", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	c.install(v1beta2.ReasonWaitingForHook, "it was created")
	c.end("after", "Complete")
	c.install(v1beta2.ReasonReady, "")
	w := c.scope()
	w.report(passResult{state: v1beta2.StateReady, reason: v1beta2.ReasonReady, parsed: true})
	if !w.applied() || w.owesHooks() {
		t.Errorf("applied %t, owes hooks %t: %+v", w.applied(), w.owesHooks(), w.manifest.Status)
	}

	objects, _ := configMaps("plain")
	objects[0].Object["data"] = map[string]any{"a": "b"}
	changed := chartPart()
	changed.Steps[0] = objects
	c.r.Content = &contents{parts: []Part{changed}}
	c.install(v1beta2.ReasonWaitingForHook, "hook pre-upgrade of raw-manifest: Job.batch default/before: it was created")
	c.end("before", "Failed")
	c.install(v1beta2.ReasonChartHookFailed, "hook pre-upgrade of raw-manifest: Job.batch default/before")
	live, err := c.c.dynamic.Resource(mapsResource).Namespace("default").Get(c.Context(), "plain", metav1.GetOptions{})
	if err != nil || live.Object["data"] != nil {
		t.Errorf("the object was changed before its hook has completed: %v, %v", live, err)
	}
}

// A part begins when the one before it is through with its hooks.
func TestHooks_OfPartsRunPartAfterPart(t *testing.T) {
	first, second := chartPart(), chartPart()
	first.Hooks, second.Hooks = first.Hooks[1:2], second.Hooks[:1]
	second.Source.Name, second.Steps[0][0] = "second", object("v1", "ConfigMap", "later")
	c := newCharted(t, first, second)
	c.install(v1beta2.ReasonWaitingForHook, "hook post-install of raw-manifest: Job.batch default/after")
	c.expect("plain", "after")
	c.end("after", "Complete")
	c.install(v1beta2.ReasonWaitingForHook, "hook pre-install of second: Job.batch default/before")
	c.end("before", "Complete")
	c.install(v1beta2.ReasonReady, "")
}

// What left the content is not deleted before the hooks that come before an upgrade, also where nothing else changes.
func TestHooks_ComeBeforeWhatIsPruned(t *testing.T) {
	part := chartPart()
	part.Hooks = part.Hooks[:1]
	part.Steps[0] = append(part.Steps[0], object("v1", "ConfigMap", "other"))
	c := newCharted(t, part)
	c.install(v1beta2.ReasonWaitingForHook, "pre-install")
	c.end("before", "Complete")
	c.install(v1beta2.ReasonReady, "")
	part.Steps[0] = part.Steps[0][1:]
	c.r.Content = &contents{parts: []Part{part}}
	c.install(v1beta2.ReasonWaitingForHook, "pre-upgrade")
	c.expect("plain", "before")
	c.end("before", "Complete")
	c.install(v1beta2.ReasonReady, "")
	c.expect("before")
}

func TestHooks_RunAroundARemoval(t *testing.T) {
	c := newCharted(t, chartPart())
	for range 2 {
		c.pass(func(w *scope) (passResult, error) { return c.r.converge(c.Context(), w) }, v1beta2.ReasonWaitingForHook, "")
		for _, name := range []string{"before", "after"} {
			if c.get(name) == nil {
				c.end(name, "Complete")
			}
		}
	}
	c.install(v1beta2.ReasonReady, "")
	if err := c.r.Client.Delete(t.Context(), stored(t, c.r, c.manifest)); err != nil { // which its finalizer holds
		t.Fatal(err)
	}
	c.remove(v1beta2.ReasonWaitingForHook, "hook pre-delete of raw-manifest: Job.batch default/leaves")
	c.expect("plain", "before", "after", "leaves")
	c.end("leaves", "Failed")
	c.remove(v1beta2.ReasonChartHookFailed, v1beta2.AnnotationSkipDeleteHooks)
	c.end("leaves", "Complete")
	c.remove(v1beta2.ReasonWaitingForHook, "hook post-delete of raw-manifest: Job.batch default/left")
	c.expect("left")
	if w := c.scope(); !w.owesHooks() {
		t.Error("the removal would end before its last hooks")
	}
	c.end("left", "Complete")
	c.remove("", "")
	c.expect()
}

func TestBeginReleases_TakesWhatWasInstalledBeforeForAnUpgrade(t *testing.T) {
	known := v1beta2.ResolvedSource{Name: "raw-manifest", Digest: digest}
	for name, test := range map[string]struct {
		resolved   []v1beta2.ResolvedSource
		annotation string
		want       hooks.Event
	}{
		"what was never installed is installed":                      {nil, "", hooks.PreInstall},
		"a source that had no hooks is upgraded":                     {[]v1beta2.ResolvedSource{known}, "", hooks.PreUpgrade},
		"a Manifest that goes back is rolled back":                   {[]v1beta2.ResolvedSource{known}, "requested", hooks.PreRollback},
		"another source of the Manifest says nothing about this one": {[]v1beta2.ResolvedSource{{Name: "other", Digest: digest}}, "", hooks.PreInstall},
	} {
		t.Run(name, func(t *testing.T) {
			w := newScope(newManifest(func(m *v1beta2.Manifest) {
				m.Status.Resolved = test.resolved
				m.Annotations = map[string]string{v1beta2.AnnotationRollback: test.annotation}
			}), testTime)
			w.runtime = filled()
			part := part("raw-manifest")
			for _, event := range []string{"install", "upgrade", "rollback"} {
				part.Hooks = append(part.Hooks, jobAt(event, "pre-"+event))
			}
			arrange(t, w, part)
			w.beginReleases([]Part{part}, w.order.Hooks[0])
			if got := w.releases[0].Progress; got.Event != test.want || got.Total != 1 {
				t.Errorf("the release begins with %+v, want %s", got, test.want)
			}
		})
	}
}

// What becomes of a hook between its events is no matter of the installation.
func TestHealthy_PassesHooksBy(t *testing.T) {
	for done, want := range map[int32]v1beta2.State{0: v1beta2.StateReady, 1: v1beta2.StateProcessing} {
		t.Run(fmt.Sprintf("%d of 1 hooks have completed", done), func(t *testing.T) {
			w, _ := settledWork()
			w.manifest.Status.Resolved[0].Hooks = &v1beta2.HookProgress{Event: string(hooks.PostInstall), Done: done, Total: 1}
			id := inventory.IDOf(jobAt("gone", ""))
			w.recorded = append(w.recorded, inventory.Entry{ID: id, Version: "v1", Hash: "pre-install/1-r"}.AsHook())
			if found := w.healthy(); found.state != v1beta2.StateReady {
				t.Errorf("a hook that ran makes it %s: %s", found.state, found.message)
			}
			w.recorded[len(w.recorded)-1].Hash = ""
			if found := w.healthy(); found.state != want {
				t.Errorf("one that is planned makes it %s: %s", found.state, found.message)
			}
			if w.applied() {
				t.Error("it counts as applied")
			}
		})
	}
}
