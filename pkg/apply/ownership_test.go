package apply

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

func TestJudge(t *testing.T) {
	relations := map[string]Relation{sibling: OwnerSibling, gone: OwnerGone, "self": OwnerSelf}
	everywhere := func(v verdict) map[Ownership]verdict {
		return map[Ownership]verdict{"": v, Prevent: v, AdoptIfUnowned: v, Adopt: v}
	}
	unowned := map[Ownership]verdict{"": refuse, Prevent: refuse, AdoptIfUnowned: adopt, Adopt: adopt}
	others := map[Ownership]verdict{"": refuse, Prevent: refuse, AdoptIfUnowned: refuse, Adopt: adopt}
	for _, test := range []struct {
		name     string
		owner    string
		recorded bool
		want     map[Ownership]verdict
		claim    string
	}{
		{"our mark is ours", mine, false, everywhere(own), ""},
		{"another spelling of our mark is ours", "self", false, everywhere(own), ""},
		{"a sibling's object is shared", sibling, false, everywhere(share), ""},
		{"a sibling's object is shared though it was recorded", sibling, true, everywhere(share), ""},
		{"an unmarked object is adopted unless prevented", "", false, unowned, ""},
		{"an object that we recorded is ours though its mark was removed", "", true, everywhere(own), ""},
		{"an object of an owner that is gone is adopted unless prevented", gone, false, unowned, ""},
		{"an object that we shared with an owner that is gone is ours", gone, true, everywhere(own), ""},
		{"a foreign owner's object is adopted only on demand", stranger, false, others, ""},
		{"an object that a foreign owner took from us is adopted only on demand", stranger, true, others, ""},
		{"an unmarked object that another installer claims is adopted only on demand", "", false, others, "another"},
		{"an object that another installer claims since we recorded it is adopted only on demand", "", true, others, "another"},
		{"an object of an owner that is gone and that another installer claims is adopted only on demand", gone, true, others, "another"},
		{"an object that we recorded is ours though another installer claims it, too", mine, true, everywhere(own), "another"},
		{"another installer's object that carries a mark of ours from before is adopted only on demand", mine, false, others, "another"},
		{"a sibling's object is shared though another installer claims it", sibling, false, everywhere(share), "another"},
	} {
		for ownership, want := range test.want {
			t.Run(test.name+"/"+string(ownership), func(t *testing.T) {
				opts := Options{Owner: mine, Ownership: ownership, Relation: func(owner string) Relation { return relations[owner] }}
				if got := judge(test.owner, test.claim, test.recorded, opts); got != want {
					t.Errorf("got %d, want %d", got, want)
				}
			})
		}
	}
}

func TestJudgeWithoutRelationsTakesEveryOwnerForAStranger(t *testing.T) {
	opts := Options{Owner: mine, Ownership: AdoptIfUnowned}
	if got := judge(sibling, "", false, opts); got != refuse {
		t.Errorf("got %d", got)
	}
}

func TestObjectThatExists(t *testing.T) {
	f := onServer(t)
	read := []string{"create configmaps", "get configmaps"}
	written := []string{"create configmaps", "get configmaps", "patch configmaps"}
	overruled := append([]string{"patch configmaps"}, written...) // the mark is a user's
	for _, test := range []struct {
		owner     string
		ownership Ownership
		action    Action
		class     Class
		calls     []string
		data      string
	}{
		{"", Prevent, Refused, ClassOwnershipConflict, read, "map[theirs:1]"},
		{"", AdoptIfUnowned, Adopted, "", written, "map[ours:1 theirs:1]"},
		{"", Adopt, Adopted, "", written, "map[ours:1 theirs:1]"},
		{stranger, Prevent, Refused, ClassOwnershipConflict, read, "map[theirs:1]"},
		{stranger, AdoptIfUnowned, Refused, ClassOwnershipConflict, read, "map[theirs:1]"},
		{stranger, Adopt, Adopted, "", overruled, "map[ours:1 theirs:1]"},
		{sibling, Prevent, Shared, "", read, "map[theirs:1]"},
		{sibling, AdoptIfUnowned, Shared, "", read, "map[theirs:1]"},
		{sibling, Adopt, Shared, "", read, "map[theirs:1]"},
		{gone, Prevent, Refused, ClassOwnershipConflict, read, "map[theirs:1]"},
		{gone, AdoptIfUnowned, Adopted, "", overruled, "map[ours:1 theirs:1]"},
		{gone, Adopt, Adopted, "", overruled, "map[ours:1 theirs:1]"},
	} {
		t.Run(fmt.Sprintf("of %q with %s", test.owner, test.ownership), func(t *testing.T) {
			f.T = t
			name := strings.ToLower(fmt.Sprintf("%s-%s", strings.ReplaceAll(test.owner, "/", "-"), test.ownership)) + "-x"
			name = strings.TrimPrefix(name, "-")
			theirs := f.exists(f.marked(f.configMap(name, "theirs=1"), test.owner), "somebody")
			f.opts.Ownership = test.ownership
			f.costs(append([]string{}, test.calls...), func() {
				outcome := f.cluster.Apply(t.Context(), newSteps(f.configMap(name, "ours=1")), f.opts)[0]
				f.is(outcome, test.action, test.class)
				if outcome.Err == nil && (outcome.UID != theirs.GetUID() || outcome.Fields != f.live(theirs).Fields) {
					t.Errorf("outcome %+v is not of the live object", outcome)
				}
				if outcome.Err != nil && test.owner != "" && !strings.Contains(outcome.Err.Error(), test.owner) {
					t.Errorf("the error does not name the owner: %v", outcome.Err)
				}
			})
			owner := test.owner
			if test.action == Adopted {
				owner = mine
			}
			if live := f.get(theirs); valueAt(live, "data") != test.data || live.GetAnnotations()[ownerKey] != owner {
				t.Errorf("left as %s of %q", valueAt(live, "data"), live.GetAnnotations()[ownerKey])
			}
		})
	}
}

func TestAdoptionFollowsWhatKubectlApplyDeclared(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	i.exists(i.marked(i.configMap("config", "kept=1", "dropped=1"), ""), kubectlApply)
	i.edit(i.configMap("config"), "kubectl-edit", "{data: {users: x}}")
	i.costs([]string{"create configmaps", "get configmaps", "patch configmaps", "patch configmaps"}, func() {
		if live := i.installs(Adopted, i.configMap("config", "kept=1")); valueAt(live, "data") != "map[kept:1 users:x]" {
			t.Errorf("data is %s", valueAt(live, "data"))
		}
	})
	i.rests(i.configMap("config", "kept=1"))
}

func TestKubectlApplyOnOurObjectIsAUsersAddition(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	i.installs(Created, i.configMap("config", "a=1"))
	i.edit(i.configMap("config"), kubectlApply, "{data: {users: x}}")
	if live := i.installs(Updated, i.configMap("config", "a=2")); valueAt(live, "data") != "map[a:2 users:x]" {
		t.Errorf("data is %s", valueAt(live, "data"))
	}
}

func TestReplacedObjectIsJudged(t *testing.T) {
	for _, test := range []struct {
		name   string
		blind  bool
		owner  string
		action Action
		class  Class
		calls  []string
	}{
		{"a foreign owner's is refused", false, stranger, Refused, ClassOwnershipConflict, []string{"get configmaps"}},
		{"a foreign owner's is noticed by its UID alone", true, stranger, Refused, ClassOwnershipConflict,
			[]string{"patch configmaps", "get configmaps"}},
		{"an unmarked one is adopted", true, "", Adopted, "", []string{"patch configmaps", "get configmaps", "patch configmaps"}},
		{"one with our mark is ours", false, mine, Updated, "", []string{"get configmaps", "patch configmaps"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			i := &installation{fixture: onServer(t)}
			i.installs(Created, i.configMap("config", "a=1"))
			i.installs(Updated, i.configMap("config", "a=2"))
			i.remove(i.configMap("config"))
			i.exists(i.marked(i.configMap("config", "theirs=1"), test.owner), "somebody")
			i.blind = test.blind
			i.costs(test.calls, func() { i.is(i.install(i.configMap("config", "a=3"))[0], test.action, test.class) })
			if live := i.get(i.configMap("config")); test.class != "" && valueAt(live, "data") != "map[theirs:1]" {
				t.Errorf("left as %s", valueAt(live, "data"))
			}
		})
	}
}

func TestSharedObjectStaysASiblings(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	theirs := i.exists(i.marked(i.configMap("config", "a=theirs"), sibling), manager)
	i.opts.Live = func(inventory.ID) inventory.Live { return i.live(theirs) }
	ours := i.configMap("config", "a=ours")
	i.installs(Shared, ours)
	i.rests(ours)

	// The sibling drops a field, and so moves the fields of the manager that we share with it.
	i.edit(theirs, manager, "{data: {b: more}}")
	i.costs([]string{"get configmaps"}, func() { i.installs(Shared, ours) })
	i.rests(ours)
	if live := i.get(theirs); valueAt(live, "data", "a") != "theirs" || live.GetAnnotations()[ownerKey] != sibling {
		t.Errorf("a shared object was taken: %s", valueAt(live, "data"))
	}
}

func TestRemovedMarkOfOurObjectComesBack(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	object := i.configMap("config", "a=1")
	i.opts.Ownership = Prevent
	i.opts.Live = func(inventory.ID) inventory.Live { return i.live(object) }
	i.installs(Created, object)
	i.edit(object, "kubectl-edit", "{metadata: {annotations: {"+ownerKey+": null}}}")
	if live := i.installs(Updated, object); live.GetAnnotations()[ownerKey] != mine {
		t.Errorf("annotations %v", live.GetAnnotations())
	}
	i.rests(object)
}
