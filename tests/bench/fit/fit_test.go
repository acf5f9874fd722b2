package fit

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var closely = cmpopts.EquateApprox(0, 1e-9)

func TestStraight(t *testing.T) {
	for name, c := range map[string]struct {
		points []Point
		want   Line
	}{
		"points on a line":                     {[]Point{{1, 5}, {2, 7}, {4, 11}}, Line{Slope: 2, Intercept: 3, R2: 1, Points: 3}},
		"noise makes the line explain less":    {[]Point{{0, 0}, {1, 2}, {2, 1}, {3, 3}}, Line{Slope: 0.8, Intercept: 0.3, R2: 0.64, Points: 4}},
		"what does not grow has no slope":      {[]Point{{1, 7}, {9, 7}}, Line{Intercept: 7, R2: 1, Points: 2}},
		"one point has no line":                {[]Point{{1, 7}}, Line{}},
		"neither have points above each other": {[]Point{{1, 7}, {1, 8}}, Line{}},
		"and nothing has none":                 {nil, Line{}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Straight(c.points), closely); diff != "" {
				t.Error(diff)
			}
		})
	}
	if got := (Line{Slope: 2, Intercept: 3}).At(10); got != 23 {
		t.Errorf("at 10 is %g", got)
	}
}

func TestPowerLaw(t *testing.T) {
	grow := func(exponent float64) []Point {
		var points []Point
		for _, x := range []float64{1, 10, 100, 5000} {
			points = append(points, Point{x, 3 * math.Pow(x, exponent)})
		}
		return points
	}
	for name, c := range map[string]struct {
		points []Point
		want   Power
	}{
		"linear growth has the exponent one":    {grow(1), Power{Exponent: 1, Factor: 3, R2: 1, Points: 4}},
		"a square has two":                      {grow(2), Power{Exponent: 2, Factor: 3, R2: 1, Points: 4}},
		"no growth has none":                    {grow(0), Power{Factor: 3, R2: 1, Points: 4}},
		"what is not above zero does not count": {append(grow(1), Point{0, 4}, Point{5, 0}, Point{-1, 1}), Power{Exponent: 1, Factor: 3, R2: 1, Points: 4}},
		"too few points have no law":            {[]Point{{1, 1}, {0, 1}}, Power{}},
	} {
		t.Run(name, func(t *testing.T) {
			got := PowerLaw(c.points)
			if diff := cmp.Diff(c.want, got, closely); diff != "" {
				t.Error(diff)
			}
			if got.Points > 0 && math.Abs(got.At(10)-c.points[1].Y) > 1e-9 {
				t.Errorf("at 10 is %g", got.At(10))
			}
		})
	}
}

func TestQuantiles(t *testing.T) {
	for name, c := range map[string]struct {
		values []int
		q      float64
		want   int
	}{
		"the median of an odd number":        {[]int{9, 1, 5}, 0.5, 5},
		"the lower median of an even number": {[]int{4, 1, 3, 2}, 0.5, 2},
		"99 of 100 do not exceed the 99th":   {hundred(), 0.99, 99},
		"of few, the 99th is the largest":    {[]int{3, 1, 2}, 0.99, 3},
		"none is below the smallest":         {[]int{3, 1, 2}, 0, 1},
		"all are below the largest":          {[]int{3, 1, 2}, 1, 3},
		"nothing has no quantile":            {nil, 0.5, 0},
	} {
		t.Run(name, func(t *testing.T) {
			before := slices.Clone(c.values)
			if got := Quantile(c.values, c.q); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
			if !slices.Equal(before, c.values) {
				t.Error("the values were sorted in place")
			}
		})
	}
	if got := Quantiles(hundred(), 0.5, 0.99); !slices.Equal(got, []int{50, 99}) || Median(hundred()) != 50 {
		t.Errorf("got %v and %d", got, Median(hundred()))
	}
}

func hundred() []int {
	var values []int
	for i := range 100 {
		values = append(values, 100-i)
	}
	return values
}
