package apply

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/fielddiff"
)

// identifying lists fields whose values name things. A message without them would not help, and none of them is data.
var identifying = map[string]bool{"apiVersion": true, "kind": true, "name": true, "namespace": true, "image": true, "type": true}

// goDump matches the form in which a field error prints a value that it cannot format.
var goDump = regexp.MustCompile(`^(&|\*|map\[|\[\]|struct ?\{|\w+\.\w+\{|0x[0-9a-f]+)`)

// withoutValue removes the value from the text of a field error, which is "<fault>: <value>: <what is wrong>" or, where the check has
// no value to show (rules of a CustomResourceDefinition), "<fault>: <what is wrong>".
func withoutValue(text string) string {
	for _, fault := range []string{"Invalid value", "Unsupported value", "Duplicate value", "Not found", "Too many", "Too few"} {
		if rest, found := strings.CutPrefix(text, fault+": "); found {
			if wrong := afterValue(rest); wrong != "" {
				return fault + ": " + wrong
			}
			return fault
		}
	}
	return text
}

// afterValue skips a value (quoted, JSON or a dump) at the start of a text. Nothing is left of a dump: its end cannot be
// determined, and half a value is too much.
func afterValue(text string) string {
	if quoted, err := strconv.QuotedPrefix(text); err == nil {
		return strings.TrimPrefix(text[len(quoted):], ": ")
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	var value json.RawMessage
	if err := decoder.Decode(&value); err == nil {
		rest := text[decoder.InputOffset():]
		if rest == "" || strings.HasPrefix(rest, ": ") {
			return strings.TrimPrefix(rest, ": ")
		}
	}
	if goDump.MatchString(text) || strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") || strings.HasPrefix(text, `"`) {
		return ""
	}
	return text
}

// quotes matches the places where decoders and server-side apply print a value that they did not expect.
var quotes = regexp.MustCompile(`(?s)(, got ).*|(&value\.value\w*\{).*|(parsing time ").*|(cannot unmarshal number ).* (into Go)`)

// withoutQuotes removes such values.
func withoutQuotes(text string) string {
	return quotes.ReplaceAllString(text, "$1$2$3$4"+fielddiff.Hidden+" $5")
}

// redacted removes every value of the objects from a text, whole words only, longest first.
func redacted(text string, objects []*unstructured.Unstructured) string {
	if len(text) > maxAnswer {
		return "the answer is too long to be repeated"
	}
	var values []string
	for _, object := range objects {
		if object != nil {
			values = leaves(values, "", object.Object)
		}
	}
	slices.SortFunc(values, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	for _, value := range slices.Compact(values) {
		text = fielddiff.Hide(text, value)
	}
	return text
}

// leaves collects the values of an object as a message may print them: as they are, escaped, and line by line.
func leaves(found []string, key string, value any) []string {
	switch v := value.(type) {
	case map[string]any:
		for key, value := range v {
			found = leaves(found, key, value)
		}
	case []any:
		for _, item := range v {
			found = leaves(found, key, item)
		}
	case string:
		if identifying[key] {
			return found
		}
		found = append(found, v)
		quoted := strconv.Quote(v)
		if encoded, err := json.Marshal(v); err == nil && (string(encoded) != quoted || len(quoted) != len(v)+2) {
			found = append(found, quoted[1:len(quoted)-1], string(encoded[1:len(encoded)-1]))
			found = append(found, strings.Split(v, "\n")...)
		}
	case int64, float64, json.Number:
		found = append(found, fmt.Sprint(v))
	}
	return found
}
