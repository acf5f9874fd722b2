package waitfor

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// streams counts the lists and watches of a client.
type streams struct{ lists, watches atomic.Int64 }

func (s *streams) counted(c client.WithWatch) client.WithWatch {
	return interceptor.NewClient(c, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			s.lists.Add(1)
			return c.List(ctx, list, options...)
		},
		Watch: func(
			ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption,
		) (watch.Interface, error) {
			s.watches.Add(1)
			return c.Watch(ctx, list, options...)
		},
	})
}

func TestWaitMany_OneListAndOneWatch(t *testing.T) {
	c := connect(t)
	var ask ManyOptions
	var kymas []*v1beta2.Kyma
	for range 5 {
		kyma := someKyma(t, c)
		kymas = append(kymas, kyma)
		ask.Kymas = append(ask.Kymas, Options{Kyma: client.ObjectKeyFromObject(kyma), Generation: 1, Modules: []Expectation{{Module: "notes"}}})
	}
	someKyma(t, c) // which is not waited for
	ask.Namespace, ask.Timeout = "default", 8*time.Second
	tell(t, c, kymas[0], says(1, "Ready", "1.0.0", "", "")) // before the wait begins
	ask.Kymas[3].Patience = 300 * time.Millisecond
	go func() {
		tell(t, c, kymas[1], says(1, "Processing", "1.0.0", "ModuleProcessing", "Deployment"))
		tell(t, c, kymas[1], says(1, "Ready", "1.0.0", "", ""))
		tell(t, c, kymas[2], says(1, "Error", "", "ChannelNotFound", "no such channel"))
		tell(t, c, kymas[3], says(1, "Warning", "1.0.0", "ModuleWarning", "certificate expires"))
	}()
	var counts streams
	var reports []map[End]int
	outcomes, err := WaitMany(t.Context(), counts.counted(c), ask, func(ends map[End]int) { reports = append(reports, ends) })
	if err != nil || counts.lists.Load() != 1 || counts.watches.Load() != 1 {
		t.Fatalf("%d lists, %d watches, %v", counts.lists.Load(), counts.watches.Load(), err)
	}
	for i, want := range []struct {
		end  End
		text string
	}{{Done, ""}, {Done, ""}, {Failed, "notes is in state Error: ChannelNotFound: no such channel"},
		{Warned, "certificate expires"}, {Open, "notes is still Processing"}} {
		if end, why, _ := outcomes[i].End(); end != want.end || !strings.Contains(why, want.text) || outcomes[i].TimedOut != (end == Open) {
			t.Errorf("Kyma %d: %s, %q, timed out %t; want %s, %q", i, end, why, outcomes[i].TimedOut, want.end, want.text)
		}
	}
	last := map[End]int{Done: 2, Failed: 1, Warned: 1, Open: 1}
	if !slices.ContainsFunc(reports, func(ends map[End]int) bool { return maps.Equal(ends, last) }) {
		t.Errorf("the reports are %v, want %v among them", reports, last)
	}
}

func TestWaitMany_EndsWithTheLastKyma(t *testing.T) {
	c := connect(t)
	stays, goes := someKyma(t, c), someKyma(t, c)
	tell(t, c, stays, says(1, "Ready", "1.0.0", "", ""))
	if err := c.Delete(t.Context(), goes); err != nil {
		t.Fatal(err)
	}
	ask := ManyOptions{Timeout: time.Minute, Kymas: []Options{
		{Kyma: client.ObjectKeyFromObject(stays), Modules: []Expectation{{Module: "notes"}}},
		{Kyma: client.ObjectKeyFromObject(goes), Modules: []Expectation{{Module: "notes"}}},
	}}
	outcomes, err := WaitMany(t.Context(), c, ask, func(map[End]int) {})
	if err != nil {
		t.Fatal(err)
	}
	if end, _, _ := outcomes[0].End(); end != Done {
		t.Errorf("the Kyma that stays: %+v", outcomes[0])
	}
	if end, why, _ := outcomes[1].End(); end != Failed || !strings.Contains(why, "is gone") {
		t.Errorf("the Kyma that goes: %+v", outcomes[1])
	}
}

func TestWaitMany_AnInterruption(t *testing.T) {
	c := connect(t)
	kyma := someKyma(t, c)
	ctx, cancel := context.WithCancel(t.Context())
	outcomes, err := WaitMany(ctx, c, ManyOptions{Kymas: []Options{{Kyma: client.ObjectKeyFromObject(kyma), Modules: []Expectation{{Module: "notes"}}}}},
		func(map[End]int) { cancel() })
	if err == nil || len(outcomes) != 1 {
		t.Errorf("%+v, %v", outcomes, err)
	}
}
