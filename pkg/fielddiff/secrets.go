package fielddiff

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

const (
	// Hidden replaces a value.
	Hidden = "[…]"
	// MinValue is the minimum length of a value that is hidden. Shorter ones ("on", "80") would hide half of every sentence.
	MinValue = 4
	// longValue is the length from which a value is hidden within words too: a match of that length is no accident.
	longValue = 12
)

// Hide replaces a value in a text. A short one must be a word of its own: "name" is not hidden in "namespace".
func Hide(text, value string) string {
	value = strings.TrimSpace(value)
	if len(value) < MinValue {
		return text
	}
	var out strings.Builder
	for {
		at := strings.Index(text, value)
		if at < 0 {
			out.WriteString(text)
			return out.String()
		}
		end := at + len(value)
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[end:])
		if len(value) < longValue && (partOfWord(before) || partOfWord(after)) {
			out.WriteString(text[:end])
		} else {
			out.WriteString(text[:at] + Hidden)
		}
		text = text[end:]
	}
}

func partOfWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// Secrets are the values of Secrets, in every form in which they may stand elsewhere. The zero value has none.
type Secrets struct{ values []string }

// SecretsOf returns the values of the Secrets among some objects: of data and stringData, as they are and as base64.
func SecretsOf(objects ...*unstructured.Unstructured) Secrets {
	var all []string
	for _, object := range objects {
		if id := inventory.IDOf(object); id.Group != "" || id.Kind != "Secret" {
			continue
		}
		for _, value := range texts(object.Object["data"]) {
			all = append(all, forms(value)...)
			if decoded, err := base64.StdEncoding.DecodeString(value); err == nil {
				all = append(all, forms(string(decoded))...)
			}
		}
		for _, value := range texts(object.Object["stringData"]) {
			all = append(all, forms(value)...)
			all = append(all, base64.StdEncoding.EncodeToString([]byte(value)))
		}
	}
	all = slices.DeleteFunc(all, func(value string) bool { return len(strings.TrimSpace(value)) < MinValue })
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return Secrets{values: slices.Compact(all)}
}

// Hide replaces the values in a text, the longest first.
func (s Secrets) Hide(text string) string {
	for _, value := range s.values {
		text = Hide(text, value)
	}
	return text
}

// texts returns the leaves of a value as text.
func texts(value any) []string {
	switch v := value.(type) {
	case nil:
		return nil
	case string:
		return []string{v}
	case map[string]any:
		var all []string
		for _, inner := range v {
			all = append(all, texts(inner)...)
		}
		return all
	case []any:
		var all []string
		for _, inner := range v {
			all = append(all, texts(inner)...)
		}
		return all
	}
	return []string{fmt.Sprint(value)}
}

// forms returns a value as it may stand elsewhere: as it is, as part of JSON, and line by line.
func forms(value string) []string {
	all := []string{value}
	if encoded, err := json.Marshal(value); err == nil {
		all = append(all, string(encoded[1:len(encoded)-1]))
	}
	if strings.Contains(value, "\n") {
		for line := range strings.SplitSeq(value, "\n") {
			if len(strings.TrimSpace(line)) >= longValue {
				all = append(all, line)
			}
		}
	}
	return all
}
