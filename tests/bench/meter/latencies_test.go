package meter

import (
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestLatenciesOfOperationsThatRunAtOnce(t *testing.T) {
	var l Latencies
	if diff := cmp.Diff(Summary{}, l.Summary()); diff != "" {
		t.Error(diff)
	}
	var group sync.WaitGroup
	for i := range 200 {
		group.Go(func() { l.Add(time.Duration(i+1) * time.Millisecond) })
	}
	group.Wait()
	const ms = time.Millisecond
	want := Summary{Count: 200, Min: ms, P50: 100 * ms, P90: 180 * ms, P99: 198 * ms, Max: 200 * ms}
	if diff := cmp.Diff(want, l.Summary()); diff != "" {
		t.Error(diff)
	}
	if l.Count() != 200 || len(l.All()) != 200 || l.Quantile(0.5) != 100*ms || Milliseconds(1500*time.Microsecond) != 1.5 {
		t.Errorf("%d times, median %s", l.Count(), l.Quantile(0.5))
	}
}
