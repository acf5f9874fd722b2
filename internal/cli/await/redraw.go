package await

import (
	"bytes"
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
)

// pause is how long changes are collected before anything is read again: they come in bursts.
const pause = 300 * time.Millisecond

// Redraw draws after every burst of events, and writes the output if it has changed. It ends with the error of draw, or the context's.
func Redraw(ctx context.Context, c *console.Console, events <-chan struct{}, draw func() error) error {
	out, before := c.Out, []byte(nil)
	defer func() { c.Out = out }()
	for {
		var text bytes.Buffer
		c.Out = &text
		if err := draw(); err != nil {
			return err
		}
		if !bytes.Equal(text.Bytes(), before) {
			if before != nil {
				text.WriteByte('\n')
			}
			before = bytes.Clone(text.Bytes())
			if _, err := out.Write(before); err != nil {
				return err
			}
		}
		if err := Burst(ctx, events); err != nil {
			return err
		}
	}
}

// Burst waits for an event, and then for those that follow it at once.
func Burst(ctx context.Context, events <-chan struct{}) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-events:
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pause):
		return nil
	}
}

// Events returns a channel that receives a value when objects of some kinds change. It holds one value at most, which carries no data. A
// kind that the cluster does not serve, or that the user may not watch, gives none.
func Events(
	ctx context.Context, c *console.Console, cluster client.WithWatch, namespace string, kinds ...client.ObjectList,
) (<-chan struct{}, error) {
	changed := make(chan struct{}, 1)
	started := 0
	for _, list := range kinds {
		stream, err := cluster.Watch(ctx, list, client.InNamespace(namespace))
		if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		started++
		again := func() (watch.Interface, error) { return cluster.Watch(ctx, list, client.InNamespace(namespace)) }
		go func() { tell(ctx, stream, again, changed) }()
	}
	if started == 0 {
		c.Sayf("Warning: there is nothing here that could be watched: this is the current state")
	}
	return changed, nil
}

// tell passes on the events of a stream, and begins another stream when it ends. That counts as an event, so that nothing is missed in
// between.
func tell(ctx context.Context, stream watch.Interface, again func() (watch.Interface, error), to chan<- struct{}) {
	for {
		for range stream.ResultChan() {
			select {
			case to <- struct{}{}:
			default:
			}
		}
		stream.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(time.Second):
			}
			if next, err := again(); err == nil {
				stream = next
				break
			}
		}
	}
}
