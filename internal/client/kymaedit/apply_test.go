package kymaedit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// someKyma creates a Kyma and deletes it after the test.
func someKyma(t *testing.T, c client.Client, modules ...string) client.ObjectKey {
	t.Helper()
	kyma := &v1beta2.Kyma{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "edit-"}, Spec: v1beta2.KymaSpec{Channel: "regular"},
	}
	for _, name := range modules {
		Enable(&kyma.Spec, ModuleRequest{Name: name})
	}
	if err := c.Create(t.Context(), kyma); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Delete(context.WithoutCancel(t.Context()), kyma); client.IgnoreNotFound(err) != nil {
			t.Error(err)
		}
	})
	return client.ObjectKeyFromObject(kyma)
}

func read(t *testing.T, c client.Client, key client.ObjectKey) *v1beta2.Kyma {
	t.Helper()
	kyma := &v1beta2.Kyma{}
	if err := c.Get(t.Context(), key, kyma); err != nil {
		t.Fatal(err)
	}
	return kyma
}

func enable(names ...string) func(*v1beta2.Kyma) error {
	return func(kyma *v1beta2.Kyma) error {
		for _, name := range names {
			Enable(&kyma.Spec, ModuleRequest{Name: name})
		}
		return nil
	}
}

// Ten users enable a module each and one disables another, while an operator constantly writes the status.
func TestConcurrentEditsAllLand(t *testing.T) {
	c := connect(t)
	key := someKyma(t, c, "leaving")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var people, operator sync.WaitGroup
	over := make(chan struct{})
	operator.Go(func() {
		for i := range 1000 {
			select {
			case <-over:
				return
			default:
			}
			kyma := &v1beta2.Kyma{}
			kyma.Namespace, kyma.Name = key.Namespace, key.Name
			patch := fmt.Sprintf(`{"status":{"modulesReady":"%d"}}`, i)
			if err := c.Status().Patch(ctx, kyma, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for i := range 10 {
		own := connect(t)
		people.Go(func() {
			result, err := Apply(ctx, own, key, enable(fmt.Sprintf("module%d", i)), Options{})
			if err != nil || !result.Written {
				t.Errorf("person %d: written %v: %v", i, result.Written, err)
			}
		})
	}
	people.Go(func() {
		if _, err := Apply(ctx, c, key, func(k *v1beta2.Kyma) error { Disable(&k.Spec, "leaving"); return nil }, Options{}); err != nil {
			t.Error(err)
		}
	})
	people.Wait()
	close(over)
	operator.Wait()
	kyma := read(t, c, key)
	for i := range 10 {
		if Entry(&kyma.Spec, fmt.Sprintf("module%d", i)) == nil {
			t.Errorf("the edit of person %d is lost", i)
		}
	}
	if len(kyma.Spec.Modules) != 10 {
		t.Errorf("there are %d modules, want 10: %v", len(kyma.Spec.Modules), kyma.Spec.Modules)
	}
}

func TestTriesWriteNothing(t *testing.T) {
	c := connect(t)
	for name, c2 := range map[string]struct {
		way  DryRun
		edit func(*v1beta2.Kyma) error
		bad  bool
	}{
		"a client dry run writes nothing":                     {DryRunClient, enable("notes"), false},
		"a server dry run writes nothing":                     {DryRunServer, enable("notes"), false},
		"a server dry run is validated":                       {DryRunServer, setBoth, true},
		"a client dry run is not validated":                   {DryRunClient, setBoth, false},
		"a write is validated as well, and refused":           {DryRunNone, setBoth, true},
		"an edit that changes nothing is not written":         {DryRunNone, enable(), false},
		"a module that is there already is not written again": {DryRunNone, enable("there"), false},
	} {
		t.Run(name, func(t *testing.T) {
			key := someKyma(t, c, "there")
			before := read(t, c, key)
			result, err := Apply(t.Context(), c, key, c2.edit, Options{DryRun: c2.way})
			if got := apierrors.IsInvalid(err); got != c2.bad || !c2.bad && err != nil {
				t.Errorf("error %v, want refusal: %v", err, c2.bad)
			}
			if result.Written {
				t.Error("it says that it was written")
			}
			if after := read(t, c, key); after.ResourceVersion != before.ResourceVersion {
				t.Errorf("it was written: %s is %s now", before.ResourceVersion, after.ResourceVersion)
			}
		})
	}
}

// setBoth makes an edit that the API refuses.
func setBoth(kyma *v1beta2.Kyma) error {
	kyma.Spec.Modules = append(kyma.Spec.Modules, v1beta2.Module{Name: "both", Channel: "fast", Version: "1.0.0"})
	return nil
}

func TestApplyEnds(t *testing.T) {
	c := connect(t)
	key := someKyma(t, c)
	no := errors.New("no")
	if _, err := Apply(t.Context(), c, key, enable("notes"), Options{
		Review: func(before, after *v1beta2.Kyma) error { return no },
	}); !errors.Is(err, no) {
		t.Errorf("a review that says no ended with %v", err)
	}
	if kyma := read(t, c, key); len(kyma.Spec.Modules) != 0 {
		t.Errorf("it was written after all: %v", kyma.Spec.Modules)
	}
	missing := client.ObjectKey{Namespace: "default", Name: "nobody"}
	if _, err := Apply(t.Context(), c, missing, enable("notes"), Options{}); !apierrors.IsNotFound(err) {
		t.Errorf("a Kyma that is not there ended with %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	// Another user writes after every read, so that no attempt can succeed.
	_, err := Apply(ctx, c, key, func(kyma *v1beta2.Kyma) error {
		other := kyma.DeepCopy()
		other.Labels = map[string]string{"other": kyma.ResourceVersion}
		if err := c.Update(t.Context(), other); err != nil {
			return err
		}
		return enable("notes")(kyma)
	}, Options{})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("endless conflicts ended with %v", err)
	}
}

func TestApplyReturnsWhatIsThere(t *testing.T) {
	c := connect(t)
	key := someKyma(t, c)
	result, err := Apply(t.Context(), c, key, enable("notes"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	entry := Entry(&result.After.Spec, "notes")
	if entry == nil || entry.CustomResourcePolicy != v1beta2.CustomResourcePolicyCreateAndDelete || !IsManaged(entry) {
		t.Errorf("the API's defaults are not in %+v", entry)
	}
	if result.After.Generation != result.Before.Generation+1 {
		t.Errorf("generation %d after %d", result.After.Generation, result.Before.Generation)
	}
}
