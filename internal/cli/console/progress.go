package console

import (
	"fmt"
	"strings"
	"sync"
)

// Progress shows what is under way, a line for each thing. It is safe for concurrent use.
type Progress struct {
	console *Console
	mutex   sync.Mutex
	order   []string
	lines   map[string]string
	drawn   int // lines on the screen that are ours
}

// Progress begins to show progress. End it before anything else is written.
func (c *Console) Progress() *Progress {
	return &Progress{console: c, lines: map[string]string{}}
}

// Set says how one thing stands: key names it, state is one word, text says why and may be empty. The same again says nothing.
func (p *Progress) Set(key, state, text string) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	line := fmt.Sprintf("%-12s %s", state, key)
	if text != "" {
		line += ": " + clean(text)
	}
	before, known := p.lines[key]
	if known && before == line {
		return
	}
	if !known {
		p.order = append(p.order, key)
	}
	p.lines[key] = line
	if !p.console.Live {
		fmt.Fprintln(p.console.Err, line)
		return
	}
	p.draw()
}

// End leaves the last lines standing.
func (p *Progress) End() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.drawn = 0
}

// draw writes all lines over those that it wrote before. A line is cut at the width of the terminal, so that it stays one.
func (p *Progress) draw() {
	var text strings.Builder
	if p.drawn > 0 {
		fmt.Fprintf(&text, "\x1b[%dA", p.drawn)
	}
	for _, key := range p.order {
		line := []rune(p.lines[key])
		if width := p.console.Width; width > 1 && len(line) >= width {
			line = append(line[:width-2], '…')
		}
		fmt.Fprintf(&text, "\x1b[2K%s\n", string(line))
	}
	p.drawn = len(p.order)
	fmt.Fprint(p.console.Err, text.String())
}
