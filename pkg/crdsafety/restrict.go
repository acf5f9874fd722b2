package crdsafety

import (
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/kyma-project/lifecycle-manager/pkg/excerpt"
)

// enum reports values that are no longer accepted. Adding values, or removing the enum, is free.
func (c *comparison) enum(path string, before, after *fieldSchema) {
	switch {
	case len(after.Enum) == 0:
		return
	case len(before.Enum) == 0:
		c.addf(EnumNarrowed, path, "only certain values are accepted now: %s", values(after.Enum))
		return
	}
	var gone []apiextensionsv1.JSON
	for _, value := range before.Enum {
		if !slices.ContainsFunc(after.Enum, func(v apiextensionsv1.JSON) bool { return canonical(v) == canonical(value) }) {
			gone = append(gone, value)
		}
	}
	if len(gone) > 0 {
		c.addf(EnumNarrowed, path, "no longer accepted: %s", values(gone))
	}
}

// validations reports rules that the old schema does not contain word for word. Changes of their messages are free.
func (c *comparison) validations(path string, before, after *fieldSchema) {
	gone := unmatched(before.XValidations, after.XValidations)
	for _, rule := range unmatched(after.XValidations, before.XValidations) {
		_, reads := contrast(closest(rule.Rule, gone), rule.Rule)
		c.addf(ValidationRuleAdded, path, "a rule is new or reads differently: %s", reads)
	}
}

// unmatched returns the rules that others do not contain word for word.
func unmatched(rules, others []apiextensionsv1.ValidationRule) (found []apiextensionsv1.ValidationRule) {
	for _, rule := range rules {
		if !slices.ContainsFunc(others, func(other apiextensionsv1.ValidationRule) bool {
			return other.Rule == rule.Rule && isTrue(other.OptionalOldSelf) == isTrue(rule.OptionalOldSelf)
		}) {
			found = append(found, rule)
		}
	}
	return found
}

// closest returns the rule that shares the longest beginning with a text; empty when there is none.
func closest(text string, rules []apiextensionsv1.ValidationRule) (found string) {
	for _, rule := range rules {
		if excerpt.Shared(text, rule.Rule) > excerpt.Shared(text, found) {
			found = rule.Rule
		}
	}
	return found
}

func isTrue(flag *bool) bool { return flag != nil && *flag }

// combinations reports any change within allOf, anyOf, oneOf and not: whether the new combination accepts everything that the old one
// accepted is not decided here. Removing a combination accepts more, which is free.
func (c *comparison) combinations(path string, before, after *fieldSchema) {
	for _, combination := range []struct {
		name        string
		old, change any
		gone        bool
	}{
		{"allOf", before.AllOf, after.AllOf, len(after.AllOf) == 0},
		{"anyOf", anyOf(before), anyOf(after), len(anyOf(after)) == 0},
		{"oneOf", before.OneOf, after.OneOf, len(after.OneOf) == 0},
		{"not", before.Not, after.Not, after.Not == nil},
	} {
		if !combination.gone && !same(combination.old, combination.change) {
			c.addf(UnknownChange, path, "%s changes; whether that is safe cannot be decided here", combination.name)
		}
	}
}

// anyOf leaves out the form in which generators repeat the meaning of int-or-string.
func anyOf(schema *fieldSchema) []fieldSchema {
	if schema.XIntOrString && same(schema.AnyOf, []fieldSchema{{Type: "integer"}, {Type: "string"}}) {
		return nil
	}
	return schema.AnyOf
}

// defaults reports a default that a field gets, loses or changes: objects that omit the field then mean something else. Only the objects
// show whether there are any: see [Evidence].
func (c *comparison) defaults(path string, before, after *fieldSchema) {
	switch {
	case same(before.Default, after.Default):
	case before.Default == nil:
		c.addf(DefaultChanged, path, "the field gets the default %s, also in objects that left it out", quoted(canonical(after.Default)))
	case after.Default == nil:
		c.addf(DefaultChanged, path, "the default %s is gone", quoted(canonical(before.Default)))
	default:
		c.changef(DefaultChanged, path, "the default changes from %s to %s", canonical(before.Default), canonical(after.Default))
	}
}

// merging reports changes to how server-side apply merges a list or a map, and which lists it refuses for duplicates.
func (c *comparison) merging(path string, before, after *fieldSchema) {
	var differ []string
	if old, changed := text(before.XListType, "atomic"), text(after.XListType, "atomic"); old != changed {
		differ = append(differ, fmt.Sprintf("the list type changes from %s to %s", quoted(old), quoted(changed)))
	}
	if old, changed := sorted(before.XListMapKeys), sorted(after.XListMapKeys); !slices.Equal(old, changed) {
		was, is := contrast(strings.Join(old, ", "), strings.Join(changed, ", "))
		differ = append(differ, fmt.Sprintf("the list's keys change from [%s] to [%s]", was, is))
	}
	if old, changed := text(before.XMapType, "granular"), text(after.XMapType, "granular"); old != changed {
		differ = append(differ, fmt.Sprintf("the map type changes from %s to %s", quoted(old), quoted(changed)))
	}
	if len(differ) > 0 {
		c.addf(ListTypeChanged, path, "%s", strings.Join(differ, ", "))
	}
}

func text(value *string, otherwise string) string {
	if value == nil {
		return otherwise
	}
	return *value
}

func sorted(names []string) []string {
	names = slices.Clone(names)
	slices.Sort(names)
	return slices.Compact(names)
}
