package setup

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/controller/manifest"
	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding"
)

const (
	// viewPage is the number of objects that are requested at once.
	viewPage = 500
	// viewPause is the pause between two checks of the cache, and viewLooks the number of checks before the hub is read again: the awaited
	// object may be gone there by then.
	viewPause = 50 * time.Millisecond
	viewLooks = 40
)

// view compares the cache with the hub.
type view struct {
	cached, live client.Reader
	namespace    string
	// rollouts is true when the hub has ModuleRollouts.
	rollouts bool
	// kymaReleases is true when it has KymaReleases.
	kymaReleases bool
}

// viewKind is a kind that the decisions depend on.
type viewKind struct {
	list    client.ObjectList
	gvk     schema.GroupVersionKind
	options []client.ListOption
	bucket  func(client.Object) int // nil: it concerns all buckets
}

var (
	ofKyma   = func(o client.Object) int { return sharding.Bucket(o.GetNamespace(), o.GetName()) }
	ofSecret = func(o client.Object) int {
		return sharding.Bucket(o.GetNamespace(), o.GetLabels()[v1beta2.LabelKymaName])
	}
	secretKind = corev1.SchemeGroupVersion.WithKind("Secret")
)

// kinds returns the kinds that the decisions of a pass depend on.
func (v *view) kinds() []viewKind {
	own := v1beta2.GroupVersion
	kinds := []viewKind{
		{list: &v1beta2.KymaList{}, gvk: own.WithKind("Kyma"), bucket: ofKyma},
		{list: &v1beta2.ManifestList{}, gvk: own.WithKind("Manifest"), bucket: manifest.Bucket},
		{list: &v1beta2.ModuleReleaseMetaList{}, gvk: own.WithKind("ModuleReleaseMeta")},
		{list: &v1beta2.ModuleTemplateList{}, gvk: own.WithKind("ModuleTemplate")},
		{
			list: &corev1.SecretList{}, gvk: secretKind, bucket: ofSecret,
			options: []client.ListOption{client.HasLabels{v1beta2.LabelKymaName}},
		},
	}
	if v.rollouts {
		kinds = append(kinds, viewKind{list: &v1beta2.ModuleRolloutList{}, gvk: own.WithKind("ModuleRollout")})
	}
	if v.kymaReleases {
		kinds = append(kinds, viewKind{list: &v1beta2.KymaReleaseList{}, gvk: own.WithKind("KymaRelease")})
	}
	return kinds
}

// fresh waits until the cache holds no object of certain buckets in a state older than this call. It requests only metadata, and reads the
// hub once if the cache catches up soon.
func (v *view) fresh(ctx context.Context, in func(bucket int) bool) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, kind := range v.kinds() {
		group.Go(func() error { return v.catchUp(ctx, kind, in) })
	}
	return group.Wait()
}

func (v *view) catchUp(ctx context.Context, kind viewKind, in func(bucket int) bool) error {
	for {
		live, at, err := v.read(ctx, kind, in)
		if err != nil {
			return err
		}
		for range viewLooks {
			behind, err := v.behind(ctx, kind, in, live, at)
			if err != nil || !behind {
				return err
			}
			pause := time.NewTimer(viewPause)
			select {
			case <-pause.C:
			case <-ctx.Done():
				pause.Stop()
				return fmt.Errorf("the cache of %ss does not catch up with the hub: %w", kind.gvk.Kind, ctx.Err())
			}
		}
	}
}

func (k *viewKind) concerns(o client.Object, in func(bucket int) bool) bool {
	return k.bucket == nil || in(k.bucket(o))
}

// read returns the versions of all objects on the hub, and the version of the list.
func (v *view) read(ctx context.Context, kind viewKind, in func(bucket int) bool) (map[types.NamespacedName]string, string, error) {
	live, page := map[types.NamespacedName]string{}, &metav1.PartialObjectMetadataList{}
	for {
		next := page.Continue
		page = &metav1.PartialObjectMetadataList{}
		page.SetGroupVersionKind(kind.gvk)
		options := append([]client.ListOption{client.InNamespace(v.namespace), client.Limit(viewPage), client.Continue(next)}, kind.options...)
		if err := v.live.List(ctx, page, options...); err != nil {
			return nil, "", fmt.Errorf("list the %ss of the hub: %w", kind.gvk.Kind, err)
		}
		for i := range page.Items {
			if item := &page.Items[i]; kind.concerns(item, in) {
				live[client.ObjectKeyFromObject(item)] = item.ResourceVersion
			}
		}
		if page.Continue == "" {
			return live, page.ResourceVersion, nil
		}
	}
}

// behind reports whether the cache lacks an object, or holds one that was deleted or changed since.
func (v *view) behind(
	ctx context.Context, kind viewKind, in func(bucket int) bool, live map[types.NamespacedName]string, at string,
) (behind bool, err error) {
	list, ok := kind.list.DeepCopyObject().(client.ObjectList)
	if !ok {
		return false, fmt.Errorf("%T is no list", kind.list)
	}
	if err := v.cached.List(ctx, list, client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency); err != nil {
		return false, err
	}
	found := 0
	err = apimeta.EachListItem(list, func(item runtime.Object) error {
		object, ok := item.(client.Object)
		if !ok || !kind.concerns(object, in) {
			return nil
		}
		wanted, there := live[client.ObjectKeyFromObject(object)]
		if there {
			found++
		} else {
			wanted = at // one that was created since is newer than that; one that is gone is not
		}
		order, err := resourceversion.CompareResourceVersion(object.GetResourceVersion(), wanted)
		behind = behind || order < 0
		return err
	})
	return behind || found < len(live), err
}
