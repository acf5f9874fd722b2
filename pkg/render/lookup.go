package render

import (
	"fmt"
	"strings"
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
