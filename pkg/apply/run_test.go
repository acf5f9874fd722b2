package apply

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// The number of concurrent writes is bounded, however many objects a phase has.
func TestWritesUnderWayAreBounded(t *testing.T) {
	for name, test := range map[string]struct{ workers, objects, peak, rounds int }{
		"as many as the options allow": {3, 50, 3, 17},
		"eight by default":             {0, 2000, 8, 250},
		"no more than objects":         {3, 2, 2, 1},
		"none for nothing":             {3, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var busy, peak, done atomic.Int64
				start := time.Now()
				r := &run{Options: Options{Workers: test.workers}}
				r.each(test.objects, func(int) {
					if now := busy.Add(1); now > peak.Load() {
						peak.Store(now) // a smaller value stored in between can only hide a peak of this very moment
					}
					<-time.After(time.Second)
					busy.Add(-1)
					done.Add(1)
				})
				rounds := int(time.Since(start) / time.Second)
				if int(peak.Load()) > test.peak || int(done.Load()) != test.objects || rounds != test.rounds {
					t.Errorf("%d of %d done in %d rounds, %d at a time", done.Load(), test.objects, rounds, peak.Load())
				}
			})
		})
	}
}
