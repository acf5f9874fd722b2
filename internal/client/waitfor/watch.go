package waitfor

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// event is a change of the observation, or the error that ends it.
type event struct {
	apply func(*seen)
	err   error
}

// again is the pause before a broken stream is reopened.
const again = time.Second

// watchKyma follows one Kyma until the context ends. An error of the API server is final at the first attempt; later it is retried, since
// API servers restart.
func watchKyma(ctx context.Context, c client.WithWatch, key client.ObjectKey, events chan<- event) {
	stream := &stream{
		client: c, events: events, list: func() client.ObjectList { return &v1beta2.KymaList{} },
		options: []client.ListOption{client.InNamespace(key.Namespace), client.MatchingFields{"metadata.name": key.Name}},
		listed: func(s *seen, list client.ObjectList) {
			s.looked, s.kyma = true, nil
			if kymas, ok := list.(*v1beta2.KymaList); ok && len(kymas.Items) > 0 {
				s.kyma = &kymas.Items[0]
			}
		},
		changed: func(s *seen, object client.Object, gone bool) {
			s.kyma = nil
			if kyma, ok := object.(*v1beta2.Kyma); ok && !gone {
				s.kyma = kyma
			}
		},
	}
	if err := stream.run(ctx); err != nil {
		send(ctx, events, event{err: fmt.Errorf("watch Kyma %s: %w", key, err)})
	}
}

// watchManifests follows the Manifests of a Kyma. A runtime has none, and users may lack permission: then the Kyma's status must suffice.
func watchManifests(ctx context.Context, c client.WithWatch, key client.ObjectKey, events chan<- event) {
	stream := &stream{
		client: c, events: events, list: func() client.ObjectList { return &v1beta2.ManifestList{} },
		options: []client.ListOption{client.InNamespace(key.Namespace), client.MatchingLabels{v1beta2.LabelKymaName: key.Name}},
		listed: func(s *seen, list client.ObjectList) {
			s.manifests = map[string]*v1beta2.Manifest{}
			if manifests, ok := list.(*v1beta2.ManifestList); ok {
				for i := range manifests.Items {
					if module.KymaName(&manifests.Items[i]) != key.Name {
						continue // a standalone Manifest that only shares the cluster
					}
					s.manifests[manifests.Items[i].Labels[v1beta2.LabelModuleName]] = &manifests.Items[i]
				}
			}
		},
		changed: func(s *seen, object client.Object, gone bool) {
			if module.KymaName(object) != key.Name {
				return
			}
			name := object.GetLabels()[v1beta2.LabelModuleName]
			delete(s.manifests, name)
			if manifest, ok := object.(*v1beta2.Manifest); ok && !gone && s.manifests != nil {
				s.manifests[name] = manifest
			}
		},
	}
	_ = stream.run(ctx) // the Kyma's status is enough
}

// stream is a list and the changes that follow it.
type stream struct {
	client  client.WithWatch
	events  chan<- event
	list    func() client.ObjectList
	options []client.ListOption
	// pages reads the list where one request is not enough; nil where it is.
	pages   func(context.Context) (client.ObjectList, error)
	listed  func(*seen, client.ObjectList)
	changed func(s *seen, object client.Object, gone bool)
}

// run returns the error of the first attempt or a final refusal, and otherwise nothing until the context ends.
func (s *stream) run(ctx context.Context) error {
	for first := true; ctx.Err() == nil; first = false {
		err := s.once(ctx)
		if err != nil && (first || refused(err)) {
			return err
		}
		timer := time.NewTimer(again)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
	return nil
}

// refused reports whether an error is the API server's final answer.
func refused(err error) bool {
	return meta.IsNoMatchError(err) || apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err)
}

// once lists and then watches until the stream ends, as every stream eventually does.
func (s *stream) once(ctx context.Context) error {
	list, err := s.read(ctx)
	if err != nil {
		return err
	}
	send(ctx, s.events, event{apply: func(seen *seen) { s.listed(seen, list) }})
	from := &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}}
	watcher, err := s.client.Watch(ctx, s.list(), append([]client.ListOption{from}, s.options...)...)
	if err != nil {
		return err
	}
	defer watcher.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case happened, open := <-watcher.ResultChan():
			object, ok := happened.Object.(client.Object)
			if !open || happened.Type == watch.Error || !ok {
				return nil
			}
			gone := happened.Type == watch.Deleted
			send(ctx, s.events, event{apply: func(seen *seen) { s.changed(seen, object, gone) }})
		}
	}
}

// read reads the list.
func (s *stream) read(ctx context.Context) (client.ObjectList, error) {
	if s.pages != nil {
		return s.pages(ctx)
	}
	list := s.list()
	return list, s.client.List(ctx, list, s.options...)
}

func send(ctx context.Context, events chan<- event, e event) {
	select {
	case <-ctx.Done():
	case events <- e:
	}
}
