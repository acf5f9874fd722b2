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
	// revisions are those of the hub's store, by version and Kyma: they order what different watches tell.
	revisions map[string]map[string]uint64
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
		times: map[string]map[string][]time.Time{}, revisions: map[string]map[string]uint64{},
	}
	go func() {
		defer close(s.ended)
		for event := range stream.ResultChan() {
			if manifest, is := event.Object.(*v1beta2.Manifest); is && event.Type != watch.Deleted {
				s.note(manifest.Labels[v1beta2.LabelKymaName], manifest.Spec.Version, time.Now())
				s.noteRevision(manifest.Labels[v1beta2.LabelKymaName], manifest.Spec.Version, Revision(manifest))
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

// noteRevision keeps the first revision in which a Kyma's Manifest asks for a version.
func (s *Starts) noteRevision(kyma, version string, revision uint64) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.revisions[version] == nil {
		s.revisions[version] = map[string]uint64{}
	}
	if _, known := s.revisions[version][kyma]; !known {
		s.revisions[version][kyma] = revision
	}
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

// FollowReady follows all Kymas by one watch until the function that it returns is called, which returns the revision in which each was
// Ready with a version of a module first.
func (w *Bench) FollowReady(ctx context.Context, module, version string) (func() map[string]uint64, error) {
	stream, err := w.Hub.Client.Watch(ctx, &v1beta2.KymaList{}, client.InNamespace(v1beta2.DefaultNamespace))
	if err != nil {
		return nil, err
	}
	seen, done := map[string]uint64{}, make(chan struct{})
	go func() {
		defer close(done)
		for event := range stream.ResultChan() {
			kyma, is := event.Object.(*v1beta2.Kyma)
			if !is || seen[kyma.Name] != 0 || !saysReady(kyma, module, version) {
				continue
			}
			seen[kyma.Name] = Revision(kyma)
		}
	}()
	return func() map[string]uint64 {
		stream.Stop()
		<-done
		return seen
	}, nil
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
