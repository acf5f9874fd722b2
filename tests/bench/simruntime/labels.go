package simruntime

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"unique"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
)

// labelSet are labels, stored once for all objects that carry the same.
type labelSet struct{ unique.Handle[string] }

const labelEnd, labelMiddle = "\n", "="

func labelsOf(set map[string]string) labelSet {
	var text strings.Builder
	for _, key := range slices.Sorted(maps.Keys(set)) {
		text.WriteString(key + labelMiddle + set[key] + labelEnd)
	}
	return labelSet{unique.Make(text.String())}
}

// Has implements labels.Labels.
func (l labelSet) Has(key string) bool {
	_, ok := l.Lookup(key)
	return ok
}

// Get implements labels.Labels.
func (l labelSet) Get(key string) string {
	value, _ := l.Lookup(key)
	return value
}

// Lookup implements labels.Labels.
func (l labelSet) Lookup(key string) (value string, exists bool) {
	for line := range strings.SplitSeq(l.Value(), labelEnd) {
		if found, value, ok := strings.Cut(line, labelMiddle); ok && found == key {
			return value, true
		}
	}
	return "", false
}

// selection is what a list or a watch wants of a resource.
type selection struct {
	namespace, name string
	labels          labels.Selector // nil for all
}

// selectors are parsed once: thousands of streams ask for the same.
var selectors sync.Map

// newSelection reads the selectors of a request.
func newSelection(namespace, byLabel, byField string) (selection, error) {
	s := selection{namespace: namespace}
	for part := range strings.SplitSeq(byField, ",") {
		if part == "" {
			continue
		}
		key, value, ok := strings.Cut(strings.Replace(part, "==", "=", 1), "=")
		switch {
		case ok && key == "metadata.name":
			s.name = value
		case ok && key == "metadata.namespace" && (namespace == "" || namespace == value):
			s.namespace = value
		default:
			return s, apierrors.NewBadRequest("field label not supported: " + part)
		}
	}
	if byLabel == "" {
		return s, nil
	}
	if known, ok := selectors.Load(byLabel); ok {
		s.labels, _ = known.(labels.Selector)
		return s, nil
	}
	parsed, err := labels.Parse(byLabel)
	if err != nil {
		return s, apierrors.NewBadRequest(err.Error())
	}
	selectors.Store(byLabel, parsed)
	s.labels = parsed
	return s, nil
}

// at reports whether an object is in the right place, whatever its labels.
func (s *selection) at(o *object) bool {
	return (s.namespace == "" || s.namespace == o.namespace) && (s.name == "" || s.name == o.name)
}

func (s *selection) carries(l labelSet) bool { return s.labels == nil || s.labels.Matches(l) }

func (s *selection) matches(o *object) bool { return s.at(o) && s.carries(o.labels) }
