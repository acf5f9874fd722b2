package installer

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kyma-project/lifecycle-manager/pkg/health"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/calls"
)

func TestInstallWaitsByWatches(t *testing.T) {
	f := onServer(t)
	inst := f.installation(deployment("first"), deployment("second"))
	inst.Wait = time.Minute
	before := f.counter.Snapshot()
	go func() {
		for _, name := range []string{"first", "second"} {
			f.soon(name, func() bool { return f.find("apps/v1", "Deployment", f.namespace, name) != nil })
			f.runs(name)
		}
	}()
	start := time.Now()
	f.installs(inst)
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("it took %s, so no watch woke it", took)
	}
	spent := f.counter.Since(before).Plain()
	if n := spent[calls.Call{Verb: calls.Watch, Resource: "deployments.apps"}]; n == 0 || n > 4 {
		t.Errorf("%d watches", n)
	}
	if n := spent[calls.Call{Verb: calls.Get, Resource: "deployments.apps"}]; n > 12 {
		t.Errorf("%d reads: that is polling", n)
	}
}

func TestInstallGivesUpWhenWaitIsOver(t *testing.T) {
	f := onServer(t)
	inst := f.installation(deployment("never"))
	inst.Wait = 300 * time.Millisecond
	start := time.Now()
	report, err := Install(t.Context(), inst)
	if err != nil || report.Ready || report.Reason != ReasonNotReady || time.Since(start) > 20*time.Second {
		t.Errorf("%v after %s\n%s", err, time.Since(start), pretty(report))
	}
}

func TestInstallEndsWithItsContext(t *testing.T) {
	f := onServer(t)
	inst := f.installation(deployment("never"))
	inst.Wait = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	inst.Progress = func(object ObjectReport) {
		if object.Health == health.InProgress {
			cancel()
		}
	}
	if report, err := Install(ctx, inst); report.Ready {
		t.Errorf("%v\n%s", err, pretty(report))
	}
	if recorded := f.recordOf(inst); len(recorded.entries) != 1 || recorded.entries[0].Hash == "" {
		t.Errorf("what was done is not recorded: %+v", recorded.entries)
	}
}

func TestAwait_WhatMayPassIsTriedAgain(t *testing.T) {
	f := onServer(t)
	inst := f.installation("{apiVersion: " + f.namespace + ".example.com/v1, kind: Late, metadata: {name: one}}")
	report, err := Install(t.Context(), inst)
	f.reason(report, err, "KindUnknown")
	inst.Wait = time.Minute
	go func() {
		f.soon("first try", func() bool { return len(f.records()) > 0 })
		_ = f.other.Create(t.Context(), f.definition("Late", ""))
	}()
	f.installs(inst)
}

func TestCheckHasTheLastWord(t *testing.T) {
	f := onServer(t)
	inst := f.installation(configMap("a"))
	var asked atomic.Int32
	inst.Check = func(ctx context.Context, cluster Cluster) (bool, string, error) {
		if live := object("{apiVersion: v1, kind: ConfigMap}"); cluster.Client.Get(ctx, keyOf(f.namespace, "a"), live) != nil {
			return false, "", errors.New("asked before it is there")
		}
		return asked.Add(1) > 2, "a user has to say yes", nil
	}
	report, err := Install(t.Context(), inst)
	if err != nil || report.Reason != ReasonWaitingForCheck || report.Message != "a user has to say yes" {
		t.Errorf("%v\n%s", err, pretty(report))
	}
	inst.Wait = time.Minute
	f.installs(inst)
	if asked.Load() != 3 {
		t.Errorf("asked %d times", asked.Load())
	}
	inst.Check = func(context.Context, Cluster) (bool, string, error) { return false, "", errors.New("broken") }
	report, err = Install(t.Context(), inst)
	if f.reason(report, err, ReasonCheckFailed); err == nil || !strings.Contains(err.Error(), "broken") {
		t.Error(err)
	}
}

func TestProbes(t *testing.T) {
	f := onServer(t)
	inst := f.installation(configMap("a", "go=no") + configMap("b", "go=yes"))
	inst.Probes = []Probe{{Name: "go", Kind: "ConfigMap", Expression: `has(self.data.go) && self.data.go == "yes"`, Message: "does not go yet"}}
	report, err := Install(t.Context(), inst)
	if err != nil || report.Reason != ReasonWaitingForProbe || !strings.HasSuffix(report.Message, "/a: probe go: does not go yet") {
		t.Errorf("%v\n%s", err, pretty(report))
	}
	inst.Sources = f.installation(configMap("a", "go=yes") + configMap("b", "go=yes")).Sources
	f.installs(inst)
}
