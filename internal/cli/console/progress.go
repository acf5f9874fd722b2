package console

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Progress shows what is in progress, a line for each thing. It is safe for concurrent use.
type Progress struct {
	console *Console
	mutex   sync.Mutex
	order   []string
	lines   map[string]string
	changed map[string]int // when a line changed last, counted in changes
	changes int
	drawn   int // lines on the screen that are ours
	cut     bool
}

// Progress begins to show progress. End it before anything else is written.
func (c *Console) Progress() *Progress {
	return &Progress{console: c, lines: map[string]string{}, changed: map[string]int{}}
}

// Set shows the state of one thing: key names it, state is one word, text gives the reason and may be empty. A repetition prints nothing.
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
	p.changes++
	p.changed[key] = p.changes
	if !p.console.Live {
		fmt.Fprintln(p.console.Err, line)
		return
	}
	p.draw()
}

// End leaves the last lines on the screen, including those for which there was no room.
func (p *Progress) End() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.drawn > 0 && p.drawn < len(p.order) {
		p.write(p.order, 0)
	}
	p.drawn = 0
}

// Cut reports whether a line on the screen was too long for the terminal, so that its text must be printed again.
func (p *Progress) Cut() bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.cut
}

// draw overwrites the lines that it wrote before. Lines that have left the window at its top cannot be overwritten, so only the lines
// that changed last are shown if there are too many.
func (p *Progress) draw() {
	room := p.console.Height - 1 // the cursor stands below
	if p.console.Height == 0 || len(p.order) <= room || room < 2 {
		p.write(p.order, 0)
		return
	}
	shown := slices.Clone(p.order)
	slices.SortStableFunc(shown, func(a, b string) int { return cmp.Compare(p.changed[b], p.changed[a]) })
	shown = shown[:room-1]
	slices.SortFunc(shown, func(a, b string) int { return cmp.Compare(slices.Index(p.order, a), slices.Index(p.order, b)) })
	p.write(shown, len(p.order)-len(shown))
}

// write writes the lines of keys, and the number of the others. A line is cut at the width of the terminal, so that it does not wrap.
func (p *Progress) write(keys []string, others int) {
	var text strings.Builder
	if p.drawn > 0 {
		fmt.Fprintf(&text, "\x1b[%dA", p.drawn)
	}
	p.drawn, p.cut = 0, false
	line := func(whole string) {
		line := []rune(whole)
		if width := p.console.Width; width > 1 && len(line) >= width {
			line, p.cut = append(line[:width-2], '…'), true
		}
		fmt.Fprintf(&text, "\x1b[2K%s\n", string(line))
		p.drawn++
	}
	if others > 0 {
		line(fmt.Sprintf("%-12s %d more", "...", others))
	}
	for _, key := range keys {
		line(p.lines[key])
	}
	fmt.Fprint(p.console.Err, text.String())
}
