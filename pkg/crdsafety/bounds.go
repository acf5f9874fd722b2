package crdsafety

import (
	"cmp"
	"math"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// counted lists the bounds on lengths and counts. A lower bound of zero is none.
var counted = []struct {
	name  string
	upper bool
	of    func(*apiextensionsv1.JSONSchemaProps) *int64
}{
	{"maxLength", true, func(s *fieldSchema) *int64 { return s.MaxLength }},
	{"maxItems", true, func(s *fieldSchema) *int64 { return s.MaxItems }},
	{"maxProperties", true, func(s *fieldSchema) *int64 { return s.MaxProperties }},
	{"minLength", false, func(s *fieldSchema) *int64 { return orZero(s.MinLength) }},
	{"minItems", false, func(s *fieldSchema) *int64 { return orZero(s.MinItems) }},
	{"minProperties", false, func(s *fieldSchema) *int64 { return orZero(s.MinProperties) }},
}

// wider maps a format to a wider one, which accepts all of its values.
var wider = map[string]string{"int32": "int64", "float": "double"}

// bounds reports bounds that allow less than before. Removing or widening a bound is free. Which of two patterns, or of two formats, allows
// more cannot be decided here, so every change counts.
func (c *comparison) bounds(path string, before, after *fieldSchema) {
	for _, bound := range counted {
		if old, changed := bound.of(before), bound.of(after); narrower(old, changed, bound.upper) {
			c.bound(path, bound.name, old, changed)
		}
	}
	if narrower(before.Maximum, after.Maximum, true) {
		c.bound(path, "maximum", before.Maximum, after.Maximum)
	} else if excludes(before.Maximum, after.Maximum, before.ExclusiveMaximum, after.ExclusiveMaximum) {
		c.addf(BoundNarrowed, path, "the maximum itself is no longer accepted")
	}
	if narrower(before.Minimum, after.Minimum, false) {
		c.bound(path, "minimum", before.Minimum, after.Minimum)
	} else if excludes(before.Minimum, after.Minimum, before.ExclusiveMinimum, after.ExclusiveMinimum) {
		c.addf(BoundNarrowed, path, "the minimum itself is no longer accepted")
	}
	if after.MultipleOf != nil && !divides(*after.MultipleOf, before.MultipleOf) {
		c.bound(path, "multipleOf", before.MultipleOf, after.MultipleOf)
	}
	if after.Pattern != "" && after.Pattern != before.Pattern {
		c.changef(BoundNarrowed, path, "the pattern changes from %s to %s", before.Pattern, after.Pattern)
	}
	if after.Format != "" && after.Format != before.Format && (before.Format == "" || wider[before.Format] != after.Format) {
		c.changef(BoundNarrowed, path, "the format changes from %s to %s", before.Format, after.Format)
	}
}

func (c *comparison) bound(path, name string, before, after any) {
	c.changef(BoundNarrowed, path, name+" changes from %s to %s", number(before), number(after))
}

// narrower reports whether a bound allows less than before.
func narrower[N cmp.Ordered](before, after *N, upper bool) bool {
	switch {
	case after == nil:
		return false
	case before == nil:
		return true
	case upper:
		return *after < *before
	}
	return *after > *before
}

// excludes reports whether an unchanged bound no longer accepts its own value.
func excludes(before, after *float64, wasExclusive, isExclusive bool) bool {
	return before != nil && after != nil && *before == *after && isExclusive && !wasExclusive
}

// divides reports whether every multiple of the old factor is a multiple of the new factor.
func divides(factor float64, old *float64) bool {
	if old == nil {
		return false
	}
	ratio := *old / factor
	return ratio == math.Trunc(ratio)
}

func orZero(bound *int64) *int64 {
	if bound == nil {
		return new(int64)
	}
	return bound
}
