package hooks_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/hooks"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// everywhere has one hook for each event, and two for pre-upgrade.
var everywhere = setOf("Job a pre-install,post-install,pre-upgrade,post-upgrade,pre-rollback,post-rollback,pre-delete,post-delete",
	"Job b pre-upgrade")

func TestSet_Begin(t *testing.T) {
	at := func(release string, event hooks.Event, done, total int) *hooks.Progress {
		return &hooks.Progress{Release: release, Revision: 4, Event: event, Done: done, Total: total, OnDelete: true}
	}
	next := func(event hooks.Event, total int) *hooks.Progress {
		return &hooks.Progress{Release: "new", Revision: 5, Event: event, Total: total, OnDelete: true}
	}
	installed, goesBack := hooks.Situation{Installed: true}, hooks.Situation{GoesBack: true}
	for name, test := range map[string]struct {
		set   hooks.Set
		known *hooks.Progress
		now   hooks.Situation
		want  *hooks.Progress
	}{
		"a chart without hooks has no progress": {nil, at("old", hooks.PostInstall, 1, 1), hooks.Situation{}, nil},
		"a first release is installed": {
			everywhere, nil, hooks.Situation{}, &hooks.Progress{Release: "new", Revision: 1, Event: hooks.PreInstall, Total: 1, OnDelete: true},
		},
		"a chart that gets its first hook is upgraded": {
			everywhere, nil, installed, &hooks.Progress{Release: "new", Revision: 1, Event: hooks.PreUpgrade, Total: 2, OnDelete: true},
		},
		"the same release goes on where it is": {
			everywhere, at("new", hooks.PreUpgrade, 1, 2), goesBack, at("new", hooks.PreUpgrade, 1, 2),
		},
		"another release of an installation that is not complete is installed": {
			everywhere, at("old", hooks.PostInstall, 0, 1), goesBack, next(hooks.PreInstall, 1),
		},
		"another release of a complete installation is an upgrade": {
			everywhere, at("old", hooks.PostInstall, 1, 1), hooks.Situation{}, next(hooks.PreUpgrade, 2),
		},
		"another release in the middle of an upgrade is an upgrade": {
			everywhere, at("old", hooks.PreUpgrade, 1, 2), hooks.Situation{}, next(hooks.PreUpgrade, 2),
		},
		"an earlier release is a rollback": {everywhere, at("old", hooks.PostUpgrade, 0, 1), goesBack, next(hooks.PreRollback, 1)},
		"another release during a removal begins with the hooks of its event": {
			everywhere, at("old", hooks.PostDelete, 1, 1), hooks.Situation{}, next(hooks.PostDelete, 1),
		},
		"an event without hooks is passed over": {
			setOf("Job a post-install"), nil, hooks.Situation{}, &hooks.Progress{Release: "new", Revision: 1, Event: hooks.PostInstall, Total: 1},
		},
		"an installation without hooks for it is complete": {
			setOf("Job a pre-upgrade"), nil, hooks.Situation{}, &hooks.Progress{Release: "new", Revision: 1, Event: hooks.PostInstall},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, test.set.Begin(test.known, "new", test.now)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSet_Advance(t *testing.T) {
	progress := *everywhere.Begin(nil, "new", hooks.Situation{Installed: true})
	for _, step := range []struct {
		next             string
		blocks, complete bool
	}{{"a", true, false}, {"b", true, false}, {"a", false, false}, {"", false, true}} {
		hook, more := everywhere.Next(progress)
		if more != (step.next != "") || more && hook.Object.GetName() != step.next {
			t.Errorf("%+v: next %v, want %s", progress, hook, step.next)
		}
		if progress.Blocks() != step.blocks || progress.Complete() != step.complete {
			t.Errorf("%+v: blocks %t, complete %t", progress, progress.Blocks(), progress.Complete())
		}
		if more {
			progress = everywhere.Advance(progress)
		}
	}
	progress = everywhere.Remove(progress)
	if progress.Event != hooks.PreDelete || progress.Done != 0 || !progress.Blocks() {
		t.Errorf("the removal begins with %+v", progress)
	}
	if again := everywhere.Remove(everywhere.Advance(progress)); again.Event != hooks.PostDelete || again.Ticket() != "post-delete/1-new" {
		t.Errorf("the removal goes on with %+v", again)
	}
}

func TestSet_Plan(t *testing.T) {
	set := setOf("ServiceAccount a pre-install,post-install -1", "Job b pre-install,post-install", "Job c post-install")
	progress := *set.Begin(nil, "new", hooks.Situation{})
	account, job := set[0].ID(), set[1].ID()
	stale := inventory.Entry{ID: account, Version: "v1", UID: "1", Hash: "pre-upgrade/1-old"}.AsHook()
	planned, news := set.Plan(progress, []inventory.Entry{stale})
	want := []inventory.Entry{
		inventory.Entry{ID: account, Version: "v1", UID: "1"}.AsHook(), inventory.Entry{ID: job, Version: "v1"}.AsHook(),
	}
	if diff := cmp.Diff(want, planned); diff != "" || !news {
		t.Errorf("news %t, planned (-want +got):\n%s", news, diff)
	}
	if again, news := set.Plan(progress, planned); news || len(again) != 2 {
		t.Errorf("news %t: %v", news, again)
	}
	ordinary := inventory.Entry{ID: job, Version: "v1", UID: "2", Hash: "0123456789abcdef", Fields: "a:x"}
	if planned, news = set.Plan(progress, []inventory.Entry{want[0], ordinary}); !news || !planned[1].IsHook() || planned[1].Hash != "" {
		t.Errorf("what was an ordinary object is planned as %+v", planned)
	}
}

func TestSet_Leftover(t *testing.T) {
	set := setOf("ServiceAccount a pre-upgrade - hook-succeeded", "Job b post-upgrade - before-hook-creation,hook-succeeded", "Job c pre-upgrade")
	after := hooks.Progress{Release: "r", Revision: 2, Event: hooks.PostUpgrade, Total: 1}
	complete := set.Advance(after)
	entry := func(at int, hash string) inventory.Entry {
		return inventory.Entry{ID: set[at].ID(), Version: "v1", Hash: hash}.AsHook()
	}
	for name, test := range map[string]struct {
		progress hooks.Progress
		recorded inventory.Entry
		want     bool
	}{
		"what has the policy goes when its event is over":      {after, entry(0, "pre-upgrade/2-r"), true},
		"what has no policy stays":                             {complete, entry(2, "pre-upgrade/2-r"), false},
		"what is under way stays":                              {after, entry(1, "post-upgrade/2-r"), false},
		"and goes when the release is complete":                {complete, entry(1, "post-upgrade/2-r"), true},
		"what an earlier release has left stays as it was":     {complete, entry(0, "pre-upgrade/1-q"), false},
		"what is planned stays while it may be written":        {after, entry(1, ""), false},
		"what was planned and never came goes at the end":      {complete, entry(2, ""), true},
		"an object that is no hook is no business of this one": {complete, inventory.Entry{ID: set[2].ID(), Version: "v1"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := set.Leftover(test.progress, []inventory.Entry{test.recorded}); (len(got) == 1) != test.want {
				t.Errorf("leftover %v, want it %t", got, test.want)
			}
		})
	}
}

func TestReleaseOf(t *testing.T) {
	one, two := hook("Job a pre-install"), hook("Job b pre-install")
	release := hooks.ReleaseOf("n", []*unstructured.Unstructured{one, two})
	if len(release) != 16 || hooks.ReleaseOf("n", []*unstructured.Unstructured{two, one}) != release {
		t.Errorf("release %q depends on the order", release)
	}
	if hooks.ReleaseOf("m", []*unstructured.Unstructured{one, two}) == release || hooks.ReleaseOf("n", []*unstructured.Unstructured{one}) == release {
		t.Error("another namespace or other objects are the same release")
	}
}
