package apply

import (
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: operator, creationTimestamp: null}
spec:
  selector: {matchLabels: {app: operator}}
  template:
    metadata: {labels: {app: operator}}
    spec:
      containers:
      - {name: manager, image: "example.org/operator:1.0.0", args: [--leader-elect]}
status: {}
`

func TestCreateCostsOneCall(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	object := i.object(deployment)
	i.costs([]string{"create deployments.apps"}, func() {
		i.installs(Created, object)
	})
	entry := i.entry(object)
	if live := i.live(object); live.UID != entry.UID || live.Fields != entry.Fields || !strings.HasPrefix(entry.Fields, "u:") {
		t.Errorf("recorded %+v of %+v", entry, live)
	}
	if len(i.learned) != 1 || i.learned[0] != entry.ID {
		t.Errorf("learned %v", i.learned)
	}
	i.rests(object)
}

func TestFirstChangeMigratesAndLaterOnesCostOneCall(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	i.installs(Created, i.configMap("config", "a=1", "b=1", "c=1"))

	second := i.configMap("config", "a=2", "b=1")
	i.costs([]string{"patch configmaps", "patch configmaps"}, func() {
		if live := i.installs(Updated, second); valueAt(live, "data") != "map[a:2 b:1]" {
			t.Errorf("a field dropped after the create stays: %s", valueAt(live, "data"))
		}
	})
	i.rests(second)
	if fields := i.entry(second).Fields; !strings.HasPrefix(fields, "a:") {
		t.Errorf("still owned by the create: %s", fields)
	}

	third := i.configMap("config", "a=3")
	i.costs([]string{"patch configmaps"}, func() {
		if live := i.installs(Updated, third); valueAt(live, "data") != "map[a:3]" {
			t.Errorf("a field dropped after the migration stays: %s", valueAt(live, "data"))
		}
	})
	i.rests(third)
	if len(i.learned) != 4 {
		t.Errorf("learned %d objects of 4 writes", len(i.learned))
	}
}

func TestDroppedListItemsOfAWorkloadGo(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	i.installs(Created, i.object(deployment))
	live := i.installs(Updated, i.object(strings.ReplaceAll(deployment, ", args: [--leader-elect]", "")))
	containers, _, err := unstructured.NestedSlice(live.Object, "spec", "template", "spec", "containers")
	i.must(err)
	if args, found := containers[0].(map[string]any)["args"]; found {
		t.Errorf("args %v stay", args)
	}
	if replicas := valueAt(live, "spec", "replicas"); replicas != "1" {
		t.Errorf("a defaulted field did not come back: replicas %q", replicas)
	}
}

func TestUndeclaredFieldsOfUsersSurvive(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	object := i.object(deployment)
	i.installs(Created, object)
	const restarted = "kubectl.kubernetes.io/restartedAt"
	survives := func(live *unstructured.Unstructured, when, want string) {
		t.Helper()
		if got := valueAt(live, "spec", "template", "metadata", "annotations", restarted); got != want {
			t.Errorf("%s: restartedAt is %q, want %q", when, got, want)
		}
	}
	restart := func(at string) {
		i.edit(object, "kubectl-rollout", "{spec: {template: {metadata: {annotations: {"+restarted+": '"+at+"'}}}}}")
	}

	restart("first")
	i.rests(object)
	i.edit(object, "kubectl-scale", "{spec: {replicas: 3}}")
	object = i.object(strings.ReplaceAll(deployment, "1.0.0", "1.1.0"))
	live := i.installs(Updated, object)
	survives(live, "through the migration", "first")
	if replicas := valueAt(live, "spec", "replicas"); replicas != "3" {
		t.Errorf("replicas, which are not declared, are %s again", replicas)
	}

	restart("second")
	i.rests(object)
	survives(i.installs(Updated, i.object(strings.ReplaceAll(deployment, "1.0.0", "1.2.0"))), "through an apply", "second")
}

func TestDeclaredFieldsComeBack(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	object := i.configMap("config", "a=1")
	i.installs(Created, object)
	for _, test := range []struct {
		name  string
		calls []string
	}{
		{"edited after the create", []string{"get configmaps", "patch configmaps", "patch configmaps", "patch configmaps"}},
		{"edited after the migration", []string{"patch configmaps", "patch configmaps"}},
	} {
		t.Run(test.name, func(*testing.T) {
			i.edit(object, "kubectl-edit", "{data: {a: other}}")
			if steps := i.decide(object); len(steps) != 1 || steps[0].Why != inventory.WhyDrifted {
				t.Fatalf("the edit was not noticed: %v", steps)
			}
			i.costs(test.calls, func() {
				if live := i.installs(Updated, object); valueAt(live, "data", "a") != "1" {
					t.Errorf("data.a is %q", valueAt(live, "data", "a"))
				}
			})
			i.rests(object)
		})
	}
}

func TestUndeclaredEditsAreNoDrift(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	i.installs(Created, i.object(deployment))
	object := i.object(strings.ReplaceAll(deployment, "1.0.0", "1.1.0"))
	i.installs(Updated, object)
	before := i.live(object).Fields
	i.edit(object, "kubectl-edit", "{metadata: {labels: {team: a}}, spec: {minReadySeconds: 5}}")
	i.edit(object, "kubectl-patch", "{spec: {template: {spec: {terminationGracePeriodSeconds: 9}}}}")
	if after := i.live(object).Fields; after != before {
		t.Errorf("the hash of our fields moved from %s to %s", before, after)
	}
	i.rests(object)
}

func TestMissingObjectsAreCreatedInOneCall(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	object := i.configMap("config", "a=1")
	i.installs(Created, object)
	i.remove(object)
	i.costs([]string{"create configmaps"}, func() { i.installs(Created, object) })
	i.rests(object)
}

func TestObjectDeletedUnnoticedIsCreatedByAChange(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	i.installs(Created, i.configMap("config", "a=1"))
	i.installs(Updated, i.configMap("config", "a=2"))
	i.remove(i.configMap("config"))
	i.blind = true
	i.costs([]string{"patch configmaps", "get configmaps", "create configmaps"}, func() {
		i.installs(Created, i.configMap("config", "a=3"))
	})
}

func TestInterruptedInstallIsTakenUp(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	object := i.configMap("config", "a=1")
	i.recorded = inventory.Planned(nil, []*unstructured.Unstructured{object})
	i.cluster.Apply(t.Context(), i.decide(object), i.opts) // and the outcome is lost
	i.opts.Ownership = Prevent
	i.costs([]string{"create configmaps", "get configmaps", "patch configmaps", "patch configmaps"}, func() {
		i.installs(Updated, object)
	})
	i.rests(object)

	i.recorded = inventory.Planned(nil, []*unstructured.Unstructured{object})
	i.costs([]string{"create configmaps", "get configmaps", "patch configmaps"}, func() {
		i.installs(Unchanged, object)
	})
	i.rests(object)
}

func TestMigrationOfAnObjectThatWasNotReadMeetsThatOneOnly(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	for name, meanwhile := range map[string]func(){
		"a user applied to it, unnoticed": func() {
			theirs := i.configMap("config", "theirs=x")
			data, err := theirs.MarshalJSON()
			i.must(err)
			_, err = i.theirs(theirs).Patch(t.Context(), "config", types.ApplyPatchType, data, metav1.PatchOptions{FieldManager: "other"})
			i.must(err)
		},
		"it is another object of the same name": func() {
			i.remove(i.configMap("config"))
			i.exists(i.marked(i.configMap("config", "theirs=x"), mine), i.opts.Manager)
		},
	} {
		t.Run(name, func(*testing.T) {
			i.installs(Created, i.configMap("config", "a=1", "b=1"))
			meanwhile()
			i.blind = true
			if live := i.installs(Updated, i.configMap("config", "a=2")); valueAt(live, "data", "a") != "2" || valueAt(live, "data", "b") != "" {
				t.Errorf("data is %s", valueAt(live, "data"))
			}
			if fields := i.entry(i.configMap("config")).Fields; !strings.HasPrefix(fields, inventory.FieldsApplied) {
				t.Errorf("still owned by the create: %s", fields)
			}
			i.remove(i.configMap("config"))
			i.recorded, i.blind = nil, false
		})
	}
}

func TestMigrationGivesWayToAWriterInBetween(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	i.installs(Created, i.configMap("config", "a=1", "b=1"))
	i.edit(i.configMap("config"), "other", "{data: {b: theirs}}") // otherwise nothing would be read
	i.opts.Live = func(inventory.ID) inventory.Live { return i.live(i.configMap("config")) }
	interfered := false
	i.before = func(request *http.Request) {
		if request.Method == http.MethodPatch && !interfered {
			interfered = true
			i.edit(i.configMap("config"), "other", "{data: {theirs: x}}")
		}
	}
	i.costs([]string{"get configmaps", "patch configmaps", "get configmaps", "patch configmaps", "patch configmaps"}, func() {
		if live := i.installs(Updated, i.configMap("config", "a=2")); valueAt(live, "data") != "map[a:2 b:theirs theirs:x]" {
			t.Errorf("data is %s", valueAt(live, "data"))
		}
	})
}

func TestWriterThatNeverStopsIsReported(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	i.installs(Created, i.configMap("config", "a=1", "b=1"))
	i.edit(i.configMap("config"), "other", "{data: {b: theirs}}")
	i.opts.Live = func(inventory.ID) inventory.Live { return i.live(i.configMap("config")) }
	i.before = func(request *http.Request) {
		if request.Method == http.MethodPatch {
			i.edit(i.configMap("config"), "other", "{metadata: {annotations: {at: '"+i.get(i.configMap("config")).GetResourceVersion()+"'}}}")
		}
	}
	i.is(i.install(i.configMap("config", "a=2"))[0], Failed, ClassConflict)
}

func TestContentExportedFromAClusterIsAccepted(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	exported := i.marked(i.exists(i.configMap("source", "a=1"), "kubectl"), mine)
	exported.SetName("copy")
	before := exported.DeepCopy()
	i.installs(Created, exported)
	i.must(unstructured.SetNestedField(exported.Object, "2", "data", "a"))
	i.installs(Updated, exported)
	if exported.GetResourceVersion() != before.GetResourceVersion() || exported.GetUID() != before.GetUID() {
		t.Error("the caller's object was changed")
	}
}
