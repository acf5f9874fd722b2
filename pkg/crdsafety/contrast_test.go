package crdsafety_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/pkg/crdsafety"
)

// TestLongTextsAreShownWhereTheyDiffer: two long patterns with the same beginning do not look alike.
func TestLongTextsAreShownWhereTheyDiffer(t *testing.T) {
	long := strings.Repeat("abcdefghij", 10)
	for _, test := range []struct{ name, before, after, want string }{
		{"patterns", "{type: string, pattern: '^" + long + "[0-9]+$'}", "{type: string, pattern: '^" + long + "[a-z]+$'}",
			"the pattern changes from …bcdefghijabcdefghij[0-9]+$ to …bcdefghijabcdefghij[a-z]+$"},
		{"one text continues the other", "{type: string, pattern: '" + long + "'}", "{type: string, pattern: '" + long + "x'}",
			"the pattern changes from …abcdefghijabcdefghij to …abcdefghijabcdefghijx"},
		{"short ones are whole", "{type: string, pattern: '^ab$'}", "{type: string, pattern: '^ac$'}", "the pattern changes from ^ab$ to ^ac$"},
		{"texts that differ at once are shown from the beginning", "{type: string, pattern: 'x" + long + "'}", "{type: string, pattern: 'y'}",
			"the pattern changes from x" + long[:76] + "… to y"},
		{"characters stay whole", "{type: string, pattern: '" + strings.Repeat("ä", 60) + "ä'}", "{type: string, pattern: '" + strings.Repeat("ä", 60) + "ö'}",
			"the pattern changes from …" + strings.Repeat("ä", 10) + "ä to …" + strings.Repeat("ä", 10) + "ö"},
		{"defaults", "{type: string, default: " + long + "1}", "{type: string, default: " + long + "2}",
			`the default changes from …abcdefghijabcdefghij1" to …abcdefghijabcdefghij2"`},
		{"a rule that reads differently, beside others", "{type: string, x-kubernetes-validations: [{rule: \"self != 'x'\"}, {rule: \"self != '" + long + "1'\"}]}",
			"{type: string, x-kubernetes-validations: [{rule: \"self != 'x'\"}, {rule: \"self != '" + long + "2'\"}]}",
			"a rule is new or reads differently: …abcdefghijabcdefghij2'"},
	} {
		t.Run(test.name, func(t *testing.T) {
			findings := crdsafety.Compare(widgets(t, test.before), widgets(t, test.after))
			if len(findings) != 1 {
				t.Fatalf("findings %v", findings)
			}
			if diff := cmp.Diff(test.want, findings[0].Message); diff != "" {
				t.Error(diff)
			}
		})
	}
}
