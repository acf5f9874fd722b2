package report

import "math"

// scale maps values to places on a logarithmic axis.
type scale struct {
	low, high float64 // the ends, as values
	from, to  float64 // the same ends, in pixels
}

// steps are the values of a decade that users like to read.
var steps = []float64{1, 2, 5}

// newScale covers all values, and one decade at least, so that noise around a cost that does not grow is not blown up.
func newScale(values []float64, from, to float64) scale {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		low, high = min(low, v), max(high, v)
	}
	if math.IsInf(low, 0) {
		low, high = 1, 10
	}
	if high/low < 10 {
		widen := math.Sqrt(10 / (high / low))
		low, high = low/widen, high*widen
	}
	return scale{low: roundDown(low), high: roundUp(high), from: from, to: to}
}

// at returns the place of a value.
func (s scale) at(v float64) float64 {
	share := math.Log10(v/s.low) / math.Log10(s.high/s.low)
	return s.from + share*(s.to-s.from)
}

// tick is a line of the grid. A faint one has no number.
type tick struct {
	value float64
	faint bool
}

// ticks returns the steps of every decade; beyond three decades only the first of each has a number.
func (s scale) ticks() []tick {
	wide := s.high/s.low > 1000*1.001
	var found []tick
	for exponent := math.Floor(math.Log10(s.low)); exponent <= math.Ceil(math.Log10(s.high)); exponent++ {
		for i, step := range steps {
			if v := step * math.Pow(10, exponent); v > s.low*0.999 && v < s.high*1.001 {
				found = append(found, tick{v, wide && i > 0})
			}
		}
	}
	return found
}

// roundDown returns the largest step that is not above v.
func roundDown(v float64) float64 {
	decade := math.Pow(10, math.Floor(math.Log10(v)))
	best := decade
	for _, step := range steps {
		if step*decade <= v*1.0001 {
			best = step * decade
		}
	}
	return best
}

// roundUp returns the smallest step that is not below v.
func roundUp(v float64) float64 {
	decade := math.Pow(10, math.Floor(math.Log10(v)))
	for _, step := range steps {
		if step*decade >= v*0.9999 {
			return step * decade
		}
	}
	return 10 * decade
}
