package operation_test

import (
	"context"
	"testing"
	"time"

	"github.com/kyma-project/lifecycle-manager/tests/faults/operation"
	"github.com/kyma-project/lifecycle-manager/tests/faults/rig"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

func TestOperation_EveryOperationSettlesAndLeavesNothingBehind(t *testing.T) {
	apiserver.Need(t)
	ctx := context.Background()
	r, err := rig.Start(ctx, rig.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Stop(); err != nil {
			t.Error(err)
		}
	})
	for _, o := range operation.All() {
		t.Run(o.Name, func(t *testing.T) {
			start := time.Now()
			s, err := operation.NewScene(ctx, r, operation.NewID())
			if err != nil {
				t.Fatal(err)
			}
			made := time.Since(start)
			if err := o.Prepare(ctx, s); err != nil {
				t.Fatal(err)
			}
			prepared := time.Since(start)
			if err := o.Run(ctx, s, time.Minute); err != nil {
				t.Error(err)
			}
			ran := time.Since(start)
			if err := s.Close(ctx); err != nil {
				t.Error(err)
			}
			t.Logf("made %s, prepared %s, ran %s, closed %s", made, prepared, ran, time.Since(start))
		})
	}
	if broken := r.Watch.Violations(); len(broken) > 0 {
		t.Error(broken)
	}
}
