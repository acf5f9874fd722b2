package clustercache

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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

// isBlank reports whether a definition is as its creation left it.
func isBlank(definition *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedFieldNoCopy(definition.Object, "status", "conditions")
	list, _ := conditions.([]any)
	return len(list) == 0
}
