package clustercache

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

const (
	// secondEvent is how long the event that an API server has established a definition may take after the one that it accepts its names.
	secondEvent = 2 * time.Second
	// promptReads is how many reads that find an object unready follow its events at once; each further one waits for twice as long.
	promptReads = 3
)

// pauseBeforeRead returns how long an event of an object that is not ready waits for the next one before the object is read. A definition
// is large, and its stream tells its metadata only. An API server writes the status of a new one twice, milliseconds apart in most
// clusters: when it accepts the names, and when it serves the kind. So the first event waits for the second, which is read at once. The
// events of an object that does not become ready are read in growing intervals.
func pauseBeforeRead(before, after *object) time.Duration {
	switch {
	case before != nil && before.blank && before.uid == after.uid:
		return secondEvent
	case after.looks < promptReads:
		return 0
	}
	return min(firstPause<<min(after.looks-promptReads, 10), lastPause)
}

// EstablishedSince returns when a definition was established. It is now for one that was seen not to be: its kind is about to be new. It is
// zero for one that does not exist, is being deleted, or was there before the connection and was not read since, because no caller asked
// for its health. No call is made.
func (r *Runtime) EstablishedSince(name string) time.Time {
	r.mu.RLock()
	defer r.mu.RUnlock()
	k := r.kinds[inventory.CRDKind]
	if k == nil {
		return time.Time{}
	}
	switch o := k.objects[placeOf("", name)]; {
	case o == nil || o.terminating || o.health == nil && !o.blank:
		return time.Time{}
	case !o.ready():
		return time.Now()
	}
	return r.served.establishedSince(name)
}

func (s *resources) establishedSince(name string) time.Time {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.defined[name].since
}

// establishedSince returns zero for a definition that is not established. One that does not tell since when, or by a clock that is ahead,
// was established now.
func establishedSince(definition *unstructured.Unstructured, now time.Time) time.Time {
	for _, one := range conditionsOf(definition) {
		condition, _ := one.(map[string]any)
		if condition["type"] != "Established" || condition["status"] != "True" {
			continue
		}
		text, _ := condition["lastTransitionTime"].(string)
		if since, err := time.Parse(time.RFC3339, text); err == nil && since.Before(now) {
			return since
		}
		return now
	}
	return time.Time{}
}

// isBlank reports whether a definition is as its creation left it.
func isBlank(definition *unstructured.Unstructured) bool { return len(conditionsOf(definition)) == 0 }

func conditionsOf(definition *unstructured.Unstructured) []any {
	conditions, _, _ := unstructured.NestedFieldNoCopy(definition.Object, "status", "conditions")
	list, _ := conditions.([]any)
	return list
}
