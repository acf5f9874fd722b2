package terminal

import (
	"testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// TestQuestions_ManyKymas says what would change in how many Kymas before it asks once, and what became of all of them after that.
func TestQuestions_ManyKymas(t *testing.T) {
	h := newHub(t)
	h.offers("one")
	for _, name := range []string{"east", "west"} {
		h.create(&v1beta2.Kyma{ObjectMeta: h.named(name), Spec: v1beta2.KymaSpec{Channel: "regular", Modules: []v1beta2.Module{{Name: "one"}}}})
	}
	for _, c := range []struct {
		key  string
		code int
		said []string
		have int
	}{
		{"n", 1, []string{"1 of 3 Kymas: add one (", "2 of 3 Kymas: unchanged: has one already (", "cancelled: nothing was changed"}, 0},
		{"y", 0, []string{"Ready        1 Kyma: 1 done, 0 failed", "OUTCOME", "done", "has one already"}, 1},
	} {
		s := h.run("add", "one", "--all-kymas", "--namespace", h.namespace)
		s.await("Add one in 1 Kyma (" + h.namespace + "/demo)? [y/N]")
		s.press(c.key, "Enter")
		s.ends(c.code)
		for _, text := range c.said {
			s.await(text)
		}
		if have := len(h.kyma().Spec.Modules); have != c.have {
			t.Errorf("after %s the Kyma has %d modules; the screen:\n%s", c.key, have, s.text())
		}
	}
}
