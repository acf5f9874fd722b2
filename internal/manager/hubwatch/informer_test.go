package hubwatch

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
)

func TestNewInformer_WatchesLastOneToTwoHours(t *testing.T) {
	asked := make(chan metav1.ListOptions, 10)
	from := &toolscache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			return &corev1.SecretList{ListMeta: metav1.ListMeta{ResourceVersion: "7"}}, nil
		},
		WatchFuncWithContext: func(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
			asked <- options
			return watch.NewFake(), nil
		},
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		NewInformer(from, &corev1.Secret{}, 0, toolscache.Indexers{}).RunWithContext(ctx)
	}()
	select {
	case options := <-asked:
		if lasts := time.Duration(*options.TimeoutSeconds) * time.Second; lasts < time.Hour || lasts > 2*time.Hour {
			t.Errorf("a watch ends after %s", lasts)
		}
	case <-time.After(time.Minute):
		t.Error("nothing is watched")
	}
	stop()
	<-done
}

func TestNewInformer_KeepsOptionsOfCache(t *testing.T) {
	want := metav1.ListOptions{ResourceVersion: "9", LabelSelector: "a=b", AllowWatchBookmarks: true}
	var got metav1.ListOptions
	long := withLongWatches(&toolscache.ListWatch{
		WatchFuncWithContext: func(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
			got = options
			return watch.NewFake(), nil
		},
	})
	if _, err := toolscache.ToListerWatcherWithContext(long).WatchWithContext(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	got.TimeoutSeconds = nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
