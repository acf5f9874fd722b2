package helm

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
	"github.com/kyma-project/lifecycle-manager/pkg/render/internal/rendertest"
)

// A caller that runs hooks gets them apart from the objects.
func TestHelmReturnsHooks(t *testing.T) {
	hook := func(kind, events, more string) string {
		version := map[string]string{"Job": "batch/v1", "CustomResourceDefinition": "apiextensions.k8s.io/v1", "Secret": "v1"}[kind]
		return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: h\n  annotations: {helm.sh/hook: %q%s}\n", version, kind, events, more)
	}
	const ordinary = "a h"
	for name, test := range map[string]struct{ template, objects, hooks, refusal string }{
		"a hook is no object":                                  {hook("Job", "pre-install", ""), "a", "h", ""},
		"one for several events is there once":                 {hook("Job", "pre-upgrade,post-delete", ""), "a", "h", ""},
		"a test beside an event does not count":                {hook("Job", "test,pre-install", ""), "a", "h", ""},
		"a test is left out":                                   {hook("Job", "test-success", ""), "a", "", ""},
		"crd-install is an object":                             {hook("Secret", "crd-install", ""), ordinary, "", ""},
		"a definition is an object whenever it is to be there": {hook("CustomResourceDefinition", "pre-install", ""), ordinary, "", ""},
		"an event that Helm does not know is refused": {hook("Job", "pre-flight", ""), "", "",
			"hooks for events that there are not: Job.batch h (pre-flight) in test/templates/a.yaml: switch them off by values, or correct"},
		"a hook and an object of one name are refused": {
			hook("Secret", "pre-install", "") + "---\napiVersion: v1\nkind: Secret\nmetadata: {name: h}\n", "", "", "Secret h is declared differently",
		},
		"a hook with chance is refused, since it would run in each pass": {
			hook("Job", "pre-install", ", a: {{ randAlphaNum 8 | quote }}"), "", "", "Job.batch h differs in metadata.annotations.a",
		},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"templates/a.yaml": rendertest.Config("a") + "---\n" + test.template}
			rendered, err := Renderer{}.Render(t.Context(), chartOf(files), render.Input{Name: "demo", Hooks: true})
			if test.refusal != "" {
				if err == nil || !strings.Contains(err.Error(), test.refusal) {
					t.Errorf("error %v, want %q", err, test.refusal)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			objects, hooks := joined(rendered.Steps[0]), joined(rendered.Hooks)
			if objects != test.objects || hooks != test.hooks {
				t.Errorf("objects %q, hooks %q", objects, hooks)
			}
			if all := joined(rendered.Objects()); all != strings.TrimSpace(objects+" "+hooks) {
				t.Errorf("all of it is %q", all)
			}
		})
	}
}

// joined returns the names of objects in one text.
func joined(objects []*unstructured.Unstructured) string { return strings.Join(namesOf(objects), " ") }

// What is to be kept stays with the installation gone; a program that stayed could not run again.
func TestHelmKeepsHooksThatAreNoPrograms(t *testing.T) {
	for kind, want := range map[string]string{"batch/v1 Job": "", "v1 Secret": "true"} {
		version, name, _ := strings.Cut(kind, " ")
		text := fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: h\n  annotations: {helm.sh/hook: pre-install, helm.sh/resource-policy: keep}\n",
			version, name)
		files := map[string]string{"templates/a.yaml": text}
		rendered, err := Renderer{}.Render(t.Context(), chartOf(files), render.Input{Name: "demo", Hooks: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := rendered.Hooks[0].GetAnnotations()[annotationKeep]; got != want {
			t.Errorf("%s is kept: %q", kind, got)
		}
	}
}

func TestHelmNamesNoReasonButTheHooks(t *testing.T) {
	files := map[string]string{"templates/a.yaml": rendertest.Config("a") + "  annotations: {helm.sh/hook: made-up}\n"}
	_, err := Renderer{}.Render(t.Context(), chartOf(files), render.Input{Name: "demo", Hooks: true})
	if content.ReasonOf(err) != content.ReasonHooksRefused {
		t.Errorf("error %v", err)
	}
}
