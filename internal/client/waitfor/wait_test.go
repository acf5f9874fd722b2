package waitfor

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// someKyma creates a Kyma with module notes, and deletes it after the test.
func someKyma(t *testing.T, c client.Client) *v1beta2.Kyma {
	t.Helper()
	kyma := &v1beta2.Kyma{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "follow-"},
		Spec:       v1beta2.KymaSpec{Channel: "regular", Modules: []v1beta2.Module{{Name: "notes"}}},
	}
	if err := c.Create(t.Context(), kyma); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Delete(context.WithoutCancel(t.Context()), kyma); client.IgnoreNotFound(err) != nil {
			t.Error(err)
		}
	})
	return kyma
}

// tell writes the status as the operator would.
func tell(t *testing.T, c client.Client, kyma *v1beta2.Kyma, status v1beta2.KymaStatus) {
	t.Helper()
	patch, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		t.Fatal(err)
	}
	to := &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: kyma.Namespace, Name: kyma.Name}}
	if err := c.Status().Patch(t.Context(), to, client.RawPatch("application/merge-patch+json", patch)); err != nil {
		t.Error(err)
	}
}

// says returns a status with one module.
func says(generation int64, state v1beta2.State, version, reason, message string) v1beta2.KymaStatus {
	return v1beta2.KymaStatus{
		ObservedGeneration: generation, State: state,
		Modules: []v1beta2.ModuleStatus{{Name: "notes", State: state, Version: version, Message: message}},
		Conditions: []metav1.Condition{{
			Type: v1beta2.ConditionReady, Status: metav1.ConditionFalse, Reason: "ModuleError", LastTransitionTime: metav1.Now(),
			Message: "0 of 1 modules ready; notes: " + reason + ": " + message,
		}},
		LastOperation: v1beta2.LastOperation{Operation: "x", LastUpdateTime: metav1.Now()},
	}
}

func TestWait(t *testing.T) {
	c := connect(t)
	notes := func(want Expectation) []Expectation { want.Module = "notes"; return []Expectation{want} }
	for name, x := range map[string]struct {
		story func(t *testing.T, kyma *v1beta2.Kyma)
		ask   Options
		state v1beta2.State
		text  string
		late  bool
	}{
		"Ready of this generation is the end": {
			func(t *testing.T, k *v1beta2.Kyma) { tell(t, c, k, says(1, "Ready", "1.0.0", "", "")) },
			Options{Modules: notes(Expectation{}), Generation: 1}, "Ready", "version 1.0.0", false,
		},
		"Ready of the previous generation is not": {
			func(t *testing.T, k *v1beta2.Kyma) { tell(t, c, k, says(1, "Ready", "1.0.0", "", "")) },
			Options{Modules: notes(Expectation{}), Generation: 2, Timeout: 5 * time.Second}, "Processing", "not seen the change", true,
		},
		"Ready in another version is not": {
			func(t *testing.T, k *v1beta2.Kyma) { tell(t, c, k, says(1, "Ready", "1.0.0", "", "")) },
			Options{Modules: notes(Expectation{Version: "1.1.0"}), Timeout: 5 * time.Second}, "Processing", "version 1.0.0 runs, 1.1.0 was requested", true,
		},
		"a refusal is an Error at once": {
			func(t *testing.T, k *v1beta2.Kyma) {
				tell(t, c, k, says(1, "Error", "", "ChannelNotFound", `no version found for channel "x" in ModuleReleaseMeta "notes"`))
			},
			Options{Modules: notes(Expectation{})}, "Error", "ChannelNotFound: no version found", false,
		},
		"a previous refusal passes when a user requested another attempt": {
			func(t *testing.T, k *v1beta2.Kyma) {
				tell(t, c, k, says(1, "Error", "", "SignatureMissing", "no one signed it"))
				tell(t, c, k, says(1, "Ready", "1.0.0", "", ""))
			},
			Options{Modules: notes(Expectation{}), Again: true}, "Ready", "version 1.0.0", false,
		},
		"a refusal that remains after another attempt is an Error": {
			func(t *testing.T, k *v1beta2.Kyma) {
				tell(t, c, k, says(1, "Error", "", "SignatureMissing", "no one signed it"))
			},
			Options{Modules: notes(Expectation{}), Again: true, Patience: 300 * time.Millisecond}, "Error", "SignatureMissing: no one signed it", false,
		},
		"a refusal that is a Warning is the outcome at once": {
			func(t *testing.T, k *v1beta2.Kyma) { tell(t, c, k, says(1, "Warning", "", "Downgrade", "lower")) },
			Options{Modules: notes(Expectation{})}, "Warning", "Downgrade: lower", false,
		},
		"an Error that may pass is the outcome only at the timeout": {
			func(t *testing.T, k *v1beta2.Kyma) {
				tell(t, c, k, says(1, "Error", "", "RegistryUnreachable", "no answer"))
			},
			Options{Modules: notes(Expectation{}), Timeout: 5 * time.Second}, "Error", "RegistryUnreachable: no answer", true,
		},
		"an Error that passes is not the outcome": {
			func(t *testing.T, k *v1beta2.Kyma) {
				tell(t, c, k, says(1, "Error", "", "RegistryUnreachable", "no answer"))
				tell(t, c, k, says(1, "Processing", "1.0.0", "ModuleProcessing", "Deployment"))
				tell(t, c, k, says(1, "Ready", "1.0.0", "", ""))
			},
			Options{Modules: notes(Expectation{})}, "Ready", "version 1.0.0", false,
		},
		"a Warning that lasts is the end": {
			func(t *testing.T, k *v1beta2.Kyma) {
				tell(t, c, k, says(1, "Warning", "1.0.0", "ModuleWarning", "certificate expires"))
			},
			Options{Modules: notes(Expectation{}), Patience: 300 * time.Millisecond}, "Warning", "certificate expires", false,
		},
		"a module in progress ends at the timeout": {
			func(t *testing.T, k *v1beta2.Kyma) {
				tell(t, c, k, says(1, "Processing", "1.0.0", "WaitingForObjects", "Deployment notes/notes"))
			},
			Options{Modules: notes(Expectation{}), Timeout: 5 * time.Second}, "Processing", "WaitingForObjects: Deployment notes/notes", true,
		},
		"a module is gone when the status no longer has it": {
			func(t *testing.T, k *v1beta2.Kyma) {
				tell(t, c, k, says(1, "Deleting", "1.0.0", "ModuleDeleting", "the module is being removed"))
				patch := []byte(`{"status":{"modules":null}}`)
				to := k.DeepCopy()
				if err := c.Status().Patch(t.Context(), to, client.RawPatch("application/merge-patch+json", patch)); err != nil {
					t.Error(err)
				}
			},
			Options{Modules: notes(Expectation{Gone: true}), Generation: 1}, StateGone, "", false,
		},
		"a Kyma as a whole is Ready when its status is": {
			func(t *testing.T, k *v1beta2.Kyma) { tell(t, c, k, says(1, "Ready", "1.0.0", "", "")) },
			Options{Generation: 1}, "Ready", "", false,
		},
		"a suspended Kyma changes nothing": {
			func(t *testing.T, k *v1beta2.Kyma) {
				k.Labels = map[string]string{v1beta2.LabelSkipReconciliation: "true"}
				if err := c.Update(t.Context(), k); err != nil {
					t.Error(err)
				}
			},
			Options{Modules: notes(Expectation{})}, "Error", "suspended", false,
		},
		"waiting for a Kyma that is deleted meanwhile is pointless": {
			func(t *testing.T, k *v1beta2.Kyma) {
				if err := c.Delete(t.Context(), k); err != nil {
					t.Error(err)
				}
			},
			Options{Modules: notes(Expectation{})}, "Error", "is gone", false,
		},
		"a Kyma that should go is gone": {
			func(t *testing.T, k *v1beta2.Kyma) {
				if err := c.Delete(t.Context(), k); err != nil {
					t.Error(err)
				}
			},
			Options{Gone: true}, StateGone, "", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			kyma := someKyma(t, c)
			ask := x.ask
			ask.Kyma = client.ObjectKeyFromObject(kyma)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			var told []Progress
			begun := x.late
			if x.late { // the status is final before Wait starts
				x.story(t, kyma.DeepCopy())
			}
			var story sync.WaitGroup
			outcome, err := Wait(ctx, c, ask, func(line Progress) {
				told = append(told, line)
				if !begun { // the changes happen while Wait watches
					begun = true
					story.Go(func() { x.story(t, kyma.DeepCopy()) })
				}
			})
			story.Wait()
			if err != nil {
				t.Fatalf("%v, after %v", err, told)
			}
			if len(outcome.Lines) == 0 {
				t.Fatalf("nothing was seen: %+v", outcome)
			}
			last := outcome.Lines[len(outcome.Lines)-1]
			gone := x.state == StateGone && outcome.State == v1beta2.StateReady && last.State == StateGone
			if want := x.state; outcome.State != want && !gone {
				t.Errorf("it ended with %s, want %s: %v", outcome.State, want, told)
			}
			if outcome.TimedOut != x.late || !strings.Contains(last.Text, x.text) {
				t.Errorf("timed out: %v (want %v); said %q, want %q in it", outcome.TimedOut, x.late, last.Text, x.text)
			}
		})
	}
}

func TestInterrupted(t *testing.T) {
	c := connect(t)
	kyma := someKyma(t, c)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Wait(ctx, c, Options{Kyma: client.ObjectKeyFromObject(kyma), Modules: []Expectation{{Module: "notes"}}}, func(Progress) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted wait ended with %v", err)
	}
}

// The Manifest has more details while the Kyma only reports that it was written.
func TestManifestsTellWhatIsMissing(t *testing.T) {
	c := connect(t)
	kyma := someKyma(t, c)
	manifest := &v1beta2.Manifest{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: kyma.Name,
			Labels: map[string]string{
				v1beta2.LabelKymaName: kyma.Name, v1beta2.LabelModuleName: "notes", v1beta2.LabelManagedBy: v1beta2.ManagedByLifecycleManager,
			},
		},
		Spec: v1beta2.ManifestSpec{Install: v1beta2.InstallInfo{Name: "raw-manifest"}},
	}
	manifest.Spec.Install.Source.Raw = []byte(`{"type":"oci-ref"}`)
	if err := c.Create(t.Context(), manifest); err != nil {
		t.Fatal(err)
	}
	tell(t, c, kyma, says(1, "Processing", "1.0.0", "ManifestPending", `Manifest "x" was written and is being applied`))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	written := false
	_, err := Wait(ctx, c, Options{Kyma: client.ObjectKeyFromObject(kyma), Modules: []Expectation{{Module: "notes"}}}, func(line Progress) {
		switch {
		case strings.Contains(line.Text, "Deployment notes has 0 of 1 pods"):
			cancel()
		case !written:
			written = true
			manifest.Status = v1beta2.ManifestStatus{
				State: "Processing", ObservedGeneration: manifest.Generation, LastOperation: v1beta2.LastOperation{Operation: "x", LastUpdateTime: metav1.Now()},
				Conditions: []metav1.Condition{{
					Type: v1beta2.ConditionReady, Status: metav1.ConditionFalse, Reason: "WaitingForObjects", LastTransitionTime: metav1.Now(),
					Message: "Deployment notes has 0 of 1 pods",
				}},
			}
			if err := c.Status().Update(t.Context(), manifest); err != nil {
				t.Error(err)
			}
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the Manifest's message was not told: %v", err)
	}
}

func TestAwaitGone(t *testing.T) {
	c := connect(t)
	kyma := someKyma(t, c)
	kyma.Finalizers = []string{"example.com/holds"}
	if err := c.Update(t.Context(), kyma); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(t.Context(), kyma); err != nil {
		t.Fatal(err)
	}
	object := Object{Kind: v1beta2.GroupVersion.WithKind("Kyma"), Key: client.ObjectKeyFromObject(kyma), UID: kyma.UID}
	var states []v1beta2.State
	err := AwaitGone(t.Context(), c, []Object{object}, func(line Progress) {
		states = append(states, line.State)
		if line.State == v1beta2.StateDeleting && strings.Contains(line.Text, "example.com/holds") {
			to := kyma.DeepCopy()
			if err := c.Patch(t.Context(), to, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))); err != nil {
				t.Error(err)
			}
		}
	})
	if diff := cmp.Diff([]v1beta2.State{v1beta2.StateDeleting, StateGone}, states); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
