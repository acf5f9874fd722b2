package kymaedit

import (
	"bytes"
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// FieldManager is the name of these edits in the managed fields of a Kyma.
const FieldManager = "kyma-cli"

// DryRun determines whether an edit is only tried.
type DryRun string

// The ways to try an edit.
const (
	// DryRunNone writes the edit.
	DryRunNone DryRun = "none"
	// DryRunClient does not send the edit.
	DryRunClient DryRun = "client"
	// DryRunServer lets the API server validate the edit without storing it.
	DryRunServer DryRun = "server"
)

// Options of Apply. The zero value writes without a review.
type Options struct {
	DryRun DryRun
	// Review receives the edit before it is written, and again each time a conflict forces a new attempt. An error ends Apply.
	Review func(before, after *v1beta2.Kyma) error
}

// Result is the result of Apply.
type Result struct {
	// Before and After are the object before the edit and after it; they are the same when nothing changed.
	Before, After *v1beta2.Kyma
	// Written reports whether the edit was written to the cluster.
	Written bool
}

// retries waits for a random part of a growing interval, so that many concurrent writers do not collide again.
func retries() wait.Backoff {
	return wait.Backoff{Duration: 5 * time.Millisecond, Factor: 1.5, Jitter: 1, Steps: 60, Cap: 500 * time.Millisecond}
}

// Apply edits a Kyma so that no concurrent edit is lost:
//
//  1. it reads the object and makes the edit from it
//  2. it does not write an edit that changes nothing
//  3. it writes the difference as a patch that applies only to the version that was read
//  4. on a conflict it starts again, until the context ends
//
// change may be called many times, and must report its result anew each time.
func Apply(ctx context.Context, c client.Client, key client.ObjectKey, change func(*v1beta2.Kyma) error, options Options) (Result, error) {
	before := &v1beta2.Kyma{}
	if err := c.Get(ctx, key, before); err != nil {
		return Result{}, err
	}
	return ApplyTo(ctx, c, before, change, options)
}

// ApplyTo is Apply for a Kyma that was read before, such as one of a list: it is read again only after a conflict.
func ApplyTo(
	ctx context.Context, c client.Client, before *v1beta2.Kyma, change func(*v1beta2.Kyma) error, options Options,
) (Result, error) {
	backoff, key := retries(), client.ObjectKeyFromObject(before)
	for {
		result, err := once(ctx, c, before, change, options)
		if !apierrors.IsConflict(err) {
			return result, err
		}
		if err := pause(ctx, backoff.Step()); err != nil {
			return Result{}, fmt.Errorf("kyma %s kept changing concurrently: %w", key, err)
		}
		before = &v1beta2.Kyma{}
		if err := c.Get(ctx, key, before); err != nil {
			return Result{}, err
		}
	}
}

// once makes one attempt.
func once(
	ctx context.Context, c client.Client, before *v1beta2.Kyma, change func(*v1beta2.Kyma) error, options Options,
) (Result, error) {
	after := before.DeepCopy()
	if err := change(after); err != nil {
		return Result{}, err
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if same, err := nothing(before, after); err != nil || same {
		return Result{Before: before, After: before}, err
	}
	if options.Review != nil {
		if err := options.Review(before, after); err != nil {
			return Result{}, err
		}
	}
	result := Result{Before: before, After: after}
	write := []client.PatchOption{client.FieldOwner(FieldManager)}
	switch options.DryRun {
	case DryRunClient:
		return result, nil
	case DryRunServer:
		write = append(write, client.DryRunAll)
	case DryRunNone, "":
		result.Written = true
	}
	if err := c.Patch(ctx, after, patch, write...); err != nil {
		return Result{}, err
	}
	return result, nil
}

// nothing reports whether an edit changes nothing.
func nothing(before, after *v1beta2.Kyma) (bool, error) {
	patch, err := client.MergeFrom(before).Data(after)
	return bytes.Equal(patch, []byte("{}")), err
}

// pause waits for a duration, or until the context ends.
func pause(ctx context.Context, duration time.Duration) error {
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
