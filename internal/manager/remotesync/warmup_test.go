package remotesync

import (
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// An API server holds back the create of an object whose kind it has known for less than two seconds.
func TestEnsure_CreatesObjectsOfANewKindWithoutDelay(t *testing.T) {
	m := &Syncer{}
	c := prepared(t, m)
	definition := RuntimeCRDs()[1]
	c.delete(definition)
	c.see("CustomResourceDefinition")
	ensureServed(t, m, c, definition)
	c.see(kind)
	young := templates(t, "young", 3)
	t.Cleanup(func() { c.delete(young...) })

	c.warmingUp = true
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

	c.warmingUp = false
	c.delete(young...)
	c.see(kind)
	cost = c.costs(func() { ensure(t, m, c, young...) })
	if want := "3 create moduletemplates.operator.kyma-project.io"; cost != want {
		t.Errorf("of a kind that is known for long: called %q, want %q", cost, want)
	}
}

func TestEnsure_OverwritesWhatAnotherClientCreatedMeanwhile(t *testing.T) {
	m := &Syncer{}
	c := prepared(t, m)
	for _, test := range []struct {
		name      string
		warmingUp bool
		want      string
	}{
		{"of a kind that is known for long", false, "1 create moduletemplates.operator.kyma-project.io, 1 patch moduletemplates.operator.kyma-project.io"},
		{"of a kind that warms up", true, "1 create moduletemplates.operator.kyma-project.io, 2 patch moduletemplates.operator.kyma-project.io"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c.t, c.warmingUp = t, test.warmingUp
			wanted := template(t, "meanwhile")
			t.Cleanup(func() { c.delete(wanted) })
			c.see(kind)
			theirs := template(t, "meanwhile", func(spec map[string]any) { spec["version"] = "9.9.9" })
			_, err := c.at(kind, theirs.Object.GetNamespace()).Create(t.Context(), theirs.Object, metav1.CreateOptions{FieldManager: "another"})
			if err != nil {
				t.Fatal(err)
			}
			if cost := c.costs(func() { ensure(t, m, c, wanted) }); cost != test.want {
				t.Errorf("called %q, want %q", cost, test.want)
			}
			if live := c.get(wanted); !same(wanted.Object, live) {
				t.Errorf("it is not as wanted: %v", live.Object)
			}
		})
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
