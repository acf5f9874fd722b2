package render

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// Lookup asks for an object of the cluster, or with an empty Name for those of a kind; with an empty Namespace for objects without one, or
// in all of them.
type Lookup struct{ APIVersion, Kind, Namespace, Name string }

// String identifies what is asked for, in messages and among answers: "v1 Secret default/admin", "v1 Node worker", "v1 Secret default/*".
func (l Lookup) String() string {
	name := l.Name
	if name == "" {
		name = "*"
	}
	if l.Namespace != "" {
		name = l.Namespace + "/" + name
	}
	return strings.Join([]string{l.APIVersion, l.Kind, name}, " ")
}

// NeedsLookups is the error of content that could not be rendered where nothing is looked up, and may be where it is.
type NeedsLookups struct {
	Lookups []Lookup
	Err     error
}

// Error adds to the cause what was not found.
func (n *NeedsLookups) Error() string {
	return fmt.Sprintf("%s (the content looks up %s in the cluster, and that was not asked)", n.Err, n.Lookups[0])
}

// Unwrap returns the cause.
func (n *NeedsLookups) Unwrap() error { return n.Err }

// Unanswered is the error of a render for an installation that looks up what its input has no answer for: nothing is rendered with a guess.
type Unanswered struct{ Lookup Lookup }

// Error names what is asked for.
func (u *Unanswered) Error() string {
	return fmt.Sprintf("the content looks up %s in the cluster, and there is no answer yet", u.Lookup)
}

// MaxLookups is how many objects and lists the templates of one source may look up.
const MaxLookups = 64

// AnswerLookups calls render until everything that the content looks up has an answer in found, to which it adds those of ask. What is
// known to be looked up is asked about before; what turns up while rendering is asked about then, and everything is rendered again. Each
// call of render gets a copy, for one that takes long may go on without its caller. More than MaxLookups are a *content.Error: a name may
// be another one in each render.
func AnswerLookups(
	ctx context.Context, found map[string]json.RawMessage, known []Lookup,
	ask func(context.Context, Lookup) (json.RawMessage, error), render func(found map[string]json.RawMessage) error,
) error {
	for lookups := known; ; {
		for _, lookup := range lookups {
			if _, answered := found[lookup.String()]; answered {
				continue
			}
			answer, err := ask(ctx, lookup)
			if err != nil {
				return err
			}
			found[lookup.String()] = answer
		}
		if len(found) > MaxLookups {
			return content.Errorf(content.ReasonContentTooLarge, "the templates look up more than %d objects, the last one %s",
				MaxLookups, lookups[len(lookups)-1])
		}
		err := render(maps.Clone(found))
		unanswered, ok := errors.AsType[*Unanswered](err)
		if !ok {
			return err
		}
		lookups = []Lookup{unanswered.Lookup}
	}
}

// ReleaseInputs identifies the content of a release, by its digest, and what its author or user gave it, as hex digits. What the cluster
// serves is not among that. Values that are no JSON are an error.
func ReleaseInputs(digest string, input Input) (string, error) {
	given := Input{Name: input.Name, Namespace: input.Namespace, Path: input.Path, Values: input.Values}
	raw, err := json.Marshal(given) //nolint:musttag // it is only compared
	if err != nil {
		return "", content.Errorf(content.ReasonValuesInvalid, "the values cannot be written as JSON: %w", err)
	}
	sum := sha256.Sum256(raw)
	all := sha256.Sum256(append([]byte(digest), sum[:]...))
	return hex.EncodeToString(all[:8]), nil
}
