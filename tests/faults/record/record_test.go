package record_test

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/tests/faults/record"
)

func TestRecord_ABookKnowsWhatPassed(t *testing.T) {
	book, err := record.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	good, bad := record.Point{Suite: "views", Name: "install/gap/hub/kymas/1"}, record.Point{Suite: "views", Name: "b", Problems: []string{"lost"}}
	for _, point := range []record.Point{good, bad} {
		if book.Done(point.Suite, point.Name) {
			t.Errorf("%s was never tried", point.Name)
		}
		if err := book.Write(point); err != nil {
			t.Fatal(err)
		}
	}
	if !book.Done(good.Suite, good.Name) || book.Done(bad.Suite, bad.Name) || book.Done("crash", good.Name) {
		t.Error("what passed is done, what failed is not, nor what has the same name in another suite")
	}
	all, err := book.All("views")
	if err != nil {
		t.Fatal(err)
	}
	good.Passed = true
	if diff := cmp.Diff([]record.Point{bad, good}, all); diff != "" {
		t.Error(diff)
	}
}

func TestPick(t *testing.T) {
	var names []string
	for i := range 100 {
		names = append(names, fmt.Sprintf("point-%02d", i))
	}
	pick := func(c record.Choice) []string { return record.Pick(c, names, func(s string) string { return s }) }
	if got := pick(record.Choice{}); !slices.Equal(got, names) {
		t.Errorf("no choice picks all, not %v", got)
	}
	sample := pick(record.Choice{Seed: 7, Sample: 10})
	if len(sample) != 10 || !slices.IsSorted(sample) || !slices.Equal(sample, pick(record.Choice{Seed: 7, Sample: 10})) {
		t.Errorf("a sample is of its size, in order, and the same again: %v", sample)
	}
	tens := map[byte]bool{}
	for _, name := range sample {
		tens[name[len("point-")]] = true
	}
	if len(tens) < 5 {
		t.Errorf("a sample is from everywhere, not a few neighbours: %v", sample)
	}
	again := record.Pick(record.Choice{Seed: 7, Sample: 10}, names[20:], func(s string) string { return s })
	for _, name := range sample {
		if name >= "point-20" && !slices.Contains(again, name) {
			t.Errorf("%s was drawn, and is not when there are fewer: %v", name, again)
		}
	}
	if slices.Equal(sample, pick(record.Choice{Seed: 8, Sample: 10})) {
		t.Error("another seed draws others")
	}
	var parts []string
	for part := 1; part <= 3; part++ {
		parts = append(parts, pick(record.Choice{Part: part, Parts: 3})...)
	}
	slices.Sort(parts)
	if !slices.Equal(parts, names) {
		t.Error("all parts together are all, each once")
	}
	if got := pick(record.Choice{Only: regexp.MustCompile("-4.$")}); len(got) != 10 {
		t.Errorf("by name: %v", got)
	}
}

func TestParseSlice(t *testing.T) {
	for text, fine := range map[string]bool{"": true, "2/5": true, "5/5": true, "6/5": false, "0/5": false, "x": false, "1/": false} {
		if _, _, err := record.ParseSlice(text); (err == nil) != fine {
			t.Errorf("%q: %v", text, err)
		}
	}
}
