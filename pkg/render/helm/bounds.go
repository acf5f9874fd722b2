package helm

import (
	"runtime"
	"time"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

const (
	// maxWork is what the templates of one chart may do. Roughly it counts bytes: of text that is written and of arguments.
	maxWork = 128 << 20
	// turn is what a turn of a loop, a called template and a made map or list cost.
	turn = 1 << 9
	// maxFrames is how deep templates may call each other, in frames of the stack. A stack that is full ends the process.
	maxFrames = 20_000
	// seldom is how many turns pass between two looks at the stack, which take as long as it is deep.
	seldom = 16
)

// templateBounds end a render that would not end by itself. What they cannot see is memory that structures take which share their parts
// and are written out by toYaml or toJson: a chart can still be made to need too much of it.
type templateBounds struct {
	interrupted func() error
	now         time.Time
	left        int64
	turns       int
	// varied are the functions that were called and give something else each time.
	varied map[string]bool
	// generated gives generators their results; nil where these differ each time. files are the files of the chart that are being rendered,
	// one within the other.
	generated *generation
	files     []*fileCalls
	// lookups are what was looked up in the cluster.
	lookups map[render.Lookup]bool
	// err is why the render ended; the engine passes on only its text.
	err error
}

func newTemplateBounds(interrupted func() error, now time.Time) *templateBounds {
	return &templateBounds{interrupted: interrupted, now: now, left: maxWork, varied: map[string]bool{}, lookups: map[render.Lookup]bool{}}
}

// spend takes work from what is left.
func (b *templateBounds) spend(work int64) error {
	if b.err != nil {
		return b.err
	}
	if b.left -= work; b.left < 0 {
		b.err = content.Errorf(content.ReasonContentTooLarge,
			"the templates of the chart do not come to an end, or give too much: look for loops and templates that call themselves")
		return b.err
	}
	b.err = b.interrupted()
	return b.err
}

// step is called at each turn of a loop and in each template. At the beginning of a file of the chart it gets its name.
func (b *templateBounds) step(written int, file ...string) (string, error) {
	for _, name := range file {
		b.files = append(b.files, &fileCalls{name: name, counts: map[string]int{}})
	}
	if err := b.spend(turn + int64(max(written, 0))); err != nil {
		return "", err
	}
	b.turns++
	var frame [1]uintptr
	if b.turns%seldom == 0 && runtime.Callers(maxFrames, frame[:]) > 0 {
		b.err = invalidChart("the templates of the chart call each other too deep: look for templates that call themselves")
	}
	return "", b.err
}

// end is called at the end of a file of the chart.
func (b *templateBounds) end() string {
	b.files = b.files[:len(b.files)-1]
	return ""
}

// text prepares what is given to tpl.
func (b *templateBounds) text(text string) (string, error) {
	if _, err := b.step(2 * len(text)); err != nil {
		return "", err
	}
	prepared, err := instrumented(text, "")
	if err != nil {
		b.err = invalidChart("a text that the chart gives to tpl %w", err)
	}
	return prepared, b.err
}
