package hooks_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/hooks"
)

// hook returns an object with annotations of Helm: "Kind name events weight policies", where a dash stands for none.
func hook(text string) *unstructured.Unstructured {
	fields := append(strings.Fields(text), "-", "-")
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": fields[0]}}
	switch fields[0] {
	case "Job":
		object.SetAPIVersion("batch/v1")
	case "Role":
		object.SetAPIVersion("rbac.authorization.k8s.io/v1")
	}
	object.SetName(fields[1])
	annotations := map[string]string{hooks.AnnotationEvents: fields[2]}
	if fields[3] != "-" {
		annotations[hooks.AnnotationWeight] = fields[3]
	}
	if fields[4] != "-" {
		annotations[hooks.AnnotationDeletePolicy] = fields[4]
	}
	object.SetAnnotations(annotations)
	return object
}

func setOf(texts ...string) hooks.Set {
	var objects []*unstructured.Unstructured
	for _, text := range texts {
		objects = append(objects, hook(text))
	}
	return hooks.Of(objects)
}

func TestEvents(t *testing.T) {
	for name, test := range map[string]struct {
		annotation string
		events     []hooks.Event
		unknown    []string
	}{
		"one event":                              {"pre-install", []hooks.Event{hooks.PreInstall}, nil},
		"case and blanks do not count":           {" Post-Delete , pre-ROLLBACK", []hooks.Event{hooks.PostDelete, hooks.PreRollback}, nil},
		"a test beside an event is not run":      {"test,post-upgrade", []hooks.Event{hooks.PostUpgrade}, nil},
		"tests and definitions run at no event":  {"test-success,test-failure,crd-install", nil, nil},
		"what Helm does not know is unknown":     {"pre-install,pre-flight", []hooks.Event{hooks.PreInstall}, []string{"pre-flight"}},
		"an empty annotation names no event":     {"", nil, []string{""}},
		"an event after the objects is one, too": {"post-install", []hooks.Event{hooks.PostInstall}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			events, unknown := hooks.Events(test.annotation)
			if !slices.Equal(events, test.events) || !slices.Equal(unknown, test.unknown) {
				t.Errorf("events %v, unknown %q", events, unknown)
			}
		})
	}
}

func TestSet_At(t *testing.T) {
	for name, test := range map[string]struct {
		hooks []string
		event hooks.Event
		want  string
	}{
		"lower weights come first, also negative ones": {
			[]string{"Job c pre-install 5", "Job b pre-install", "Job a pre-install -5"}, hooks.PreInstall, "Job a, Job b, Job c",
		},
		"what is no number is zero": {[]string{"Job b pre-install 1", "Job a pre-install heavy"}, hooks.PreInstall, "Job a, Job b"},
		"names decide where weights are equal, before kinds": {
			[]string{"Role b pre-install", "Job a pre-install"}, hooks.PreInstall, "Job a, Role b",
		},
		"of one name, what a program needs comes before it": {
			[]string{"Job a pre-install", "ServiceAccount a pre-install"}, hooks.PreInstall, "ServiceAccount a, Job a",
		},
		"a hook for several events is one of each": {
			[]string{"Job a pre-install,post-delete", "Job b pre-install"}, hooks.PostDelete, "Job a",
		},
		"other events have no hooks": {[]string{"Job a pre-install"}, hooks.PreUpgrade, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, hook := range setOf(test.hooks...).At(test.event) {
				got = append(got, hook.Object.GetKind()+" "+hook.Object.GetName())
			}
			if strings.Join(got, ", ") != test.want {
				t.Errorf("runs %v, want %s", got, test.want)
			}
		})
	}
}

func TestSet_OfDeletion(t *testing.T) {
	set := setOf("Job a post-install", "Job b pre-delete", "Job c pre-install,post-delete")
	var names []string
	for _, object := range set.OfDeletion() {
		names = append(names, object.GetName())
	}
	if !slices.Equal(names, []string{"b", "c"}) {
		t.Errorf("at a removal run %q", names)
	}
}
