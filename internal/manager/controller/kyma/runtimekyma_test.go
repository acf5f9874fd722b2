package kyma

import (
	"context"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// takenRuntime serves Kymas since a moment ago, and another client has created one already.
type takenRuntime struct {
	Runtime
	cluster *apply.Cluster
}

func (takenRuntime) Established(inventory.ID) bool { return true }
func (r takenRuntime) Cluster() *apply.Cluster     { return r.cluster }

func TestCreateCopy_TakesNoKymaOverUnread(t *testing.T) {
	resource := apply.Resource{GroupVersionResource: v1beta2.GroupVersion.WithResource("kymas"), Namespaced: true, WarmingUp: true}
	kymas := resource.GroupResource()
	client := dynamicfake.NewSimpleDynamicClient(runtime.NewScheme())
	client.PrependReactor("patch", "kymas", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewConflict(kymas, "default", nil)
	})
	client.PrependReactor("create", "kymas", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewAlreadyExists(kymas, "default")
	})
	cluster := &apply.Cluster{Dynamic: client, Resource: func(context.Context, schema.GroupVersionKind) (apply.Resource, error) {
		return resource, nil
	}}
	hub := kymaWith("kyma", nil, nil)
	merged := module.Merge(module.MergeInput{Hub: module.SeenOf(&hub.Spec)})
	s := &remoteScope{hub: hub, runtime: takenRuntime{cluster: cluster}, merged: &merged}
	err := (&Reconciler{}).createCopy(t.Context(), s)
	if !apierrors.IsAlreadyExists(err) || retryDelay(err) != retrySoon || s.copy != nil {
		t.Errorf("error %v, again after %s, taken over: %v", err, retryDelay(err), s.copy)
	}
	var verbs []string
	for _, action := range client.Actions() {
		verbs = append(verbs, action.GetVerb())
	}
	if !slices.Equal(verbs, []string{"patch", "create"}) {
		t.Errorf("called %q", verbs)
	}
}

func TestOvertaken(t *testing.T) {
	hub := &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: "demo"}}
	copied := func(generation int64, isMarked bool) *v1beta2.Kyma {
		kyma := &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Generation: generation}}
		if isMarked {
			kyma.Labels, kyma.Annotations = copyLabels(hub), (&remoteScope{hub: hub}).annotations()
		}
		return kyma
	}
	for name, c := range map[string]struct {
		before, after *v1beta2.Kyma
		want          bool
	}{
		"a status that was written is no edit":                             {copied(1, true), copied(1, true), false},
		"a user's edit between our read and our write of the status is":    {copied(1, true), copied(2, true), true},
		"marks that a user took away in between are an edit":               {copied(1, true), copied(1, false), true},
		"marks that we have just written are none":                         {copied(1, false), copied(1, true), false},
		"marks that were not there before do not make us try for ever":     {copied(1, false), copied(1, false), false},
		"a user's edit between our read and our write of the marks is one": {copied(1, false), copied(2, true), true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (&remoteScope{hub: hub}).overtaken(c.before, c.after); got != c.want {
				t.Errorf("overtaken() = %t, want %t", got, c.want)
			}
		})
	}
}
