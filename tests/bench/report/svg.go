package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/kyma-project/lifecycle-manager/tests/bench/fit"
)

const (
	width, plotHeight       = 760.0, 360.0
	left, right, foot       = 92.0, 28.0, 58.0
	titleHeight, rowHeight  = 44.0, 20.0
	fewest                  = 3 // points that an exponent is judged by
	ink, muted, rule, faint = "#1f2328", "#59636e", "#d1d9e0", "#eef1f4"
)

// inks tell lines apart for everyone, the colour-blind included.
var inks = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b58900", "#56b4e9"}

// SVG draws a curve on two logarithmic axes: the points, the power law through them as a broken line, and linear growth as a dotted one.
func SVG(c *Curve) []byte {
	lines := drawable(c.Lines)
	top := titleHeight + rowHeight*float64(len(lines)+1)
	height := top + plotHeight + foot
	var xs, ys []float64
	for _, l := range lines {
		for _, p := range l.Points {
			xs, ys = append(xs, p.X), append(ys, p.Y)
		}
	}
	d := &drawing{x: newScale(xs, left, width-right), y: newScale(ys, top+plotHeight, top)}
	d.printf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" width="%g" height="%g" role="img" `, width, height, width, height)
	d.printf(`font-family="system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif" font-size="13">` + "\n")
	d.printf("<title>%s</title>\n", escape(c.Title))
	d.printf(`<rect width="%g" height="%g" fill="#ffffff"/>`+"\n", width, height)
	d.text(left, 26, "start", ink, c.Title, `font-size="17" font-weight="600"`)
	d.grid(c.XLabel, c.YLabel)
	d.clip()
	d.linear(lines)
	for i, l := range lines {
		d.line(l, colour(l, i))
	}
	for i, l := range lines {
		d.legend(titleHeight+rowHeight*float64(i), colour(l, i), "", words(l, c.Goal))
	}
	if len(lines) > 0 {
		d.legend(titleHeight+rowHeight*float64(len(lines)), muted, `stroke-dasharray="1.5 4"`, "linear growth, for comparison")
	}
	d.printf("</svg>\n")
	return d.Bytes()
}

// drawable drops points that a logarithmic axis has no place for, and lines without any other.
func drawable(lines []Line) []Line {
	var kept []Line
	for _, l := range lines {
		l.Points = slices.DeleteFunc(slices.Clone(l.Points), func(p fit.Point) bool {
			return p.X <= 0 || p.Y <= 0 || math.IsInf(p.X, 0) || math.IsInf(p.Y, 0) || math.IsNaN(p.X) || math.IsNaN(p.Y)
		})
		if len(l.Points) > 0 {
			kept = append(kept, l)
		}
	}
	return kept
}

func colour(l Line, i int) string {
	if l.Limit {
		return "#8c959f"
	}
	return inks[i%len(inks)]
}

// words returns those of the legend.
func words(l Line, goal Bound) string {
	law := l.Law()
	switch {
	case law.Points < 2:
		return l.Name
	case l.Limit || goal.Is == "" || law.Points < fewest:
		return fmt.Sprintf("%s: exponent %s", l.Name, exponent(law))
	}
	return fmt.Sprintf("%s: exponent %s (bound %s)", l.Name, exponent(law), goal)
}

func exponent(law fit.Power) string { return strconv.FormatFloat(law.Exponent, 'f', 3, 64) }

// drawing collects the elements of a picture.
type drawing struct {
	bytes.Buffer
	x, y scale
}

func (d *drawing) printf(format string, args ...any) { fmt.Fprintf(d, format, args...) }

func (d *drawing) text(x, y float64, anchor, fill, words, more string) {
	d.printf(`<text x="%.1f" y="%.1f" text-anchor="%s" fill="%s" %s>%s</text>`+"\n", x, y, anchor, fill, more, escape(words))
}

func (d *drawing) stroke(x1, y1, x2, y2 float64, colour string, wide float64, more string) {
	d.printf(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-width="%g" %s/>`+"\n", x1, y1, x2, y2, colour, wide, more)
}

// grid draws the axes with their numbers and labels.
func (d *drawing) grid(xLabel, yLabel string) {
	for _, t := range d.x.ticks() {
		at := d.x.at(t.value)
		d.stroke(at, d.y.from, at, d.y.to, tint(t), 1, "")
		if !t.faint {
			d.text(at, d.y.from+20, "middle", muted, Figure(t.value), "")
		}
	}
	for _, t := range d.y.ticks() {
		at := d.y.at(t.value)
		d.stroke(d.x.from, at, d.x.to, at, tint(t), 1, "")
		if !t.faint {
			d.text(d.x.from-10, at+4.5, "end", muted, Figure(t.value), "")
		}
	}
	d.stroke(d.x.from, d.y.from, d.x.to, d.y.from, muted, 1.2, "")
	d.stroke(d.x.from, d.y.from, d.x.from, d.y.to, muted, 1.2, "")
	d.text((d.x.from+d.x.to)/2, d.y.from+44, "middle", ink, xLabel, "")
	middle := (d.y.from + d.y.to) / 2
	d.text(22, middle, "middle", ink, yLabel, fmt.Sprintf(`transform="rotate(-90 22 %.1f)"`, middle))
}

func tint(t tick) string {
	if t.faint {
		return faint
	}
	return rule
}

// clip keeps laws, which go from one side to the other, within the axes.
func (d *drawing) clip() {
	d.printf(`<clipPath id="plot"><rect x="%.1f" y="%.1f" width="%.1f" height="%.1f"/></clipPath>`+"\n",
		d.x.from, d.y.to, d.x.to-d.x.from, d.y.from-d.y.to)
}

// linear draws growth by the exponent one, through the first point of the first line.
func (d *drawing) linear(lines []Line) {
	if len(lines) == 0 {
		return
	}
	first := lines[0].Points[0]
	d.law(fit.Power{Exponent: 1, Factor: first.Y / first.X}, muted, 1.2, "1.5 4")
}

func (d *drawing) line(l Line, colour string) {
	if law := l.Law(); law.Points >= 2 {
		d.law(law, colour, 1.6, "7 4")
	}
	for _, p := range l.Points {
		d.printf(`<circle cx="%.1f" cy="%.1f" r="4.5" fill="%s" stroke="#ffffff" stroke-width="1.2"><title>%s: %s</title></circle>`+"\n",
			d.x.at(p.X), d.y.at(p.Y), colour, Figure(p.X), Figure(p.Y))
	}
}

// law draws a straight line, which a power law is here.
func (d *drawing) law(law fit.Power, colour string, wide float64, dashes string) {
	d.stroke(d.x.from, d.y.at(law.At(d.x.low)), d.x.to, d.y.at(law.At(d.x.high)), colour, wide,
		fmt.Sprintf(`stroke-dasharray="%s" clip-path="url(#plot)"`, dashes))
}

// legend is a row above the picture; dots that belong to a line say so by a dot.
func (d *drawing) legend(y float64, colour, dashes, words string) {
	d.stroke(left, y, left+26, y, colour, 1.6, dashes)
	if dashes == "" {
		d.printf(`<circle cx="%.1f" cy="%.1f" r="4" fill="%s"/>`+"\n", left+13, y, colour)
	}
	d.text(left+34, y+4.5, "start", ink, words, "")
}

func escape(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // a bytes.Buffer takes everything
	return b.String()
}
