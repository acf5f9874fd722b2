package modulecontent

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// slow makes calls that end on command, and counts those in progress.
type slow struct {
	mu          sync.Mutex
	now, most   int
	by          map[string]int
	mostOfPlace int
	made        map[string]int
	end         chan struct{}
}

func newSlow() *slow {
	return &slow{by: map[string]int{}, made: map[string]int{}, end: make(chan struct{})}
}

func (s *slow) call(place, key string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		s.mu.Lock()
		s.now++
		s.by[place]++
		s.made[key]++
		s.most, s.mostOfPlace = max(s.most, s.now), max(s.mostOfPlace, s.by[place])
		s.mu.Unlock()
		<-s.end
		s.mu.Lock()
		defer s.mu.Unlock()
		s.now--
		s.by[place]--
		return "yes", nil
	}
}

func hostOfKey(key string) string { return placeOf(key) }

func TestCallsUnderWayAreBoundedWhenCallersStopWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := newCalls[string, string](newGate(callsAtOnce, callsOfPlace), hostOfKey), newSlow()
		for i := range 2000 { // one worker asks for all of them, without patience
			c.patience = 0
			place := fmt.Sprintf("host-%d.example.com", i%20)
			if _, retry, err := c.do(t.Context(), fmt.Sprintf("https://%s/%d", place, i), s.call(place, fmt.Sprint(i))); retry != pendingPause || err != nil {
				t.Fatalf("retry %s, error %v", retry, err)
			}
		}
		synctest.Wait()
		if s.most != callsAtOnce || s.mostOfPlace > callsOfPlace {
			t.Errorf("%d calls are under way, %d to one host", s.most, s.mostOfPlace)
		}
		close(s.end)
		synctest.Wait()
		if s.most != callsAtOnce || s.mostOfPlace > callsOfPlace || len(s.made) != 2000 {
			t.Errorf("%d calls of 2000 were made, %d at a time, %d to one host", len(s.made), s.most, s.mostOfPlace)
		}
	})
}

func TestGate_AHostThatDoesNotAnswerHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := newCalls[string, string](newGate(callsAtOnce, callsOfPlace), hostOfKey), newSlow()
		defer close(s.end)
		c.patience = 0
		for i := range 500 {
			_, _, _ = c.do(t.Context(), fmt.Sprintf("dead.example.com/%d", i), s.call("dead.example.com", fmt.Sprint(i)))
		}
		synctest.Wait()
		c.patience = time.Minute
		answer, _, err := c.do(t.Context(), "good.example.com/1", func(context.Context) (string, error) { return "yes", nil })
		if answer != "yes" || err != nil {
			t.Errorf("answer %q, error %v", answer, err)
		}
		if s.now != callsOfPlace {
			t.Errorf("%d calls to the dead one are under way, want %d", s.now, callsOfPlace)
		}
	})
}

func TestGate_ACallThatIsNotAskedForAnyMoreIsNotMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := newCalls[string, string](newGate(1, 1), anywhere), newSlow()
		c.patience = 0
		for _, key := range []string{"first", "left", "wanted"} {
			_, _, _ = c.do(t.Context(), key, s.call("", key))
			synctest.Wait()
		}
		<-time.After(lapse)
		_, _, _ = c.do(t.Context(), "wanted", s.call("", "wanted"))
		close(s.end)
		synctest.Wait()
		if s.made["first"] != 1 || s.made["wanted"] != 1 || s.made["left"] != 0 {
			t.Errorf("calls made: %v", s.made)
		}
		if len(c.running) != 0 || len(c.gate.waiting) != 0 || c.gate.all != 0 || len(c.gate.places) != 0 {
			t.Errorf("something is left: %d calls, %d that wait", len(c.running), len(c.gate.waiting))
		}
		c.patience = time.Minute
		if answer, _, _ := c.do(t.Context(), "left", s.call("", "left")); answer != "yes" {
			t.Error("who comes back gets no answer")
		}
	})
}

func TestGate_OfAllCallsTheOneToTheIdlestPlaceIsNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, order := newGate(2, 2), make(chan string, 4)
		yes := func() bool { return true }
		g.enter("a", yes)
		g.enter("a", yes)
		var all sync.WaitGroup
		for _, place := range []string{"a", "a", "b"} {
			all.Go(func() {
				g.enter(place, yes)
				order <- place
			})
			synctest.Wait() // until it also waits
		}
		g.leave("a")
		if first := <-order; first != "b" {
			t.Errorf("the next one is of place %s, which has more under way", first)
		}
		g.leave("a")
		g.leave("b")
		all.Wait()
	})
}

func TestPlaceOf(t *testing.T) {
	for reference, want := range map[string]string{
		"registry.example.com:5000/components/sample@sha256:0": "registry.example.com:5000",
		"https://charts.example.com/stable chart sample":       "charts.example.com",
		"https://charts.example.com chart sample":              "charts.example.com",
		"configmaps://kcp-system/a:b":                          "kcp-system",
		"":                                                     "",
	} {
		if got := placeOf(reference); got != want {
			t.Errorf("%s is of place %q, want %q", reference, got, want)
		}
	}
}

// held is a source that answers when the test permits it.
type held struct {
	content.Source
	release           chan struct{}
	resolves, fetches atomic.Int64
}

func (h *held) Reference() string { return "files.example.com/sample" }

func (h *held) Resolve(context.Context) (content.Resolved, error) {
	h.resolves.Add(1)
	<-h.release
	return content.Resolved{Digest: "sha256:" + zeros}, nil
}

func (h *held) Fetch(context.Context, content.Resolved) (*content.Tree, error) {
	if h.fetches.Add(1) == 1 {
		<-h.release
	}
	return &content.Tree{Files: []content.File{{Data: []byte("a")}}}, nil
}

// Many concurrent callers for the same content, each to render it in another way, cause as many requests as one.
func TestGate_TheSameContentIsAskedForOnceByAllWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many = 50
		contents := NewContents(&content.OCI{Store: &content.Store{}}, nil)
		source := &held{release: make(chan struct{})}
		var group sync.WaitGroup
		for range many {
			group.Go(func() {
				resolved, shared, err := contents.resolve(t.Context(), source, content.Resolved{}, [32]byte{})
				if err != nil {
					t.Error(err)
				}
				if tree, err := contents.fetch(t.Context(), source, resolved, shared, [32]byte{}); err != nil || len(tree.Files) != 1 {
					t.Errorf("tree %v, error %v", tree, err)
				}
			})
		}
		synctest.Wait()
		source.release <- struct{}{}
		synctest.Wait()
		if source.resolves.Load() != 1 || source.fetches.Load() != 1 {
			t.Errorf("%d want it: it was asked %d times what it has, and %d times for that", many, source.resolves.Load(), source.fetches.Load())
		}
		close(source.release)
		group.Wait()
		if source.fetches.Load() != many { // all but the first find it in the store
			t.Errorf("%d of %d got it", source.fetches.Load(), many)
		}
	})
}
