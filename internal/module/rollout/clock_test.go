package rollout

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestClock(t *testing.T) {
	type reading struct{ wall, mono time.Duration }
	for _, test := range []struct {
		name     string
		readings []reading
		from     time.Duration // when a span began, by the wall clock of then
		want     time.Duration // how long it is by the last reading
	}{
		{"two clocks that agree measure what passes", []reading{{0, 0}, {time.Minute, time.Minute}}, 0, time.Minute},
		{"a wall clock that is set forward makes no span longer", []reading{{0, 0}, {time.Hour, time.Second}, {time.Hour + time.Second, 2 * time.Second}}, 0,
			2 * time.Second},
		{"what begins after the jump is measured in full", []reading{{0, 0}, {time.Hour, time.Second}, {2 * time.Hour, time.Hour + time.Second}}, time.Hour,
			time.Hour},
		{"a wall clock that is set back is followed", []reading{{0, 0}, {-time.Hour, time.Second}}, 0, -time.Hour},
		{"one that is set forward and back again measures as before", []reading{{0, 0}, {time.Hour, time.Second}, {2 * time.Second, 2 * time.Second}}, 0,
			2 * time.Second},
		{"one that is set back by a part of the jump keeps the rest of it",
			[]reading{{0, 0}, {time.Hour, 0}, {30 * time.Minute, 0}, {40 * time.Minute, 10 * time.Minute}}, 0, 10 * time.Minute},
		{"one that is set back and put right again does not hurry", []reading{{0, 0}, {-time.Hour, time.Second}, {2 * time.Second, 2 * time.Second}}, 0,
			2*time.Second - time.Hour - time.Second},
		{"a small drift is no jump", []reading{{0, 0}, {10500 * time.Millisecond, 10 * time.Second}}, 0, 10500 * time.Millisecond},
		{"a jump is forgotten after the horizon", []reading{{0, 0}, {time.Hour, 0}, {5 * time.Hour, 4 * time.Hour}}, 0, 5 * time.Hour},
		{"a machine that slept for long has a monotonic clock that did not", []reading{{0, 0}, {5 * time.Hour, time.Minute}}, 0, time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			var clock Clock
			var jumps []Jump
			var now time.Time
			for _, each := range test.readings {
				now = noon.Add(each.wall)
				jumps = clock.Read(now, each.mono, 2*time.Hour)
			}
			if got := now.Sub(shift(jumps, noon.Add(test.from))); got.Round(time.Minute) != test.want.Round(time.Minute) {
				t.Errorf("got %v, want %v; jumps %v", got, test.want, jumps)
			}
		})
	}
	if !shift([]Jump{{At: noon, By: time.Hour}}, time.Time{}).IsZero() {
		t.Error("no time has become one")
	}
}

func TestClock_NoSpanUpToTheHorizonIsLongerThanItTook(t *testing.T) {
	const horizon = 2 * time.Hour
	for seed := range uint64(200) {
		d := rand.New(rand.NewPCG(seed, 1))
		var clock Clock
		var times []time.Time
		var monos []time.Duration
		wall, mono := noon, time.Duration(0)
		for range 200 {
			passed := time.Duration(d.IntN(600)) * time.Second
			wall, mono = wall.Add(passed), mono+passed
			if d.IntN(10) == 0 {
				wall = wall.Add(time.Duration(d.IntN(7200)-3600) * time.Second)
			}
			jumps := clock.Read(wall, mono, horizon)
			times, monos = append(times, wall), append(monos, mono)
			for i := range times {
				if took := mono - monos[i]; took < horizon && wall.Sub(shift(jumps, times[i])) > took+jitter*200 {
					t.Fatalf("seed %d: %v passed in a span of %v", seed, took, wall.Sub(shift(jumps, times[i])))
				}
			}
		}
	}
}
