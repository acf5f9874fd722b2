package report

import (
	"cmp"
	"slices"

	"github.com/kyma-project/lifecycle-manager/tests/bench/fit"
)

// mergeLines puts newer points over older ones of the same line and size.
func mergeLines(older, newer []Line) []Line {
	merged := slices.Clone(older)
	for _, line := range newer {
		i := slices.IndexFunc(merged, func(o Line) bool { return o.Name == line.Name })
		if i < 0 {
			merged = append(merged, line)
			continue
		}
		line.Points = mergePoints(merged[i].Points, line.Points)
		merged[i] = line
	}
	return merged
}

func mergePoints(older, newer []fit.Point) []fit.Point {
	merged := slices.Clone(older)
	for _, p := range newer {
		merged = replace(merged, p, func(a, b fit.Point) bool { return a.X == b.X })
	}
	slices.SortStableFunc(merged, func(a, b fit.Point) int { return cmp.Compare(a.X, b.X) })
	return merged
}
