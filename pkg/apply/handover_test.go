package apply

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// otherMark is the annotation of an installer that marks objects in another way.
const otherMark = "example.com/installed-by"

// claims makes objects with otherMark those of another installer.
func (f *fixture) claims() {
	f.opts.Claim = func(object *unstructured.Unstructured) string { return object.GetAnnotations()[otherMark] }
}

// applied is what another installer has brought by server-side apply.
func (f *fixture) applied(object *unstructured.Unstructured, by string) *unstructured.Unstructured {
	f.Helper()
	live, err := f.theirs(object).Apply(f.Context(), object.GetName(), object, metav1.ApplyOptions{FieldManager: by})
	f.must(err)
	return live
}

func managersOf(object *unstructured.Unstructured) []string {
	var names []string
	for _, entry := range object.GetManagedFields() {
		if entry.Subresource == "" {
			names = append(names, entry.Manager)
		}
	}
	slices.Sort(names)
	return names
}

func TestAdoption_SucceedsTheInstallerBefore(t *testing.T) {
	for _, test := range []struct {
		manager      string
		apply        bool
		predecessors []string
		data         string
	}{
		{"kubectl-client-side-apply", false, nil, "map[kept:1]"},
		{"kubectl-create", false, nil, "map[kept:1]"},
		{"kubectl", true, nil, "map[kept:1]"},
		{"helm", false, nil, "map[kept:1]"},
		{"helm", true, nil, "map[kept:1]"},
		{"another-installer", true, []string{"another-installer"}, "map[kept:1]"},
		{"another-installer", false, []string{"another-installer"}, "map[kept:1]"},
		{"a-user", true, []string{"another-installer"}, "map[dropped:1 kept:1]"},
	} {
		name := test.manager + " by update"
		if test.apply {
			name = test.manager + " by apply"
		}
		t.Run(name, func(t *testing.T) {
			i := &installation{fixture: onServer(t)}
			i.opts.Predecessors = test.predecessors
			before := i.marked(i.configMap("config", "kept=1", "dropped=1"), "")
			var was *unstructured.Unstructured
			if test.apply {
				was = i.applied(before, test.manager)
			} else {
				was = i.exists(before, test.manager)
			}
			found := i.diff(i.configMap("config", "kept=1"))
			if found[0].Change != ChangeUpdate || found[0].Note == "" {
				t.Errorf("the preview says %+v", found[0])
			}
			live := i.installs(Adopted, i.configMap("config", "kept=1"))
			if valueAt(live, "data") != test.data || live.GetUID() != was.GetUID() {
				t.Errorf("left as %s", valueAt(live, "data"))
			}
			shown := slices.ContainsFunc(found[0].Fields, func(field FieldDiff) bool { return field.Path == "data.dropped" })
			if shown != (test.data == "map[kept:1]") {
				t.Errorf("the preview shows %v, and %s is left", found[0].Fields, valueAt(live, "data"))
			}
			if slices.Contains(managersOf(live), test.manager) == (test.data == "map[kept:1]") {
				t.Errorf("the fields are those of %v", managersOf(live))
			}
			i.rests(i.configMap("config", "kept=1"))
		})
	}
}

func TestAdoption_NamesTheReleaseOfHelm(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	released := i.marked(i.configMap("config", "a=1"), "")
	released.SetAnnotations(map[string]string{annotationHelmName: "web", annotationHelmNamespace: "prod"})
	i.exists(released, "helm")
	found := i.diff(i.configMap("config", "a=1"))
	if !strings.Contains(found[0].Note, `"web"`) || !strings.Contains(found[0].Note, `"prod"`) {
		t.Errorf("the preview says %q", found[0].Note)
	}
	if live := i.installs(Adopted, i.configMap("config", "a=1")); live.GetAnnotations()[annotationHelmName] != "" {
		t.Errorf("annotations %v", live.GetAnnotations())
	}
}

func TestClaim_RefusesUntilTheInstallerLetsGo(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	i.claims()
	i.opts.Predecessors = []string{"another-installer"}
	theirs := i.marked(i.configMap("config", "a=1"), "")
	theirs.SetAnnotations(map[string]string{otherMark: "them"})
	was := i.applied(theirs, "another-installer")
	i.costs([]string{"create configmaps", "get configmaps"}, func() {
		outcome := i.install(i.configMap("config", "a=2"))[0]
		i.is(outcome, Refused, ClassOwnershipConflict)
		if !strings.Contains(outcome.Err.Error(), "belongs to them") {
			t.Error(outcome.Err)
		}
	})
	if live := i.get(theirs); live.GetResourceVersion() != was.GetResourceVersion() {
		t.Error("it was written")
	}

	other := i.opts
	other.OwnerKey, other.Owner, other.Manager, other.Claim = otherMark, "them", "another-installer", nil
	entry := inventory.Entry{ID: inventory.IDOf(theirs), Version: "v1", UID: was.GetUID()}
	for range 2 { // once more, as after a crash
		if outcome := i.cluster.Disown(t.Context(), []inventory.Entry{entry}, other)[0]; outcome.Action != Kept || outcome.Err != nil {
			t.Fatalf("%+v", outcome)
		}
	}
	live := i.installs(Adopted, i.configMap("config", "a=2"))
	if live.GetUID() != was.GetUID() || live.GetAnnotations()[otherMark] != "" || slices.Contains(managersOf(live), "another-installer") {
		t.Errorf("annotations %v, managers %v", live.GetAnnotations(), managersOf(live))
	}
	if outcome := i.cluster.Disown(t.Context(), []inventory.Entry{entry}, other)[0]; outcome.Action != Kept {
		t.Errorf("%+v", outcome)
	}
	if live.GetResourceVersion() != i.get(theirs).GetResourceVersion() {
		t.Error("what belongs to another owner was written")
	}
}

// Two installers that mark objects by different keys see the same object without an owner: only one of them gets it.
func TestAdoption_IsOfTheObjectThatWasSeenWithoutAnOwner(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	i.claims()
	object := i.configMap("config", "a=1")
	i.exists(i.marked(object, ""), "a-user")
	interfered := false
	i.before = func(request *http.Request) {
		if request.Method == http.MethodPatch && !interfered {
			interfered = true
			i.edit(object, "another-installer", "{metadata: {annotations: {"+otherMark+": them}}}")
		}
	}
	i.is(i.install(object)[0], Refused, ClassOwnershipConflict)
	if live := i.get(object); live.GetAnnotations()[ownerKey] != "" || !interfered {
		t.Errorf("annotations %v", live.GetAnnotations())
	}
}

func TestClaim_TakesOverOnDemand(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	i.claims()
	i.opts.Predecessors, i.opts.Ownership = []string{"another-installer"}, Adopt
	theirs := i.marked(i.configMap("config", "a=1"), "")
	theirs.SetAnnotations(map[string]string{otherMark: "them"})
	i.applied(theirs, "another-installer")
	if live := i.installs(Adopted, i.configMap("config", "a=2")); live.GetAnnotations()[otherMark] != "" {
		t.Errorf("annotations %v", live.GetAnnotations())
	}
}

func TestClaim_KeepsWhatIsDeleted(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	object := i.configMap("config", "a=1")
	i.installs(Created, object)
	i.edit(object, "another-installer", "{metadata: {annotations: {"+otherMark+": them}}}")
	i.claims()
	i.opts.Kept = nil
	outcome := i.cluster.Delete(t.Context(), []inventory.Entry{i.entry(object)}, nil, i.opts)[0]
	if outcome.Action != Kept || !strings.Contains(outcome.Note, "them") || i.get(object) == nil {
		t.Errorf("%+v", outcome)
	}
}

func TestDisown_HandsOverToTheSuccessor(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	object := i.configMap("config", "a=1")
	was := i.installs(Created, object)
	i.opts.Successor = func(inventory.ID) string { return sibling }
	outcome := i.cluster.Disown(t.Context(), []inventory.Entry{i.entry(object)}, i.opts)[0]
	live := i.get(object)
	if outcome.Successor != sibling || live.GetAnnotations()[ownerKey] != sibling || live.GetUID() != was.GetUID() {
		t.Errorf("%+v, annotations %v", outcome, live.GetAnnotations())
	}
}

func TestDisown_PassesOverWhatIsGone(t *testing.T) {
	f := onServer(t)
	entry := inventory.Entry{ID: inventory.IDOf(f.configMap("config")), Version: "v1"}
	f.costs([]string{"get configmaps"}, func() {
		if outcome := f.cluster.Disown(t.Context(), []inventory.Entry{entry}, f.opts)[0]; outcome.Action != Gone {
			t.Errorf("%+v", outcome)
		}
	})
}
