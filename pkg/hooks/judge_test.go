package hooks_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/hooks"
)

func TestHook_Judge(t *testing.T) {
	const ticket = "pre-install/1-r"
	job, pod, account := setOf("Job a pre-install")[0], setOf("Pod a pre-install")[0], setOf("ServiceAccount a pre-install")[0]
	status := func(fields map[string]any) func(*unstructured.Unstructured) {
		return func(o *unstructured.Unstructured) { o.Object["status"] = fields }
	}
	condition := func(kind string) func(*unstructured.Unstructured) {
		return status(map[string]any{"conditions": []any{map[string]any{"type": kind, "status": "True"}}})
	}
	phase := func(name string) func(*unstructured.Unstructured) { return status(map[string]any{"phase": name}) }
	deleted := func(o *unstructured.Unstructured) {
		o.Object["metadata"].(map[string]any)["deletionTimestamp"] = "2026-01-02T03:04:05Z"
	}
	suspended := func(o *unstructured.Unstructured) {
		condition("Suspended")(o)
		o.Object["spec"] = map[string]any{"suspend": true}
	}
	for name, test := range map[string]struct {
		hook    hooks.Hook
		absent  bool
		foreign bool
		written string
		change  []func(*unstructured.Unstructured)
		want    hooks.Verdict
	}{
		"a Job that is not there is written":                      {hook: job, absent: true, want: hooks.Write},
		"a Job of this run is waited for":                         {hook: job, written: ticket, want: hooks.Wait},
		"a Job that is suspended is waited for":                   {hook: job, written: ticket, change: of(suspended), want: hooks.Wait},
		"a Job that is complete has completed":                    {hook: job, written: ticket, change: of(condition("Complete")), want: hooks.Completed},
		"a Job that is complete has completed while it goes":      {hook: job, written: ticket, change: of(condition("Complete"), deleted), want: hooks.Completed},
		"a Job that failed has failed":                            {hook: job, written: ticket, change: of(condition("Failed")), want: hooks.Failed},
		"a Job that goes before its end is waited for":            {hook: job, written: ticket, change: of(deleted), want: hooks.Wait},
		"a complete Job of another run is replaced":               {hook: job, written: "pre-install/1-q", change: of(condition("Complete")), want: hooks.Replace},
		"a Job of another run that is going is waited for":        {hook: job, written: "pre-install/1-q", change: of(deleted), want: hooks.Wait},
		"a Job of another owner is left alone":                    {hook: job, foreign: true, written: ticket, change: of(condition("Complete")), want: hooks.Foreign},
		"a Pod that succeeded has completed":                      {hook: pod, written: ticket, change: of(phase("Succeeded")), want: hooks.Completed},
		"a Pod that runs is waited for":                           {hook: pod, written: ticket, change: of(phase("Running")), want: hooks.Wait},
		"a Pod that failed has failed":                            {hook: pod, written: ticket, change: of(phase("Failed")), want: hooks.Failed},
		"any other object has completed when it was written":      {hook: account, written: ticket, want: hooks.Completed},
		"any other object of another run is written again":        {hook: account, written: "pre-install/1-q", want: hooks.Write},
		"any other object of another owner is the writer's issue": {hook: account, foreign: true, want: hooks.Write},
		"any other object that is going is waited for":            {hook: account, written: ticket, change: of(deleted), want: hooks.Wait},
	} {
		t.Run(name, func(t *testing.T) {
			live := test.hook.WithTicket(test.written)
			for _, change := range test.change {
				change(live)
			}
			if test.absent {
				live = nil
			}
			verdict, why := test.hook.Judge(ticket, live, !test.foreign)
			if verdict != test.want {
				t.Errorf("verdict %d (%s), want %d", verdict, why, test.want)
			}
			if silent := verdict == hooks.Write || verdict == hooks.Completed; silent != (why == "") {
				t.Errorf("verdict %d says %q", verdict, why)
			}
		})
	}
}

func of(changes ...func(*unstructured.Unstructured)) []func(*unstructured.Unstructured) {
	return changes
}
