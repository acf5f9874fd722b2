package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// Set is what benches gave so far: results and curves.
type Set struct {
	Results []Result `json:"results,omitempty"`
	Curves  []Curve  `json:"curves,omitempty"`
}

// Merge puts newer over older: a result replaces the one of the same bench and case, a curve the one of the same name, whose points at
// other sizes are kept. The outcome is sorted.
func Merge(older, newer Set) Set {
	merged := Set{Results: slices.Clone(older.Results), Curves: slices.Clone(older.Curves)}
	for _, r := range newer.Results {
		merged.Results = replace(merged.Results, r, func(a, b Result) bool { return a.Bench == b.Bench && a.Case == b.Case })
	}
	for _, c := range newer.Curves {
		if i := slices.IndexFunc(older.Curves, func(o Curve) bool { return o.Name == c.Name }); i >= 0 {
			c.Lines = mergeLines(older.Curves[i].Lines, c.Lines)
		}
		merged.Curves = replace(merged.Curves, c, func(a, b Curve) bool { return a.Name == b.Name })
	}
	slices.SortStableFunc(merged.Results, func(a, b Result) int {
		return cmp.Or(natural(a.Bench, b.Bench), natural(a.Case, b.Case))
	})
	slices.SortStableFunc(merged.Curves, func(a, b Curve) int { return cmp.Or(natural(a.Bench, b.Bench), natural(a.Name, b.Name)) })
	return merged
}

func replace[T any](items []T, item T, same func(T, T) bool) []T {
	if i := slices.IndexFunc(items, func(o T) bool { return same(o, item) }); i >= 0 {
		items[i] = item
		return items
	}
	return append(items, item)
}

// Encode writes a set as JSON that reads well in a diff.
func Encode(s Set) ([]byte, error) {
	data, err := json.MarshalIndent(Merge(Set{}, s), "", "  ")
	return append(data, '\n'), err
}

// Decode reads what Encode wrote, and nothing else.
func Decode(data []byte) (Set, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	var s Set
	if err := decoder.Decode(&s); err != nil {
		return Set{}, fmt.Errorf("these are no results of a bench: %w", err)
	}
	return s, nil
}
