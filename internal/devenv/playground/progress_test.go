package playground

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// ticking returns a clock that advances by half a second on each call.
func ticking() func() time.Time {
	now := time.Unix(0, 0)
	return func() time.Time {
		defer func() { now = now.Add(500 * time.Millisecond) }()
		return now
	}
}

func TestProgress(t *testing.T) {
	var out strings.Builder
	p := newProgress(&out, ticking())
	p.sayf("Playground %d", 1)
	if err := p.step("hub", "starting a cluster", func() (string, error) { return "is up", nil }); err != nil {
		t.Fatal(err)
	}
	p.notef("local-demo", "%s", "Ready")
	want := `Playground 1
   0.5 s  hub         starting a cluster ...
   2.0 s  hub         is up (took 0.5 s)
   2.5 s  local-demo  Ready
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("lines differ (-want +got):\n%s", diff)
	}
}

func TestProgressOfAStepThatFails(t *testing.T) {
	var out strings.Builder
	p := newProgress(&out, ticking())
	cause := errors.New("no space left")
	err := p.step("hub", "starting a cluster", func() (string, error) { return "", cause })
	if !errors.Is(err, cause) || err.Error() != `step "hub" (starting a cluster) failed: no space left` {
		t.Errorf("the step returned %v", err)
	}
	if got := strings.Count(out.String(), "\n"); got != 1 {
		t.Errorf("%d lines, want that the step began and not that it was done:\n%s", got, out.String())
	}
}
