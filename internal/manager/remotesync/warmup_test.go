package remotesync

import (
	"errors"
	"testing"
	"time"
)

// An API server holds back the create of an object whose kind it has known for less than two seconds.
func TestEnsure_AppliesObjectsOfANewKindWithoutDelay(t *testing.T) {
	m := &Syncer{}
	c := prepared(t, m)
	usual := youth
	youth = time.Hour
	t.Cleanup(func() { youth = usual })
	definition := RuntimeCRDs()[1]
	c.delete(definition)
	c.see("CustomResourceDefinition")
	ensureServed(t, m, c, definition)
	c.see(kind)
	young := templates(t, "young", 3)
	t.Cleanup(func() { c.delete(young...) })

	cost := c.costs(func() { ensure(t, m, c, young...) })
	if want := "3 patch moduletemplates.operator.kyma-project.io"; cost != want {
		t.Errorf("of a new kind: called %q, want %q", cost, want)
	}

	c.delete(young[0])
	c.see(kind)
	cost = c.costs(func() { ensure(t, m, c, young...) })
	if want := "1 patch moduletemplates.operator.kyma-project.io"; cost != want {
		t.Errorf("one more of a new kind: called %q, want %q", cost, want)
	}

	youth = usual
	grown(t, c)
	c.delete(young...)
	c.see(kind)
	cost = c.costs(func() { ensure(t, m, c, young...) })
	if want := "3 create moduletemplates.operator.kyma-project.io"; cost != want {
		t.Errorf("of a kind that is known for long: called %q, want %q", cost, want)
	}
}

// ensureServed puts a definition into the runtime and waits for its kind.
func ensureServed(t *testing.T, m *Syncer, c *cluster, definition DesiredObject) {
	t.Helper()
	until(t, "the kind is served", func() error {
		if _, err := m.Ensure(t.Context(), c, []DesiredObject{definition}); err != nil {
			return err
		}
		if !c.served() {
			return errors.New("not yet")
		}
		return nil
	})
}

// grown waits until no kind of the runtime is young.
func grown(t *testing.T, c *cluster) {
	t.Helper()
	for _, definition := range RuntimeCRDs() {
		until(t, "the kind is known for long", func() error {
			if IsWarmingUp(c, definition.Object.GetName()) {
				return errors.New("it is young")
			}
			return nil
		})
	}
}
