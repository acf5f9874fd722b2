package apply

import (
	"errors"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

func TestConflictsOf(t *testing.T) {
	conflict := func(message, path string) metav1.StatusCause {
		return metav1.StatusCause{Type: metav1.CauseTypeFieldManagerConflict, Message: message, Field: path}
	}
	for _, test := range []struct {
		name string
		err  error
		want []FieldConflict
	}{
		{"nothing went wrong", nil, nil},
		{"something else went wrong", errors.New("x"), nil},
		{"the object changed meanwhile", status(http.StatusConflict, metav1.StatusReasonConflict, "modified"), nil},
		{"sorted by field and manager, each once", status(http.StatusConflict, metav1.StatusReasonConflict, "x",
			conflict(`conflict with "b" using v1 at 2026-01-01T00:00:00Z`, ".b"),
			conflict(`conflict with "b" using v1`, ".a"), conflict(`conflict with "a"`, ".a"), conflict(`conflict with "a" using v1`, ".a")),
			[]FieldConflict{{".a", "a"}, {".a", "b"}, {".b", "b"}}},
		{"a subresource is not part of the name", status(http.StatusConflict, metav1.StatusReasonConflict, "x",
			conflict(`conflict with "scaler" with subresource "scale" using autoscaling/v1`, replicasField)),
			[]FieldConflict{{replicasField, "scaler"}}},
		{"a name with quotes", status(http.StatusConflict, metav1.StatusReasonConflict, "x", conflict(`conflict with "a \"b\"" using v1`, ".a")),
			[]FieldConflict{{".a", `a "b"`}}},
		{"an unknown message", status(http.StatusConflict, metav1.StatusReasonConflict, "x", conflict(`somebody`, ".a")),
			[]FieldConflict{{".a", ""}}},
		{"keys identify, elements of sets are values", status(http.StatusConflict, metav1.StatusReasonConflict, "x",
			conflict(`conflict with "a"`, `.spec.containers[name="x"].env[name="y"].value`), conflict(`conflict with "a"`, `.set[="s3cr\"]et"].x[=7]`)),
			[]FieldConflict{{".set[=…].x[=…]", "a"}, {`.spec.containers[name="x"].env[name="y"].value`, "a"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, conflictsOf(test.err)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOverruledFieldsAreToldWithWhoSetThem(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	i.installs(Created, i.configMap("config", "a=1", "b=1", "c=1"))
	wants := func(outcome Outcome, want ...FieldConflict) {
		t.Helper()
		i.is(outcome, Updated, "")
		if diff := cmp.Diff(want, outcome.Overruled); diff != "" {
			t.Error(diff)
		}
	}

	i.edit(i.configMap("config"), "kubectl-edit", "{data: {a: theirs, b: theirs}}")
	wants(i.install(i.configMap("config", "a=2", "b=2", "c=2"))[0], FieldConflict{".data.a", "kubectl-edit"}, FieldConflict{".data.b", "kubectl-edit"})

	i.costs([]string{"patch configmaps"}, func() { wants(i.install(i.configMap("config", "a=3", "b=2", "c=3"))[0]) })

	i.edit(i.configMap("config"), "helm", "{data: {c: theirs, d: undeclared}}")
	wants(i.install(i.configMap("config", "a=4", "b=2", "c=4"))[0], FieldConflict{".data.c", "helm"})
	if live := i.get(i.configMap("config")); valueAt(live, "data") != "map[a:4 b:2 c:4 d:undeclared]" {
		t.Errorf("data is %s", valueAt(live, "data"))
	}
	i.rests(i.configMap("config", "a=4", "b=2", "c=4"))
}

func TestConflict_SameValueOfSomebodyElseIsNoConflict(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	i.installs(Created, i.configMap("config", "a=1"))
	i.installs(Updated, i.configMap("config", "a=2"))
	i.edit(i.configMap("config"), "kubectl-edit", "{data: {a: '3'}}")
	i.costs([]string{"patch configmaps"}, func() {
		if outcome := i.install(i.configMap("config", "a=3"))[0]; outcome.Overruled != nil {
			t.Errorf("overruled %v", outcome.Overruled)
		}
	})
}

// What a predecessor declared changes hands, so nothing of it is overruled; any other manager may wonder why its value does not last.
func TestAdoptionTellsWhatItOverrules(t *testing.T) {
	for _, test := range []struct {
		name, manager string
		want          []FieldConflict
		data          string
	}{
		{"the release of Helm is succeeded", "helm", nil, "map[a:ours]"},
		{"another installer is succeeded", "predecessor", nil, "map[a:ours]"},
		{"a user is overruled in what is declared, and keeps the rest", "a-user",
			[]FieldConflict{{".data.a", "a-user"}}, "map[a:ours b:theirs]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := onServer(t)
			f.opts.Predecessors = []string{"predecessor"}
			object := f.configMap("config", "a=ours")
			f.exists(f.marked(f.configMap("config", "a=theirs", "b=theirs"), ""), test.manager)
			outcome := f.cluster.Apply(t.Context(), newSteps(object), f.opts)[0]
			f.is(outcome, Adopted, "")
			if diff := cmp.Diff(test.want, outcome.Overruled); diff != "" {
				t.Error(diff)
			}
			if data := valueAt(f.get(object), "data"); data != test.data {
				t.Errorf("data is %s", data)
			}
		})
	}
}

// A user who changes what a predecessor declared is overruled, too.
func TestAdoptionTellsWhatItOverrulesOfAUserBesideThePredecessor(t *testing.T) {
	f := onServer(t)
	object := f.configMap("config", "a=ours", "b=ours")
	f.exists(f.marked(f.configMap("config", "a=theirs", "b=theirs"), ""), "helm")
	f.edit(object, "kubectl-edit", "{data: {a: edited}}")
	outcome := f.cluster.Apply(t.Context(), newSteps(object), f.opts)[0]
	f.is(outcome, Adopted, "")
	if diff := cmp.Diff([]FieldConflict{{".data.a", "kubectl-edit"}}, outcome.Overruled); diff != "" {
		t.Error(diff)
	}
}

// No stream shows that a recorded object now carries another owner's mark; the conflict about the mark does.
func TestMarkThatIsAnothersIsNotOverruledUnread(t *testing.T) {
	for _, test := range []struct {
		owner  string
		action Action
		class  Class
		data   string
		calls  []string
	}{
		{stranger, Refused, ClassOwnershipConflict, "map[a:2]", []string{"patch configmaps", "get configmaps"}},
		{sibling, Shared, "", "map[a:2]", []string{"patch configmaps", "get configmaps"}},
		{gone, Updated, "", "map[a:3]", []string{"patch configmaps", "get configmaps", "patch configmaps", "patch configmaps"}},
	} {
		t.Run(test.owner, func(t *testing.T) {
			i := &installation{fixture: onServer(t), blind: true}
			i.installs(Created, i.configMap("config", "a=1"))
			i.installs(Updated, i.configMap("config", "a=2"))
			i.edit(i.configMap("config"), "somebody", "{metadata: {annotations: {"+ownerKey+": "+test.owner+"}}}")
			i.costs(test.calls, func() { i.is(i.install(i.configMap("config", "a=3"))[0], test.action, test.class) })
			if data := valueAt(i.get(i.configMap("config")), "data"); data != test.data {
				t.Errorf("data is %s", data)
			}
		})
	}
}

func TestConflictBetweenTwoTriesIsNotRepeatedForEver(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	i.installs(Created, i.configMap("config", "a=1"))
	i.installs(Updated, i.configMap("config", "a=2"))
	i.before = func(request *http.Request) {
		if request.Method == http.MethodPatch {
			i.edit(i.configMap("config"), "fighter", "{data: {a: theirs}}")
		}
	}
	i.costs([]string{"patch configmaps", "patch configmaps"}, func() {
		outcome := i.install(i.configMap("config", "a=3"))[0]
		i.is(outcome, Updated, "")
		if diff := cmp.Diff([]FieldConflict{{".data.a", "fighter"}}, outcome.Overruled); diff != "" {
			t.Error(diff)
		}
	})
}

func FuzzConflictHidesElements(f *testing.F) {
	for _, seed := range []string{"s3cr3t-value", `a"]b`, `\`, `]`, "ü\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, secret string) {
		path := fieldpath.MakePathOrDie("spec", "set", value.NewValueInterface(secret), "x").String()
		if got := withoutElements(path); got != `.spec.set[=…].x` {
			t.Errorf("%q became %q", path, got)
		}
	})
}
