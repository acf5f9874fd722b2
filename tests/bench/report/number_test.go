package report

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFigure(t *testing.T) {
	for name, c := range map[string]struct {
		value float64
		want  string
	}{
		"nothing":                                  {0, "0"},
		"what is counted stays exact":              {1234567, "1,234,567"},
		"a whole number needs no point":            {20, "20"},
		"three digits above one":                   {1.239, "1.24"},
		"three digits above ten":                   {61.27, "61.3"},
		"no part above a hundred":                  {285.4, "285"},
		"grouped above a thousand":                 {1007.6, "1,008"},
		"three digits below one":                   {0.23456, "0.235"},
		"zeros at the end say nothing":             {0.5, "0.5"},
		"small numbers are not rounded to nothing": {0.00123, "0.00123"},
		"negative numbers":                         {-12345.6, "-12,346"},
		"what could not be divided is not told":    {math.NaN(), "n/a"},
		"and neither is what has no end":           {math.Inf(1), "n/a"},
		"a number that rounding makes whole":       {9.999, "10"},
		"hundreds that are negative have no comma": {-123, "-123"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Figure(c.value); got != c.want {
				t.Errorf("%g is told as %q, want %q", c.value, got, c.want)
			}
		})
	}
}

func TestNaturalOrder(t *testing.T) {
	want := []string{"", "B", "B2", "B10", "K=10 m=1", "K=10 m=5", "K=100 m=1", "K=1000", "K=x"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, natural)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestBounds(t *testing.T) {
	for name, c := range map[string]struct {
		bound Bound
		value float64
		met   bool
		words string
	}{
		"no bound is always kept":                        {Bound{}, math.Inf(1), true, ""},
		"the limit itself is at most that":               {AtMost(200), 200, true, "<= 200"},
		"more is not":                                    {AtMost(200), 200.1, false, "<= 200"},
		"the limit itself is at least that":              {AtLeast(70), 70, true, ">= 70"},
		"less is not":                                    {AtLeast(70), 69.9, false, ">= 70"},
		"counted figures are exact":                      {Exactly(0), 0, true, "= 0"},
		"one call is not none":                           {Exactly(0), 1, false, "= 0"},
		"what could not be measured is kept by no bound": {AtMost(1), math.NaN(), false, "<= 1"},
		"a relation that no one knows is never kept":     {Bound{Is: "~", Limit: 1}, 1, false, "~ 1"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.bound.Met(c.value); got != c.met {
				t.Errorf("%g is judged %t, want %t", c.value, got, c.met)
			}
			if got := c.bound.String(); got != c.words {
				t.Errorf("told as %q, want %q", got, c.words)
			}
		})
	}
}
