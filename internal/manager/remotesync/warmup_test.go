package remotesync

import (
	"context"
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestWarmUpEnd(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	established := func(since time.Duration, status string) map[string]any {
		return map[string]any{"type": "Established", "status": status, "lastTransitionTime": now.Add(-since).Format(time.RFC3339)}
	}
	for _, test := range []struct {
		name       string
		conditions []any
		deleted    bool
		want       bool
	}{
		{"established just now", []any{established(0, "True")}, false, true},
		{"established while an API server would still wait", []any{established(3*time.Second, "True")}, false, true},
		{"established for longer than any API server waits", []any{established(youth, "True")}, false, false},
		{"established in the future, by a clock that is ahead", []any{established(-time.Hour, "True")}, false, true},
		{"not established", []any{established(0, "False")}, false, false},
		{"without conditions", nil, false, false},
		{"with another condition only", []any{map[string]any{"type": "NamesAccepted", "status": "True"}}, false, false},
		{"with a time that is none", []any{map[string]any{"type": "Established", "status": "True", "lastTransitionTime": "soon"}}, false, false},
		{"with a condition that is none", []any{"Established"}, false, false},
		{"young, and being deleted", []any{established(0, "True")}, true, false},
	} {
		definition := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"conditions": test.conditions}}}
		if test.deleted {
			at := metav1.NewTime(now)
			definition.SetDeletionTimestamp(&at)
		}
		until := warmUpEnd(definition, now)
		if got := now.Before(until); got != test.want || until.After(now.Add(youth)) {
			t.Errorf("%s: young until %s, want %t", test.name, until, test.want)
		}
	}
}

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
	if want := "1 get customresourcedefinitions.apiextensions.k8s.io, 3 patch moduletemplates.operator.kyma-project.io"; cost != want {
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
	cost = c.costs(func() { ensure(t, &Syncer{}, c, young...) }) // one that was not told of that hour
	if want := "3 create moduletemplates.operator.kyma-project.io, 1 get customresourcedefinitions.apiextensions.k8s.io"; cost != want {
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
			live, err := get(context.Background(), c.at("CustomResourceDefinition", ""), definition.Object.GetName())
			if err == nil && (live == nil || time.Now().Before(warmUpEnd(live, time.Now()))) {
				err = errors.New("it is young")
			}
			return err
		})
	}
}
