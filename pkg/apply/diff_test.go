package apply

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/fielddiff"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// diff returns the difference that objects would make. It checks that this changes nothing, and that applying then does what Diff reported.
func (i *installation) diff(objects ...*unstructured.Unstructured) []Difference {
	i.Helper()
	before := map[inventory.ID]*unstructured.Unstructured{}
	for _, object := range objects {
		if _, err := i.resource(i.Context(), object.GroupVersionKind()); err == nil {
			before[inventory.IDOf(object)] = i.get(object)
		}
	}
	learned := len(i.learned)
	found := i.cluster.Diff(i.Context(), i.decide(objects...), nil, i.opts)
	for _, object := range objects {
		if was, known := before[inventory.IDOf(object)]; known {
			if diff := cmp.Diff(was, i.get(object)); diff != "" {
				i.Errorf("asking changed %s: %s", inventory.IDOf(object), diff)
			}
		}
	}
	if len(i.learned) != learned {
		i.Error("something was learned that is not so")
	}
	return found
}

// foretells expects a difference, and that an apply makes exactly that change.
func changed(path, from, to string) FieldDiff { return FieldDiff{Path: path, From: from, To: to} }

func (i *installation) foretells(object *unstructured.Unstructured, change Change, fields ...FieldDiff) {
	i.Helper()
	found := i.diff(object)
	want := []Difference{{ID: inventory.IDOf(object), Change: change, Fields: fields}}
	if diff := cmp.Diff(want, found, cmpopts.IgnoreFields(Difference{}, "Note")); diff != "" {
		i.Error(diff)
	}
	before := i.get(object)
	i.install(object)
	if before == nil {
		return
	}
	if diff := cmp.Diff(fields, fielddiff.Compare(before, i.get(object))); diff != "" {
		i.Errorf("what was done is not what was foretold: %s", diff)
	}
}

func TestDiffForetellsWhatAnApplyDoes(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	i.foretells(i.configMap("config", "a=1", "b=1"), ChangeCreate)
	i.foretells(i.configMap("config", "a=2"), ChangeUpdate, changed("data.a", "1", "2"), changed("data.b", "1", ""))
	i.edit(i.configMap("config"), "kubectl-edit", "{data: {a: theirs, users: x}}")
	i.foretells(i.configMap("config", "a=3", "c=3"), ChangeUpdate, changed("data.a", "theirs", "3"), changed("data.c", "", "3"))
	i.foretells(i.configMap("config", "c=3"), ChangeUpdate, changed("data.a", "3", ""))
	if found := i.diff(i.configMap("config", "c=3")); len(found) != 0 {
		t.Errorf("at rest: %v", found)
	}
}

func TestDiffSeesWhatTheMigrationTakesBack(t *testing.T) {
	const multiple = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: operator, finalizers: [example.org/a, example.org/b], labels: {gone: x}}
spec:
  replicas: 3
  minReadySeconds: 5
  selector: {matchLabels: {app: operator}}
  template:
    metadata: {labels: {app: operator}}
    spec:
      containers:
      - {name: manager, image: "example.org/operator:1.0.0", args: [--leader-elect], env: [{name: A, value: a}, {name: B, value: b}]}
      - {name: sidecar, image: "example.org/sidecar:1.0.0", ports: [{containerPort: 80}, {containerPort: 81}]}
`
	i := &installation{fixture: onServer(t)}
	i.installs(Created, i.object(multiple))
	i.edit(i.object(multiple), "kubectl-rollout", "{spec: {template: {metadata: {annotations: {restartedAt: now}}}}}")
	next := i.object(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: operator, finalizers: [example.org/b]}
spec:
  selector: {matchLabels: {app: operator}}
  template:
    metadata: {labels: {app: operator}}
    spec:
      containers:
      - {name: manager, image: "example.org/operator:1.1.0", env: [{name: B, value: c}]}
      - {name: sidecar, image: "example.org/sidecar:1.0.0", ports: [{containerPort: 81}]}
`)
	const container = "spec.template.spec.containers[name=manager]."
	i.foretells(next, ChangeUpdate,
		changed("metadata.finalizers[0]", "example.org/a", "example.org/b"), changed("metadata.finalizers[1]", "example.org/b", ""),
		changed("metadata.labels.gone", "x", ""),
		changed("spec.minReadySeconds", "5", ""), changed("spec.replicas", "3", "1"),
		changed(container+"args[0]", "--leader-elect", ""),
		changed(container+"env[name=A].name", "A", ""), changed(container+"env[name=A].value", "a", ""),
		changed(container+"env[name=B].value", "b", "c"),
		changed(container+"image", "example.org/operator:1.0.0", "example.org/operator:1.1.0"),
		changed("spec.template.spec.containers[name=sidecar].ports[0].containerPort", "80", "81"),
		changed("spec.template.spec.containers[name=sidecar].ports[1].containerPort", "81", ""),
		changed("spec.template.spec.containers[name=sidecar].ports[1].protocol", "TCP", ""),
	)
}

func TestDiffOfAnAdoption(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	i.exists(i.marked(i.configMap("config", "kept=1", "dropped=1"), ""), kubectlApply)
	i.foretells(i.configMap("config", "kept=2"), ChangeUpdate, changed("data.dropped", "1", ""), changed("data.kept", "1", "2"),
		changed(`metadata.annotations["`+ownerKey+`"]`, "", mine))
}

func TestDiffShowsNoSecret(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	secret := func(value string) *unstructured.Unstructured {
		return i.object("{apiVersion: v1, kind: Secret, metadata: {name: x}, stringData: {k: '" + value + "'}}")
	}
	i.foretells(secret(password), ChangeCreate)
	i.foretells(secret(password+password), ChangeUpdate, changed("data.k", fielddiff.SecretValue, fielddiff.SecretValue))
	outcome := i.diff(i.object("{apiVersion: v1, kind: Secret, metadata: {name: x}, stringData: {'not a key': '" + password + "'}}"))[0]
	if outcome.Change != ChangeRefused {
		t.Errorf("got %+v", outcome)
	}
	i.tells(Outcome{Err: outcome.Err}, "data[not a key]")
}

// TestDiffShowsNoSecretElsewhere lets a ConfigMap repeat what the Secret beside it holds, before and after.
func TestDiffShowsNoSecretElsewhere(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	objects := func(password, host string) []*unstructured.Unstructured {
		return []*unstructured.Unstructured{
			i.configMap("config", "dsn=user:"+password+"@"+host),
			i.object("{apiVersion: v1, kind: Secret, metadata: {name: x}, stringData: {k: '" + password + "'}}"),
		}
	}
	i.install(objects("first-Passw0rd", "one")...)
	found := i.diff(objects(password, "two")...)
	want := []FieldDiff{changed("data.dsn", "user:"+fielddiff.Hidden+"@one", "user:"+fielddiff.Hidden+"@two")}
	if len(found) != 2 || cmp.Diff(want, found[0].Fields) != "" {
		t.Errorf("got %+v", found)
	}
}

func TestDiffOfWhatCannotBeApplied(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	i.exists(i.marked(i.configMap("theirs"), stranger), "somebody")
	i.exists(i.marked(i.configMap("shared", "a=theirs"), sibling), "somebody")
	found := i.diff(
		i.configMap("theirs", "a=1"), i.configMap("shared", "a=1"), i.configMap("new"),
		i.object("{apiVersion: v1, kind: Service, metadata: {name: x}, spec: {ports: [{port: 99999}]}}"),
		i.object("{apiVersion: nowhere.io/v1, kind: Thing, metadata: {name: a}}"),
		i.object("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: missing-"+i.namespace+"}}"),
	)
	for at, want := range []struct {
		change Change
		class  Class
	}{
		{ChangeRefused, ClassOwnershipConflict}, {ChangeUnchanged, ""}, {ChangeCreate, ""},
		{ChangeRefused, ClassRefused}, {ChangeRefused, ClassKindUnknown}, {ChangeRefused, ClassNamespaceMissing},
	} {
		if found[at].Change != want.change || Classify(found[at].Err) != want.class {
			t.Errorf("%s: got %s, %v", found[at].ID, found[at].Change, found[at].Err)
		}
	}
	if !strings.Contains(found[1].Note, sibling) {
		t.Errorf("the sibling is not named: %s", found[1].Note)
	}
}

func TestDiffOfWhatOnlyTheApplyMakesPossible(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	crd := i.object(strings.ReplaceAll(definition, "NS", i.namespace))
	namespace := i.object("{apiVersion: v1, kind: Namespace, metadata: {name: new-" + i.namespace + "}}")
	inside := i.configMap("config")
	inside.SetNamespace(namespace.GetName())
	sample := i.object("{apiVersion: " + i.namespace + ".example.org/v1, kind: Sample, metadata: {name: a}, spec: {size: 1}}")
	for _, found := range i.diff(crd, namespace, inside, sample) {
		if found.Change != ChangeCreate || found.Err != nil {
			t.Errorf("%s: got %s, %v", found.ID, found.Change, found.Err)
		}
	}

	i.installs(Created, crd)
	i.established(crd)
	i.installs(Created, sample)
	crd = i.object(strings.ReplaceAll(strings.ReplaceAll(definition, "NS", i.namespace), "mode: {type: string}", "mode: {type: string}\n              added: {type: string}"))
	sample = i.object("{apiVersion: " + i.namespace + ".example.org/v1, kind: Sample, metadata: {name: a}, spec: {added: x}}")
	found := i.diff(crd, sample)
	if found[0].Change != ChangeUpdate || len(found[0].Fields) == 0 {
		t.Errorf("got %+v", found[0])
	}
	if found[1].Change != ChangeUpdate || found[1].Err != nil || !strings.Contains(found[1].Note, "definition") {
		t.Errorf("got %+v", found[1])
	}
	if alone := i.diff(sample); alone[0].Change != ChangeRefused {
		t.Errorf("got %+v", alone[0])
	}
}

func TestDiffOfAScaledWorkload(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	object := i.workload("Deployment")
	i.installs(Created, object)
	i.exists(i.marked(i.autoscaler("Deployment", "operator"), ""), "kubectl")
	i.scale(object, 5)
	i.foretells(i.release(object, "2.0.0"), ChangeUpdate,
		changed("spec.template.spec.containers[name=manager].image", "example.org/operator:1.0.0", "example.org/operator:2.0.0"))
	i.scale(object, 6)
	found := i.diff(i.release(object, "2.0.1"))
	if len(found[0].Fields) != 1 || !strings.Contains(found[0].Note, "autoscaler") {
		t.Errorf("got %+v", found[0])
	}
}

func TestDiffOfWhatIsPruned(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	goes, stays := i.configMap("goes"), i.keeping(i.configMap("stays"))
	i.install(goes, stays)
	never := inventory.Entry{ID: inventory.IDOf(i.configMap("never")), Version: "v1"}
	prune := []inventory.Entry{i.entry(stays), i.entry(goes), never}
	steps := newSteps(i.configMap("z"), i.configMap("a"))
	for range 3 {
		found := i.cluster.Diff(t.Context(), steps, prune, i.opts)
		var got []string
		for _, difference := range found {
			got = append(got, difference.ID.Name+" "+string(difference.Change))
		}
		if diff := cmp.Diff([]string{"z Create", "a Create", "stays Unchanged", "goes Delete", "never Unchanged"}, got); diff != "" {
			t.Error(diff)
		}
		if !strings.Contains(found[2].Note, AnnotationKeep) {
			t.Errorf("got %+v", found[2])
		}
	}
	if i.get(goes) == nil {
		t.Error("deleted")
	}
}
