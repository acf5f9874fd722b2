package testbench

import (
	"context"
	"errors"
	"maps"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// Starts follows the Manifests of a module by one watch, and notes when each was asked to install a version.
type Starts struct {
	stream watch.Interface
	ended  chan struct{}

	mutex sync.Mutex
	now   map[string]string
	times map[string]map[string][]time.Time // by version and Kyma
	// revisions and succeeded are revisions of the hub's store, by version and Kyma: when the version was asked for, and was up.
	revisions, succeeded map[string]map[string]uint64
}

// FollowStarts begins to follow. Versions that Manifests have already count as of now.
func (w *Bench) FollowStarts(ctx context.Context, module string) (*Starts, error) {
	stream, err := w.Hub.Client.Watch(ctx, &v1beta2.ManifestList{}, client.InNamespace(v1beta2.DefaultNamespace),
		client.MatchingLabels{v1beta2.LabelModuleName: module})
	if err != nil {
		return nil, err
	}
	s := &Starts{
		stream: stream, ended: make(chan struct{}), now: map[string]string{},
		times: map[string]map[string][]time.Time{}, revisions: map[string]map[string]uint64{}, succeeded: map[string]map[string]uint64{},
	}
	go func() {
		defer close(s.ended)
		for event := range stream.ResultChan() {
			if manifest, is := event.Object.(*v1beta2.Manifest); is && event.Type != watch.Deleted {
				s.note(manifest.Labels[v1beta2.LabelKymaName], manifest.Spec.Version, time.Now())
				noteFirst(s, s.revisions, manifest, manifest.Spec.Version)
				if all := manifest.Status.Revisions; len(all) > 0 && all[len(all)-1].Outcome == v1beta2.RevisionSucceeded {
					noteFirst(s, s.succeeded, manifest, all[len(all)-1].Version)
				}
			}
		}
	}()
	return s, nil
}

// note keeps that a Kyma's Manifest asks for a version, if it did not before.
func (s *Starts) note(kyma, version string, at time.Time) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.now[kyma] == version {
		return
	}
	s.now[kyma] = version
	if s.times[version] == nil {
		s.times[version] = map[string][]time.Time{}
	}
	s.times[version][kyma] = append(s.times[version][kyma], at)
}

// noteFirst keeps the first revision of the hub's store in which something was so of a Kyma's Manifest and a version.
func noteFirst(s *Starts, into map[string]map[string]uint64, manifest *v1beta2.Manifest, version string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if into[version] == nil {
		into[version] = map[string]uint64{}
	}
	kyma := manifest.Labels[v1beta2.LabelKymaName]
	if _, known := into[version][kyma]; !known {
		into[version][kyma] = Revision(manifest)
	}
}

// Succeeded returns the revision of the hub's store in which each Kyma's Manifest said first that a version is up, as Revisions does for
// the beginning: that ends an upgrade for its rollout, and the Kyma says it a moment later, or once it has another owner.
func (s *Starts) Succeeded(version string) map[string]uint64 {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return maps.Clone(s.succeeded[version])
}

// Revisions returns the revision of the hub's store in which each Kyma's Manifest was asked for a version first.
func (s *Starts) Revisions(version string) map[string]uint64 {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return maps.Clone(s.revisions[version])
}

// Revision returns the revision of the hub's store that an object has; zero for one that has none. The hub has one etcd, so that revisions
// of objects of all kinds are in the order in which they were written.
func Revision(object client.Object) uint64 {
	revision, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0
	}
	return revision
}

// Of returns when each Kyma's Manifest was asked for a version first.
func (s *Starts) Of(version string) map[string]time.Time {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	first := make(map[string]time.Time, len(s.times[version]))
	for kyma, times := range s.times[version] {
		first[kyma] = times[0]
	}
	return first
}

// Last returns when a version was asked for last, zero when it never was.
func (s *Starts) Last(version string) (last time.Time) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, times := range s.times[version] {
		if at := times[len(times)-1]; at.After(last) {
			last = at
		}
	}
	return last
}

// Repeats returns how many times a version was asked for again by a Manifest that had left it.
func (s *Starts) Repeats(version string) (count int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, times := range s.times[version] {
		count += len(times) - 1
	}
	return count
}

// Await waits until a version was asked for in so many Kymas.
func (s *Starts) Await(ctx context.Context, version string, kymas int) error {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for len(s.Of(version)) < kymas {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.ended:
			return errEndedEarly
		case <-ticker.C:
		}
	}
	return nil
}

// errEndedEarly means that what was seen is not all that happened.
var errEndedEarly = errors.New("the watch of Manifests ended by itself, so that starts were missed")

// Stop ends it. The error says that it had ended by itself.
func (s *Starts) Stop() error {
	select {
	case <-s.ended:
		return errEndedEarly
	default:
	}
	s.stream.Stop()
	<-s.ended
	return nil
}
