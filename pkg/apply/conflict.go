package apply

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// conflictsOf reads the response to a server-side apply without force and returns the fields that others had set; nil for any other error.
func conflictsOf(err error) []FieldConflict {
	var status apierrors.APIStatus
	if !apierrors.IsConflict(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	var found []FieldConflict
	for _, cause := range status.Status().Details.Causes {
		if cause.Type == metav1.CauseTypeFieldManagerConflict {
			found = append(found, FieldConflict{Field: withoutElements(cause.Field), Manager: managerOf(cause.Message)})
		}
	}
	slices.SortFunc(found, func(a, b FieldConflict) int {
		return cmp.Or(strings.Compare(a.Field, b.Field), strings.Compare(a.Manager, b.Manager))
	})
	return slices.Compact(found)
}

// managerOf reads the name from `conflict with "kubectl" with subresource "scale" using apps/v1 at …`; "" for any other message.
func managerOf(message string) string {
	quoted, err := strconv.QuotedPrefix(strings.TrimPrefix(message, "conflict with "))
	if err != nil {
		return ""
	}
	name, _ := strconv.Unquote(quoted) // QuotedPrefix has seen that it is well formed
	return shortened(name, maxMark)
}

// elements matches the members of a set in a path: [="value"]. Keys of a list ([name="manager"]) identify an item and stay.
var elements = regexp.MustCompile(`\[=("(?:[^"\\]|\\.)*"|[^\]]*)\]`)

func withoutElements(path string) string {
	return shortened(elements.ReplaceAllLiteralString(path, "[=…]"), maxReason)
}

// ofOthers drops the conflicts about fields that our own manager has set by another kind of write.
func (o Options) ofOthers(conflicts []FieldConflict) []FieldConflict {
	return slices.DeleteFunc(conflicts, func(c FieldConflict) bool { return c.Manager == o.Manager })
}

// markField returns the path of the owner mark, as server-side apply writes it.
func (o Options) markField() string { return ".metadata.annotations." + o.OwnerKey }

// about reports whether one of the conflicts is about the field.
func about(conflicts []FieldConflict, field string) bool {
	return slices.ContainsFunc(conflicts, func(c FieldConflict) bool { return c.Field == field })
}

// without drops the conflicts about a field.
func without(conflicts []FieldConflict, field string) []FieldConflict {
	return slices.DeleteFunc(conflicts, func(c FieldConflict) bool { return c.Field == field })
}
