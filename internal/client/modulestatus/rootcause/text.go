package rootcause

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/excerpt"
)

const (
	// MostSentence bounds a sentence, in bytes.
	MostSentence = 480
	// MostFact bounds the text of a fact, in bytes.
	MostFact = 600
	// mostQuoted bounds what a sentence repeats of a foreign text, and mostName what it repeats of a name.
	mostQuoted, mostName = 240, 80
	// mostRaw bounds what is looked at of a foreign text.
	mostRaw = 8 << 10
	// leastSecret is how long a value of a Secret must be to be masked: shorter ones are words.
	leastSecret = 8
	// mostSecrets bounds how many values are masked.
	mostSecrets = 500

	masked = "***"
)

// credentials are parts of texts that look like a credential: a bearer token, a field of that name, the login in an address.
var credentials = []struct {
	found *regexp.Regexp
	put   string
}{
	{regexp.MustCompile(`(?i)\b(bearer|basic)\s+[A-Za-z0-9+/._~=-]{16,}`), "$1 " + masked},
	{regexp.MustCompile(`(?i)((?:passwo?r?d|passphrase|secret|token|api[-_ ]?key|access[-_ ]?key)"?\s*[=:]\s*"?)[^\s",;&]+`), "${1}" + masked},
	{regexp.MustCompile(`://[^/\s:@]*:[^/\s@]+@`), "://" + masked + "@"},
	{regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}(\.[A-Za-z0-9_-]+)?`), masked},
}

// cleaner makes foreign texts safe to show.
type cleaner struct{ secrets *strings.Replacer }

// newCleaner returns a cleaner that masks the data of the Secrets among some objects, in clear and encoded.
func newCleaner(objects []*unstructured.Unstructured) *cleaner {
	names, values := map[string]bool{}, map[string]bool{}
	for _, o := range objects {
		if o != nil && o.Object != nil {
			names[o.GetName()], names[o.GetNamespace()] = true, true
		}
	}
	for _, o := range objects {
		if o == nil || o.Object == nil || o.GetKind() != kindSecret {
			continue
		}
		for _, field := range []string{"data", "stringData"} {
			data, _ := o.Object[field].(map[string]any)
			for _, value := range data {
				text, _ := value.(string)
				addSecret(values, text)
				if plain, err := base64.StdEncoding.DecodeString(text); err == nil {
					addSecret(values, string(plain))
				}
			}
		}
	}
	var all []string
	for value := range values {
		if !names[value] {
			all = append(all, value)
		}
	}
	slices.SortFunc(all, func(a, b string) int { return len(b)*2 - len(a)*2 + strings.Compare(a, b) }) // the longest first
	var pairs []string
	for _, value := range all[:min(len(all), mostSecrets)] {
		pairs = append(pairs, value, masked)
	}
	return &cleaner{strings.NewReplacer(pairs...)}
}

// addSecret adds a value and each of its lines: logs repeat single ones.
func addSecret(to map[string]bool, value string) {
	for line := range strings.Lines(value) {
		if line = strings.TrimSpace(line); len(line) >= leastSecret {
			to[line] = true
		}
	}
	if len(value) >= leastSecret {
		to[value] = true
	}
}

// clean returns a foreign text as one line of printable characters, without credentials, in at most limit bytes.
func (c *cleaner) clean(text string, limit int) string {
	if len(text) > mostRaw {
		text = strings.ToValidUTF8(text[:mostRaw], "")
	}
	text = line(c.secrets.Replace(text))
	for _, one := range credentials {
		text = one.found.ReplaceAllString(text, one.put)
	}
	text = c.secrets.Replace(text) // a value that had characters between its own, which are gone now
	return excerpt.Cut(text, limit)
}

// quote returns a foreign text for the end of a sentence: without the full stop.
func (c *cleaner) quote(text string) string {
	return strings.TrimRight(c.clean(text, mostQuoted), ". ")
}

// line returns a text as one line of printable characters. Characters that reorder or hide text are removed, too.
func line(text string) string {
	text = strings.ToValidUTF8(text, "?")
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r), unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, text)
	return strings.Join(strings.Fields(text), " ")
}

// name returns a name for a sentence. Names of Kubernetes are safe, but an object may come from a server that checks none.
func name(text string) string { return excerpt.Cut(line(text), mostName) }

// lastLine returns the last line that has a text.
func lastLine(lines []string) string {
	for _, text := range slices.Backward(lines) {
		if line(text) != "" {
			return text
		}
	}
	return ""
}

// Age returns how long something has lasted, in words that change at most once a minute; "" if that is not known.
func Age(since, now time.Time) string {
	lasted := now.Sub(since)
	switch {
	case since.IsZero() || lasted < 0:
		return ""
	case lasted < time.Minute:
		return "less than a minute"
	case lasted < time.Hour:
		return fmt.Sprintf("%d min", int(lasted.Minutes()))
	case lasted < 48*time.Hour:
		return fmt.Sprintf("%d h", int(lasted.Hours()))
	}
	return fmt.Sprintf("%d days", int(lasted.Hours()/24))
}
