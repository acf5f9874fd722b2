package oracle_test

import (
	"context"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/tests/faults/operation"
	"github.com/kyma-project/lifecycle-manager/tests/faults/oracle"
	"github.com/kyma-project/lifecycle-manager/tests/faults/rig"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

func TestOracle_TwoCleanRunsEndAlikeAndAnotherOneIsSeenToDiffer(t *testing.T) {
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
	judge, err := oracle.Guard(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range operation.All()[:2] { // the sample of all suites runs the others
		t.Run(o.Name, func(t *testing.T) {
			want, problems := run(ctx, t, judge, r, o, nil, nil)
			if len(problems) > 0 || len(want) == 0 {
				t.Fatalf("%d objects; the first clean run: %s", len(want), strings.Join(problems, "\n"))
			}
			_, problems = run(ctx, t, judge, r, o, want, nil)
			if len(problems) > 0 {
				t.Errorf("the second clean run: %s", strings.Join(problems, "\n"))
			}
		})
	}
	t.Run("what an oracle has to see", func(t *testing.T) {
		o := operation.All()[0]
		want, _ := run(ctx, t, judge, r, o, nil, nil)
		_, problems := run(ctx, t, judge, r, o, want, spoil)
		text := strings.Join(problems, "\n")
		for _, part := range []string{"should not be there", "this runtime is not the Kyma's", "is not ours and was touched", "not marked as ours", "no module has such an object"} {
			if !strings.Contains(text, part) {
				t.Errorf("no one saw %q in:\n%s", part, text)
			}
		}
	})
}

func run(ctx context.Context, t *testing.T, watchdog *oracle.Watchdog, r *rig.Rig, o operation.Operation, want oracle.State,
	then func(context.Context, *testing.T, *operation.Scenario),
) (oracle.State, []string) {
	t.Helper()
	s, err := operation.NewScene(ctx, r, operation.NewID())
	if err != nil {
		t.Fatal(err)
	}
	judge := watchdog.Begin(s)
	if err := o.Prepare(ctx, s); err != nil {
		t.Fatal(err)
	}
	if err := o.Run(ctx, s, time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := r.Quiet(ctx); err != nil { // the manager has reported everything about it
		t.Fatal(err)
	}
	within := time.Minute
	if then != nil {
		then(ctx, t, s)
		within = time.Second
	}
	state, problems := judge.End(ctx, want, within, oracle.Usual())
	lines, writes, memory := judge.Cost()
	t.Logf("%d objects, %d lines, %d writes, %d MiB", len(state), lines, writes, memory>>20)
	if err := s.Close(ctx); err != nil && then == nil {
		t.Error(err)
	}
	return state, problems
}

// spoil makes calls through the proxies that a manager must never make.
func spoil(ctx context.Context, t *testing.T, s *operation.Scenario) {
	t.Helper()
	object := func(name string) *unstructured.Unstructured {
		object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
		object.SetNamespace(metav1.NamespaceDefault)
		object.SetName(name)
		return object
	}
	for _, server := range []*rig.Server{s.Home, s.Other} {
		through, err := client.New(server.Proxy.Config(), client.Options{})
		if err != nil {
			t.Fatal(err)
		}
		uid := s.Decoys[server][0].UID
		if err := through.Create(ctx, object("left-"+s.ID)); err != nil {
			t.Fatal(err)
		}
		if err := through.Delete(ctx, object(s.Decoys[server][0].Name), client.Preconditions{UID: &uid}); err != nil {
			t.Fatal(err)
		}
	}
}
