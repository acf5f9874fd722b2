package remotesync

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

const kind = "ModuleTemplate"

func templates(t *testing.T, prefix string, n int) []DesiredObject {
	t.Helper()
	copies := make([]DesiredObject, 0, n)
	for i := range n {
		copies = append(copies, template(t, fmt.Sprintf("%s-%d", prefix, i)))
	}
	return copies
}

func ensure(t *testing.T, m *Syncer, c *cluster, copies ...DesiredObject) {
	t.Helper()
	outcome, err := m.Ensure(t.Context(), c, copies)
	if err != nil || !outcome.Synced() {
		t.Fatalf("not synced: %+v, %v", outcome, err)
	}
}

func TestEnsure_CallsOnlyForChangedCopies(t *testing.T) {
	m := &Syncer{}
	c := prepared(t, m)
	few, many := templates(t, "few", 2), templates(t, "many", 6)
	all := append(append([]DesiredObject{}, few...), many...)
	t.Cleanup(func() { c.delete(all...) })
	restarted := &Syncer{}

	for _, step := range []struct {
		name   string
		before func()
		mirror *Syncer
		copies []DesiredObject
		want   string
	}{
		{"what is known not to exist is made unread", func() { c.see(kind) }, m, few, "2 create moduletemplates.operator.kyma-project.io"},
		{"the second time costs nothing", nil, m, few, ""},
		{"the stream's echo costs nothing", func() { c.see(kind) }, m, few, ""},
		{"many at once", nil, m, all, "6 create moduletemplates.operator.kyma-project.io"},
		{"an edit of another user is read and put back", func() {
			c.edit(few[0], `{"spec":{"version":"9.9.9"}}`)
			c.see(kind)
		}, m, all, "1 get moduletemplates.operator.kyma-project.io, 1 patch moduletemplates.operator.kyma-project.io"},
		{"and that was all", nil, m, all, ""},
		{"what a user added to the content is taken out, too", func() {
			c.edit(few[0], `{"spec":{"requiresDowntime":true,"data":{"spec":{"more":"x"}}}}`)
			c.see(kind)
		}, m, all, "1 get moduletemplates.operator.kyma-project.io, 2 patch moduletemplates.operator.kyma-project.io"},
		{"and that was all again", func() { c.see(kind) }, m, all, ""},
		{"a label of another user stays and costs one look", func() {
			c.edit(few[0], `{"metadata":{"labels":{"mine":"too"}}}`)
			c.see(kind)
		}, m, all, "1 get moduletemplates.operator.kyma-project.io"},
		{"a label of ours is put back", func() {
			c.edit(few[0], `{"metadata":{"labels":{"operator.kyma-project.io/beta":null},"annotations":{"doc":"other"}}}`)
			c.see(kind)
		}, m, all, "1 get moduletemplates.operator.kyma-project.io, 1 patch moduletemplates.operator.kyma-project.io"},
		{"what was deleted is made again", func() {
			c.delete(few[1])
			c.see(kind)
		}, m, all, "1 create moduletemplates.operator.kyma-project.io"},
		{"after a restart few are read one by one", nil, restarted, few, "2 get moduletemplates.operator.kyma-project.io"},
		{"and many by one list", nil, restarted, all, "1 list moduletemplates.operator.kyma-project.io"},
		{"which is remembered", nil, restarted, all, ""},
	} {
		if step.before != nil {
			step.before()
		}
		got := c.costs(func() { ensure(t, step.mirror, c, step.copies...) })
		if got != step.want {
			t.Errorf("%s: called %q, want %q", step.name, got, step.want)
		}
		for _, one := range step.copies {
			if live := c.get(one); !same(one.Object, live) {
				t.Errorf("%s: %s is not as wanted: %v", step.name, one.Object.GetName(), live.Object)
			}
		}
	}
	live := c.get(few[0])
	if live.GetLabels()["mine"] != "too" {
		t.Error("the label of another user is gone")
	}
	if _, found, _ := unstructured.NestedFieldNoCopy(live.Object, "spec", "requiresDowntime"); found {
		t.Error("what a user added to the content is still there")
	}
}

func TestEnsure_WritesChangedContent(t *testing.T) {
	m := &Syncer{}
	c := prepared(t, m)
	first := template(t, "changed")
	t.Cleanup(func() { c.delete(first) })
	ensure(t, m, c, first)
	second := template(t, "changed", func(spec map[string]any) {
		spec["version"] = "2.0.0"
		delete(spec, "data")
	})
	cost := c.costs(func() { ensure(t, m, c, second) })
	// one more to take out what the create still owns
	if want := "1 get moduletemplates.operator.kyma-project.io, 2 patch moduletemplates.operator.kyma-project.io"; cost != want {
		t.Errorf("called %q, want %q", cost, want)
	}
	if live := c.get(second); !same(second.Object, live) {
		t.Errorf("a field that was dropped is still there: %v", live.Object["spec"])
	}
}

func TestEnsure_TakesOverUpstreamsObjectsByReadsOnly(t *testing.T) {
	m := &Syncer{}
	c := prepared(t, m)
	namespaceCopy, definitions, entries := namespace(t), RuntimeCRDs(), templates(t, "upstream", 3)
	t.Cleanup(func() { c.delete(entries...) })
	all := append(append([]DesiredObject{namespaceCopy}, definitions...), entries...)
	force := true
	for _, one := range all { // by the same field managers, as upstream does
		data, err := json.Marshal(one.Object)
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.at(one.Object.GetKind(), one.Object.GetNamespace()).Patch(t.Context(), one.Object.GetName(), types.ApplyPatchType, data,
			metav1.PatchOptions{FieldManager: one.Manager, Force: &force})
		if err != nil {
			t.Fatal(err)
		}
	}
	fresh := connect(t)
	cost := fresh.costs(func() { ensure(t, &Syncer{}, fresh, all...) })
	want := "3 get customresourcedefinitions.apiextensions.k8s.io, 3 get moduletemplates.operator.kyma-project.io, 1 get namespaces"
	if cost != want {
		t.Errorf("called %q, want %q", cost, want)
	}
}

func TestEnsure_ComparesSecrets(t *testing.T) {
	m := &Syncer{}
	c := prepared(t, m)
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "data": map[string]any{"a": "YQ=="},
	}}
	object.SetNamespace(v1beta2.RuntimeNamespace)
	object.SetName("pull")
	object.SetLabels(map[string]string{v1beta2.LabelManagedBy: v1beta2.ManagedByKyma})
	secret := made(t, object, v1beta2.FieldManagerHub)
	t.Cleanup(func() { c.delete(secret) })
	ensure(t, m, c, secret)
	c.edit(secret, `{"data":{"a":"Yg==","b":"Yg=="}}`)
	c.see("Secret")
	ensure(t, m, c, secret)
	if live := c.get(secret); !same(secret.Object, live) {
		t.Errorf("the data are %v", live.Object["data"])
	}
}

func TestEnsure_ContinuesAfterAFailure(t *testing.T) {
	m := &Syncer{}
	c := prepared(t, m)
	good, bad := template(t, "good"), template(t, "bad", func(spec map[string]any) { spec["version"] = "no version" })
	unknown := made(t, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "a/v1", "kind": "Unknown", "metadata": map[string]any{"name": "u"},
	}}, "m")
	t.Cleanup(func() { c.delete(good) })
	outcome, err := m.Ensure(t.Context(), c, []DesiredObject{bad, unknown, good})
	told, typed := errors.AsType[*apply.Error](err)
	if !typed || told.Class != apply.ClassRefused || !strings.Contains(err.Error(), "bad") || strings.Contains(err.Error(), "no version") {
		t.Errorf("error is %v", err)
	}
	if outcome.Pending == nil || outcome.Pending.Class != apply.ClassKindUnknown || outcome.Written != 1 {
		t.Errorf("outcome is %+v", outcome)
	}
	if len(c.reported) != 2 {
		t.Errorf("the connection heard of %v", c.reported)
	}
	c.get(good)
}

func TestEnsure_LeavesDeletingObjectsAlone(t *testing.T) {
	m := &Syncer{}
	c := prepared(t, m)
	held := template(t, "held")
	ensure(t, m, c, held)
	c.edit(held, `{"metadata":{"finalizers":["example.com/held"]}}`)
	if err := c.at(kind, v1beta2.RuntimeNamespace).Delete(t.Context(), "held", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	c.see(kind)
	outcome, err := m.Ensure(t.Context(), c, []DesiredObject{held})
	if err != nil || outcome.Synced() || outcome.Written != 0 {
		t.Errorf("got %+v, %v", outcome, err)
	}
	c.edit(held, `{"metadata":{"finalizers":null}}`)
	c.see(kind)
	ensure(t, m, c, held)
	c.delete(held)
}

func TestEnsure_CreatesNothingOfADeletingKind(t *testing.T) {
	mirror := &Syncer{}
	c := prepared(t, mirror)
	definition := RuntimeCRDs()[1]
	there := func(one DesiredObject) *unstructured.Unstructured {
		live, err := get(t.Context(), c.at(one.Object.GetKind(), one.Object.GetNamespace()), one.Object.GetName())
		if err != nil {
			t.Fatal(err)
		}
		return live
	}
	held, wanted := template(t, "held"), template(t, "wanted")
	ensure(t, mirror, c, held)
	c.edit(held, `{"metadata": {"finalizers": ["example.com/hold"]}}`)
	if err := c.at("CustomResourceDefinition", "").Delete(t.Context(), definition.Object.GetName(), metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	until(t, "the definition is going", func() error {
		conditions, _, _ := unstructured.NestedSlice(c.get(definition).Object, "status", "conditions")
		for _, one := range conditions {
			if fields := one.(map[string]any); fields["type"] == "Terminating" && fields["status"] == "True" {
				return nil
			}
		}
		return errors.New("it is not")
	})
	c.see("ModuleTemplate")
	outcome, err := mirror.Ensure(t.Context(), c, []DesiredObject{wanted})
	if err != nil || outcome.Pending == nil || !strings.Contains(outcome.Pending.Message, "is being deleted") {
		t.Errorf("got %+v and %v, want that it waits", outcome, err)
	}
	if there(wanted) != nil {
		t.Error("it was made, and keeps its definition from going")
	}
	c.edit(held, `{"metadata": {"finalizers": null}}`)
	until(t, "the definition is gone", func() error {
		if there(definition) != nil {
			return errors.New("it is there")
		}
		return nil
	})
}

func TestEnsure_SlowsDownForObjectsThatOthersKeepChanging(t *testing.T) {
	m := &Syncer{}
	c := prepared(t, m)
	one := template(t, "fought")
	t.Cleanup(func() { c.delete(one) })
	ensure(t, m, c, one)
	change := func() {
		c.edit(one, `{"spec":{"version":"9.9.9"}}`)
		c.see(kind)
	}
	for range freePutBacks + 1 {
		change()
		ensure(t, m, c, one)
	}
	change()
	mem, id := m.of(c), inventory.IDOf(one.Object)
	mem.mutex.Lock()
	fight := mem.putBacks[id]
	fight.last = time.Now() // however long the machine took since
	mem.putBacks[id] = fight
	mem.mutex.Unlock()
	var outcome Outcome
	var err error
	cost := c.costs(func() { outcome, err = m.Ensure(t.Context(), c, []DesiredObject{one}) })
	if cost != "" || err != nil || outcome.Synced() || outcome.RetryAfter <= 0 || outcome.RetryAfter > firstConflictDelay {
		t.Errorf("called %q, got %+v, %v", cost, outcome, err)
	}
	ensure(t, m, c, template(t, "fought", func(spec map[string]any) { spec["version"] = "2.0.0" })) // other content does not wait
	for count, want := range map[int]time.Duration{freePutBacks + 1: time.Second, freePutBacks + 3: 4 * time.Second, 99: maxConflictDelay} {
		if got := pauseAfter(count); got != want {
			t.Errorf("the pause after %d times is %s, want %s", count, got, want)
		}
	}
}

func TestPrune_DeletesOnlyWhatItsManagerWrote(t *testing.T) {
	m := &Syncer{}
	c := prepared(t, m)
	ours := templates(t, "prune", 3)
	other := template(t, "other")
	other.Manager = "somebody"
	t.Cleanup(func() { c.delete(append(ours, other)...) })
	ensure(t, m, c, append(ours, other)...)
	keep := sets.New(inventory.IDOf(ours[0].Object))
	gvk := v1beta2.GroupVersion.WithKind(kind)

	outcome, err := m.Prune(t.Context(), c, gvk, keep, v1beta2.FieldManagerCatalog)
	if err != nil || outcome.Synced() || outcome.Written != 0 {
		t.Errorf("pruned before the kind was listed: %+v, %v", outcome, err)
	}
	c.see(kind)
	prune := func() {
		if outcome, err = m.Prune(t.Context(), c, gvk, keep, v1beta2.FieldManagerCatalog); err != nil || !outcome.Synced() {
			t.Errorf("got %+v, %v", outcome, err)
		}
	}
	if cost, want := c.costs(prune),
		"2 delete moduletemplates.operator.kyma-project.io, 3 get moduletemplates.operator.kyma-project.io"; cost != want {
		t.Errorf("called %q, want %q", cost, want)
	}
	for _, when := range []string{"before the streams tell", "after that"} {
		if cost := c.costs(prune); cost != "" {
			t.Errorf("%s: called %q", when, cost)
		}
		c.see(kind)
	}
	c.get(ours[0])
	c.get(other)
	if seen := len(m.of(c).seen); seen > 8 {
		t.Errorf("remembers %d objects, also those that went", seen)
	}
	c.edit(other, `{"metadata":{"labels":{"x":"y"}}}`)
	c.see(kind)
	if cost, want := c.costs(prune), "1 get moduletemplates.operator.kyma-project.io"; cost != want {
		t.Errorf("called %q, want %q", cost, want)
	}
	m.Forget(c)
	if len(m.runtimes) != 0 {
		t.Error("the connection is not forgotten")
	}
}

func TestSyncer_IsSafeForConcurrentUse(t *testing.T) {
	m := &Syncer{}
	copies := templates(t, "shared", 8)
	first := prepared(t, m)
	t.Cleanup(func() { first.delete(copies...) })
	var group sync.WaitGroup
	for range 4 {
		c := connect(t)
		group.Go(func() {
			for range 3 {
				if _, err := m.Ensure(t.Context(), c, copies); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
}
