package fit

import (
	"cmp"
	"math"
	"slices"
)

// Quantile returns the smallest of the values that a share q of them does not exceed (nearest rank), zero without values. The values keep
// their order.
func Quantile[T cmp.Ordered](values []T, q float64) T {
	return rank(slices.Sorted(slices.Values(values)), q)
}

// Quantiles returns one value for each share, in their order.
func Quantiles[T cmp.Ordered](values []T, shares ...float64) []T {
	sorted := slices.Sorted(slices.Values(values))
	found := make([]T, 0, len(shares))
	for _, q := range shares {
		found = append(found, rank(sorted, q))
	}
	return found
}

// Median returns the Quantile of one half.
func Median[T cmp.Ordered](values []T) T { return Quantile(values, 0.5) }

func rank[T cmp.Ordered](sorted []T, q float64) T {
	if len(sorted) == 0 {
		var zero T
		return zero
	}
	at := int(math.Ceil(q*float64(len(sorted)))) - 1
	return sorted[min(max(at, 0), len(sorted)-1)]
}
