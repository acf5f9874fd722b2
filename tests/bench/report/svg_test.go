package report

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/tests/bench/fit"
)

// pictureFolder names a folder that gets the pictures of the tests, to be looked at.
const pictureFolder = "BENCH_PICTURES"

func sample() *Curve {
	return &Curve{
		Name: "bench-kymas-cpu", Bench: "B2", Title: "Processor time to install Kymas with 5 modules of 20 objects", Goal: AtMost(1.05),
		XLabel: "Kymas", YLabel: "processor time of the manager (s)",
		Lines: []Line{
			{Name: "manager", Points: []fit.Point{{X: 100, Y: 3.2}, {X: 300, Y: 9.9}, {X: 1000, Y: 31}, {X: 3000, Y: 99}, {X: 5000, Y: 158}}},
			{Name: "bare loop & servers", Limit: true, Points: []fit.Point{{X: 100, Y: 7}, {X: 1000, Y: 66}, {X: 5000, Y: 345}}},
			{Name: "heap (100 KiB)", Points: []fit.Point{{X: 100, Y: 0.9}, {X: 1000, Y: 3}, {X: 5000, Y: 11}}},
		},
	}
}

func TestPictures(t *testing.T) {
	for name, c := range map[string]struct {
		curve *Curve
		want  []string
		none  []string
	}{
		"a picture tells what it shows, on which axes, and how much it grows": {sample(), []string{
			"Processor time to install", ">Kymas<", ">processor time of the manager (s)<", "manager: exponent 0.998 (bound &lt;= 1.05)", ">1,000<", "linear growth",
		}, nil},
		"what XML would read otherwise is escaped": {sample(), []string{"bare loop &amp; servers: exponent 0.995"}, []string{"loop & servers"}},
		"the limit is held to nothing":             {sample(), nil, []string{"servers: exponent 0.995 (bound"}},
		"nothing to draw is an empty picture":      {&Curve{Title: "nothing"}, []string{"nothing"}, []string{"NaN", "circle", "linear"}},
		"a point alone has no law":                 {&Curve{Lines: []Line{{Name: "one", Points: []fit.Point{{X: 7, Y: 7}}}}}, []string{">one<", "circle"}, []string{"NaN", "exponent"}},
		"zeros have no place on a logarithmic axis": {
			&Curve{Lines: []Line{{Name: "idle", Points: []fit.Point{{X: 0, Y: 1}, {X: 10, Y: 0}, {X: 5, Y: math.Inf(1)}, {X: 5, Y: math.NaN()}}}}}, nil, []string{"circle", "NaN", "idle"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := string(SVG(c.curve))
			wellFormed(t, got)
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("the picture has no %q", want)
				}
			}
			for _, none := range c.none {
				if strings.Contains(got, none) {
					t.Errorf("the picture has %q", none)
				}
			}
			if folder := os.Getenv(pictureFolder); folder != "" {
				if err := os.WriteFile(filepath.Join(folder, strings.ReplaceAll(name, " ", "-")+".svg"), []byte(got), 0o600); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func wellFormed(t *testing.T, text string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestScale(t *testing.T) {
	for name, c := range map[string]struct {
		values    []float64
		low, high float64
		numbers   string
	}{
		"the ends are numbers that people like":        {[]float64{130, 4200}, 100, 5000, "100 200 500 1,000 2,000 5,000"},
		"one value has a decade around it":             {[]float64{7}, 2, 50, "2 5 10 20 50"},
		"many decades have one number each":            {[]float64{1, 50000}, 1, 50000, "1 10 100 1,000 10,000"},
		"below one":                                    {[]float64{0.013, 0.9}, 0.01, 1, "0.01 0.02 0.05 0.1 0.2 0.5 1"},
		"without values there is an axis all the same": {nil, 1, 10, "1 2 5 10"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScale(c.values, 0, 100)
			var numbers []string
			for _, tick := range s.ticks() {
				if !tick.faint {
					numbers = append(numbers, Figure(tick.value))
				}
			}
			if got := strings.Join(numbers, " "); math.Abs(s.low/c.low-1) > 1e-9 || math.Abs(s.high/c.high-1) > 1e-9 || got != c.numbers {
				t.Errorf("from %g to %g with %s, want %g to %g with %s", s.low, s.high, got, c.low, c.high, c.numbers)
			}
			if s.at(s.low) != 0 || math.Abs(s.at(s.high)-100) > 1e-9 {
				t.Errorf("the ends are at %g and %g", s.at(s.low), s.at(s.high))
			}
		})
	}
}
