package installer

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kyma-project/lifecycle-manager/pkg/health"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

const (
	// maxWatches bounds the streams of one call; objects beyond it are only read now and then.
	maxWatches = 32
	// firstPause and longestPause bound how often objects are read in case their watch misses something, and how often a call that failed
	// for a passing cause, or a Check, is tried again.
	firstPause   = time.Second
	longestPause = 15 * time.Second
)

// waiting is what a pass could not bring about by itself.
type waiting struct {
	reason, message string
	err             error // why there is no point in waiting
	failed          bool  // an object says that it will not get there by itself
	unseen          bool  // no watch of what is waited for shows when there is a point in trying again
	on              []wanted
}

// wanted is an object that must get somewhere.
type wanted struct {
	gvk schema.GroupVersionKind
	id  inventory.ID
	// ok reports whether it is there. It is asked with nil when the object does not exist.
	ok func(*unstructured.Unstructured) bool
}

// wantedOf waits for an object to become ready.
func wantedOf(object *unstructured.Unstructured) wanted {
	return wanted{gvk: object.GroupVersionKind(), id: inventory.IDOf(object), ok: func(live *unstructured.Unstructured) bool {
		return live != nil && health.Of(live).Status == health.Ready
	}}
}

// await returns when everything that is waited for is where it must be (true), or when something went, pause has ended with nothing to
// watch, the time is up, or the caller gives up (false).
func (c *call) await(ctx context.Context, left *waiting, pause time.Duration, until time.Time) bool {
	ctx, cancel := context.WithDeadline(ctx, until)
	var streams sync.WaitGroup
	defer streams.Wait()
	defer cancel()
	news := make(chan inventory.ID)
	open := make(map[inventory.ID]wanted, len(left.on))
	for i, object := range left.on {
		open[object.id] = object
		if i < maxWatches {
			streams.Go(func() { c.follow(ctx, object, news) })
		}
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case id := <-news:
			delete(open, id)
		case <-timer.C:
			if len(left.on) == 0 || left.unseen || c.look(ctx, open) {
				return false
			}
			pause = min(2*pause, longestPause)
			timer.Reset(pause)
		}
		if len(left.on) > 0 && len(open) == 0 {
			return true
		}
	}
}

// look reads what is open, and strikes out what is where it must be. It says whether something went.
func (c *call) look(ctx context.Context, open map[inventory.ID]wanted) (went bool) {
	for id, object := range open {
		live, err := c.read(ctx, object.gvk, id)
		switch {
		case err != nil: // the next pass tells
			return true
		case object.ok(live):
			delete(open, id)
		case live == nil:
			return true
		}
	}
	return false
}

// follow watches one object, and tells once when it is where it must be, or gone. A stream that ends early is left to look.
func (c *call) follow(ctx context.Context, object wanted, news chan<- inventory.ID) {
	client, err := c.cluster.objects(ctx, object.gvk, object.id.Namespace)
	if err != nil {
		return
	}
	options := metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, object.id.Name).String()}
	if live, _ := c.lookedUp(object.id); live != nil {
		options.ResourceVersion = live.GetResourceVersion()
	}
	stream, err := client.Watch(ctx, options)
	if err != nil {
		return
	}
	defer stream.Stop()
	for event := range stream.ResultChan() {
		live, ok := event.Object.(*unstructured.Unstructured)
		if !ok || event.Type == watch.Error || event.Type == watch.Bookmark {
			continue
		}
		if event.Type == watch.Deleted {
			live = nil
		}
		c.mu.Lock()
		c.seen[object.id] = live
		c.mu.Unlock()
		if live != nil && !object.ok(live) {
			continue
		}
		select {
		case news <- object.id:
		case <-ctx.Done():
		}
		return
	}
}
