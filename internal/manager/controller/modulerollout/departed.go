package modulerollout

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/internal/module/rollout"
)

// page is the number of Kymas that are requested at once.
const page = 500

// departed returns those of the Kymas that hold a place in a channel and do not follow it any more, according to the API server. The cache
// alone does not tell: it may be older than the one that the place was given by.
func (r *Reconciler) departed(ctx context.Context, w *inputs, channel string, missing []string) (gone []string, err error) {
	names, err := r.namesOf(ctx, w, missing)
	if err != nil {
		return nil, err
	}
	for _, prefix := range missing {
		follows := false
		if name, exists := names[prefix]; exists {
			if follows, err = r.follows(ctx, w, channel, name, prefix); err != nil {
				return nil, err
			}
		}
		if !follows {
			gone = append(gone, prefix)
		}
	}
	return gone, nil
}

// namesOf returns the names of Kymas by the beginning of their UID; one that does not exist has none.
func (r *Reconciler) namesOf(ctx context.Context, w *inputs, prefixes []string) (map[string]string, error) {
	names, next := map[string]string{}, ""
	for {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(v1beta2.GroupVersion.WithKind("KymaList"))
		err := r.Reader.List(ctx, list, client.InNamespace(w.rollout.Namespace), client.Limit(page), client.Continue(next))
		if err != nil {
			return nil, fmt.Errorf("list the Kymas of namespace %s: %w", w.rollout.Namespace, err)
		}
		for i := range list.Items {
			if prefix := rollout.Prefix(string(list.Items[i].UID)); slices.Contains(prefixes, prefix) {
				names[prefix] = list.Items[i].Name
			}
		}
		if next = list.Continue; next == "" {
			return names, nil
		}
	}
}

// follows reports whether a Kyma follows a channel and may have the module.
func (r *Reconciler) follows(ctx context.Context, w *inputs, channel, name, prefix string) (bool, error) {
	kyma := &v1beta2.Kyma{}
	err := r.Reader.Get(ctx, client.ObjectKey{Namespace: w.rollout.Namespace, Name: name}, kyma)
	if apierrors.IsNotFound(err) || err == nil && rollout.Prefix(string(kyma.UID)) != prefix {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read Kyma %s: %w", name, err)
	}
	now, _, may := w.membership(kyma, w.snapshot(r.Restricted))
	return may && now == channel, nil
}

// membership returns the channel that a Kyma follows in this rollout, and the reason for which it cannot have what that offers; member is
// false when it does not follow any, or may not have the module at all.
func (w *inputs) membership(kyma *v1beta2.Kyma, common module.Snapshot) (channel, refusal string, member bool) {
	follows := w.mandatory()
	if !follows {
		channel, follows = module.Follows(kyma, w.rollout.Name)
	}
	if !follows || w.targets[channel] == nil || module.IsRuntimeCopy(kyma) {
		return "", "", false
	}
	common.Kyma = kyma
	refusal = module.RefusedChannel(common, w.rollout.Name, channel)
	return channel, refusal, refusal != v1beta2.ReasonNotAllowed && refusal != v1beta2.ReasonModuleRestricted
}
