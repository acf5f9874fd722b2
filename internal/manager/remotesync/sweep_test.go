package remotesync

import (
	"context"
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// Without help this takes a minute, and where the API server's retry loses against its own cache, six.
func TestSweep_DeletesObjectThatDelaysItsDefinition(t *testing.T) {
	m := &Syncer{}
	c := prepared(t, m)
	definition, held, late := RuntimeCRDs()[1], template(t, "held"), template(t, "late")
	var going types.UID
	for range 5 {
		if going = c.deleteDuringCreate(m, definition, held, late); going != "" {
			break
		}
	}
	if going == "" {
		t.Fatal("the API server never held a create of a new kind back")
	}
	until(t, "another definition is there", func() error {
		c.see("CustomResourceDefinition")
		if _, err := m.Ensure(t.Context(), c, []DesiredObject{definition}); err != nil {
			return err
		}
		live, err := get(t.Context(), c.at("CustomResourceDefinition", ""), definition.Object.GetName())
		if err == nil && (live == nil || live.GetUID() == going) {
			err = errors.New("the one that goes is still there")
		}
		return err
	})
}

// deleteDuringCreate makes a definition again and deletes it while the API server holds back the create of an object of its kind; a
// finalizer of another object keeps the kind until then. It returns the UID of the definition that goes; nothing when the create was not
// held back.
func (c *cluster) deleteDuringCreate(m *Syncer, definition, first, late DesiredObject) types.UID {
	c.t.Helper()
	c.delete(definition)
	c.see("CustomResourceDefinition")
	ensureServed(c.t, m, c, definition)
	uid, objects := c.get(definition).GetUID(), c.at(kind, v1beta2.RuntimeNamespace)
	created := make(chan error, 1)
	go func() {
		_, err := objects.Create(context.WithoutCancel(c.t.Context()), late.Object, metav1.CreateOptions{})
		created <- err
	}()
	until(c.t, "an apply is not held back", func() error {
		_, err := objects.Apply(c.t.Context(), first.Object.GetName(), first.Object, metav1.ApplyOptions{FieldManager: "test", Force: true})
		return err
	})
	c.edit(first, `{"metadata":{"finalizers":["example.com/hold"]}}`)
	if err := c.at("CustomResourceDefinition", "").Delete(c.t.Context(), definition.Object.GetName(), metav1.DeleteOptions{}); err != nil {
		c.t.Fatal(err)
	}
	early := len(created) > 0
	err := <-created
	c.edit(first, `{"metadata":{"finalizers":null}}`)
	if early || err != nil {
		c.t.Logf("not held back: early %t, %v", early, err)
		return ""
	}
	return uid
}

// An API server that gave up on a definition checks it again when it changes. A foreign finalizer keeps this one.
func TestSweep_AnnotatesDefinitionWithoutObjects(t *testing.T) {
	m := &Syncer{}
	c := prepared(t, m)
	definition := RuntimeCRDs()[2]
	c.edit(definition, `{"metadata":{"finalizers":["example.com/hold","customresourcecleanup.apiextensions.k8s.io"]}}`)
	defer c.edit(definition, `{"metadata":{"finalizers":null}}`)
	if err := c.at("CustomResourceDefinition", "").Delete(t.Context(), definition.Object.GetName(), metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	id, uid := inventory.IDOf(definition.Object), c.get(definition).GetUID()
	until(t, "it is changed", func() error {
		outcome, err := m.Sweep(t.Context(), c, id, uid)
		if err == nil && (outcome.RetryAfter <= 0 || outcome.RetryAfter > 2*sweepAfter) {
			t.Fatalf("come again after %s", outcome.RetryAfter)
		}
		if err == nil && c.get(definition).GetAnnotations()[annotationSwept] == "" {
			err = errors.New("it is as it was")
		}
		return err
	})
	if outcome, err := m.Sweep(t.Context(), c, id, "another"); err != nil || outcome.Written > 0 {
		t.Errorf("another definition of the name has its own time: %+v, %v", outcome, err)
	}
}

func TestRecordDeparture_SchedulesChecks(t *testing.T) {
	moduleTemplates := inventory.IDOf(RuntimeCRDs()[1].Object)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	m := &memory{}
	for _, step := range []struct {
		name  string
		uid   types.UID
		after time.Duration
		due   bool
		wait  time.Duration
	}{
		{"at first the API server has its time", "1", 0, false, sweepAfter},
		{"of which less is left later", "1", sweepAfter - time.Second, false, time.Second},
		{"then it is time", "1", sweepAfter, true, 2 * sweepAfter},
		{"and not at once again", "1", sweepAfter + time.Second, false, 2*sweepAfter - time.Second},
		{"but twice as long after", "1", 3 * sweepAfter, true, 4 * sweepAfter},
		{"however late", "1", time.Hour, true, 8 * sweepAfter},
		{"at growing pauses", "1", 2 * time.Hour, true, 16 * sweepAfter},
		{"which end", "1", 3 * time.Hour, true, sweepPause},
		{"another definition of the name has its own time", "2", 4 * time.Hour, false, sweepAfter},
	} {
		if due, wait := m.recordDeparture(moduleTemplates, step.uid, now.Add(step.after)); wait != step.wait || due != step.due {
			t.Errorf("%s: due %t, wait %s", step.name, due, wait)
		}
	}
}
