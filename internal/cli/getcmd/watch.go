package getcmd

import (
	"bytes"
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/statusreader"
)

// pause is how long changes are collected before anything is read again: they come in bursts.
const pause = 300 * time.Millisecond

// follow draws once, and with --watch again whenever something has changed. Only without --watch does the error of a drawing end it.
func (s *show) follow(ctx context.Context, draw func(modulestatus.Inputs) error) error {
	cluster, err := s.target.Client()
	if err != nil {
		return err
	}
	scope, err := s.scope(ctx, cluster)
	if err != nil {
		return err
	}
	if !s.watch {
		in, err := s.read(ctx, cluster, scope)
		if err != nil {
			return err
		}
		return draw(in)
	}
	events, err := s.events(ctx, cluster, scope)
	if err != nil {
		return err
	}
	return s.redraw(ctx, events, func() error {
		in, err := s.read(ctx, cluster, scope)
		if err == nil {
			_ = draw(in) // the output shows the trouble; the exit code follows at the end, which is Ctrl-C
		}
		return err
	})
}

// redraw draws after every burst of events, and writes the output if it has changed.
func (s *show) redraw(ctx context.Context, events <-chan struct{}, draw func() error) error {
	out, before := s.console.Out, []byte(nil)
	defer func() { s.console.Out = out }()
	for {
		var text bytes.Buffer
		s.console.Out = &text
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
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-events:
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// events returns a channel that receives a value when Kymas, Manifests or records change. It holds one value at most, which carries no
// data.
func (s *show) events(ctx context.Context, cluster client.WithWatch, scope statusreader.Scope) (<-chan struct{}, error) {
	changed := make(chan struct{}, 1)
	namespace := scope.Namespace
	if scope.Kyma != nil {
		namespace = scope.Kyma.Namespace
	}
	started := 0
	for _, list := range []client.ObjectList{&v1beta2.KymaList{}, &v1beta2.ManifestList{}} {
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
		s.console.Sayf("Warning: there is nothing here that could be watched: this is the current state")
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
