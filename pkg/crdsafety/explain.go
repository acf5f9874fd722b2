package crdsafety

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// problem is the reason why one field of an object does not fit.
type problem struct{ path, message string }

// expected matches the type in a sentence whose rest may quote the value.
var expected = regexp.MustCompile(`must be of type ([A-Za-z0-9_-]+)`)

// explain rephrases errors in our own words, in a stable order (the libraries iterate over maps), without duplicates. It never repeats a
// value of the object: the value may be secret, and the path is enough to find it.
func explain(errs field.ErrorList) []problem {
	problems := make([]problem, 0, len(errs))
	for _, err := range errs {
		path := err.Field
		if path == "<nil>" { // how the library writes "the whole object"
			path = ""
		}
		problems = append(problems, problem{path, reason(err)})
	}
	slices.SortFunc(problems, func(a, b problem) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.message, b.message))
	})
	return slices.Compact(problems)
}

func reason(err *field.Error) string {
	switch err.Type {
	case field.ErrorTypeRequired:
		return "lacks the field"
	case field.ErrorTypeDuplicate:
		return "has the item more than once"
	case field.ErrorTypeTypeInvalid:
		if match := expected.FindStringSubmatch(err.Detail); match != nil {
			return "has a value that must be of type " + match[1]
		}
		return "has a value of another type"
	case field.ErrorTypeNotSupported, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeForbidden:
		return "has a value that is refused: " + err.Detail
	default:
		return "has a value that is refused: " + withoutValue(err.Detail)
	}
}

// withoutValue returns the text of the schema or of a rule. A rule that failed during evaluation may have quoted a value before its own
// text.
func withoutValue(detail string) string {
	for _, end := range []string{" evaluating rule: ", " for rule: "} {
		if _, rule, found := strings.Cut(detail, end); found {
			return "a rule cannot be evaluated: " + rule
		}
	}
	if name, says, found := strings.Cut(detail, " in body "); found && !strings.Contains(name, " ") {
		return says
	}
	return detail
}
