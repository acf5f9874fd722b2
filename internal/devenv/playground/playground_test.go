package playground

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestRunSaysWhatIsMissing(t *testing.T) {
	var out strings.Builder
	programs := t.TempDir()
	err := Run(context.Background(), Options{Dir: t.TempDir(), Programs: programs}, &out)
	if err == nil || !strings.Contains(err.Error(), "there is no program "+programs+"/manager: make run builds it") {
		t.Errorf("Run() = %v", err)
	}
	for _, want := range []string{"Playground 1 keeps its state and logs in ", "FAILED: there is no program", "Logs\n  manager", "Everything ended"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("output lacks %q:\n%s", want, out.String())
		}
	}
}

func TestRunThatIsInterrupted(t *testing.T) {
	var out strings.Builder
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Run(ctx, Options{Dir: t.TempDir(), Programs: t.TempDir()}, &out); err != nil {
		t.Errorf("Run() = %v, but to be interrupted is no failure", err)
	}
	if strings.Contains(out.String(), "FAILED") {
		t.Errorf("output tells a failure:\n%s", out.String())
	}
}

func TestPlayground_InOrderStopsAtTheFirstFailure(t *testing.T) {
	failure := errors.New("no")
	calls := 0
	err := inOrder(context.Background(),
		func(context.Context) error { calls++; return nil },
		func(context.Context) error { calls++; return failure },
		func(context.Context) error { calls++; return nil },
	)
	if !errors.Is(err, failure) || calls != 2 {
		t.Errorf("inOrder() = %v after %d calls", err, calls)
	}
}

func TestThingsToTry(t *testing.T) {
	text := things("/state/1/env")
	if len(tries) != 11 || !strings.Contains(text, "Eleven things to try") {
		t.Errorf("%d things are announced as eleven", len(tries))
	}
	var commands []string
	for line := range strings.Lines(text) {
		if command, ok := strings.CutPrefix(line, "      "); ok {
			commands = append(commands, command)
		}
	}
	want := 1
	for _, thing := range tries {
		want += len(thing.commands)
	}
	if len(commands) != want || commands[0] != "source /state/1/env\n" {
		t.Errorf("%d lines look like commands, want %d with source first:\n%s", len(commands), want, text)
	}
	for _, command := range commands {
		if out, err := exec.Command("sh", "-n", "-c", command).CombinedOutput(); err != nil {
			t.Errorf("%s is no command: %s", command, out)
		}
	}
}

func TestDescribe(t *testing.T) {
	k := kyma("demo", nil, moduleNotes)
	k.Generation = 2
	if got := Describe(k); got != "has no status yet" || Ready(k) {
		t.Errorf("a new Kyma: %q, ready: %t", got, Ready(k))
	}
	k.Status = v1beta2.KymaStatus{State: v1beta2.StateProcessing, ModulesReady: "0/1", Conditions: []metav1.Condition{
		{Type: v1beta2.ConditionReady, Status: metav1.ConditionFalse, Reason: v1beta2.ReasonManifestPending, ObservedGeneration: 2},
	}}
	if got := Describe(k); got != "Processing, 0/1 modules ready, ManifestPending" || Ready(k) {
		t.Errorf("a Kyma under way: %q, ready: %t", got, Ready(k))
	}
	k.Status.State, k.Status.ModulesReady = v1beta2.StateReady, "1/1"
	k.Status.Conditions[0].Status, k.Status.Conditions[0].Reason = metav1.ConditionTrue, v1beta2.ReasonReady
	if got := Describe(k); got != "Ready, 1/1 modules ready" || !Ready(k) {
		t.Errorf("a Kyma that is Ready: %q, ready: %t", got, Ready(k))
	}
	k.Generation = 3
	if Ready(k) {
		t.Error("a status of an earlier generation counts")
	}
}

func TestFreeAddresses(t *testing.T) {
	found, err := freeAddresses(context.Background(), 3)
	if err != nil || len(found) != 3 || found[0] == found[1] || found[1] == found[2] || found[0] == found[2] {
		t.Errorf("freeAddresses() = %v, %v", found, err)
	}
	for _, address := range found {
		if !strings.HasPrefix(address, "127.0.0.1:") {
			t.Errorf("%s is not on loopback", address)
		}
	}
}
