package modulerollout

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

func TestCount_EventsEnqueueOnePassInAMoment(t *testing.T) {
	known := (&counts{}).of(types.NamespacedName{Name: "m"})
	if pause, enqueue := known.touch("a", true, 0); !enqueue || pause != 0 {
		t.Errorf("the first event waits %v, %v", pause, enqueue)
	}
	if _, enqueue := known.touch("b", true, 0); enqueue {
		t.Error("a second event enqueues a second pass")
	}
	known.begin(time.Second)
	if got := known.take(); len(got) != 2 {
		t.Errorf("the pass looks at %v", got)
	}
	if pause, enqueue := known.touch("a", true, 1050*time.Millisecond); !enqueue || pause != 150*time.Millisecond {
		t.Errorf("an event during the pass waits %v, %v", pause, enqueue)
	}
	known.begin(2 * time.Second)
	if pause, _ := known.touch("a", true, time.Minute); pause != 0 {
		t.Errorf("an event long after the pass waits %v", pause)
	}
}

func TestCount_OnlyMembersAndThoseThatMayBecomeOneCount(t *testing.T) {
	known := (&counts{}).of(types.NamespacedName{Name: "m"})
	if _, enqueue := known.touch("a", false, 0); enqueue || len(known.take()) != 0 {
		t.Error("a Kyma without the module counts")
	}
	known.keep("a", &record{})
	if _, enqueue := known.touch("a", false, 0); !enqueue {
		t.Error("a member that gave up the module does not count")
	}
	known.begin(0)
	known.keep("a", nil)
	if _, enqueue := known.touch("a", false, 0); enqueue {
		t.Error("one that is no member any more counts")
	}
}
