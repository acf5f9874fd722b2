package proxy

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
)

// seen returns the name of the next event's object, "" when the stream ends, "-" when nothing comes for a moment.
func seen(t *testing.T, w watch.Interface, limit time.Duration) string {
	t.Helper()
	select {
	case event, open := <-w.ResultChan():
		if !open {
			return ""
		}
		object, ok := event.Object.(metav1.Object)
		if !ok {
			t.Fatalf("event %+v", event)
		}
		return object.GetName()
	case <-time.After(limit):
		return "-"
	}
}

func watched(t *testing.T, clients kubernetes.Interface, label string) watch.Interface {
	t.Helper()
	w, err := clients.CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{LabelSelector: "run=" + label})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	return w
}

func add(t *testing.T, clients kubernetes.Interface, label string, names ...string) {
	t.Helper()
	for _, name := range names {
		object := configMap(name)
		object.Labels = map[string]string{"run": label}
		if _, err := clients.CoreV1().ConfigMaps("default").Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestEventsStreamAndMayBeLostHeldOrCut(t *testing.T) {
	p, clients := start(t)
	w := watched(t, clients, "fate")
	add(t, clients, "fate", "first")
	if got := seen(t, w, patience); got != "first" {
		t.Fatalf("the first event is of %q", got)
	}
	hold := make(chan struct{})
	remove := p.Events(func(call Call, event Event) Fate {
		if call.Verb != "watch" || event.Kind != "ConfigMap" || event.Type != "ADDED" || event.Namespace != "default" {
			t.Errorf("call %s, event %+v", call, event)
		}
		switch event.Name {
		case "lost":
			return Fate{Drop: true}
		case "held":
			return Fate{Hold: hold}
		case "late":
			return Fate{Delay: time.Millisecond}
		case "cut":
			return Fate{Cut: true}
		}
		return Fate{}
	})
	add(t, clients, "fate", "lost", "late", "held", "after")
	got := []string{seen(t, w, patience), seen(t, w, 100*time.Millisecond)}
	close(hold)
	got = append(got, seen(t, w, patience), seen(t, w, patience))
	add(t, clients, "fate", "cut")
	got = append(got, seen(t, w, patience))
	remove()
	if diff := cmp.Diff([]string{"late", "-", "held", "after", ""}, got); diff != "" {
		t.Error("what the client saw (-want +got):\n" + diff)
	}
	w = watched(t, clients, "fate")
	names := map[string]bool{}
	for range 6 {
		names[seen(t, w, patience)] = true
	}
	if !names["lost"] || !names["cut"] {
		t.Error("without the handler, a new watch should show all objects:", names)
	}
}

func TestMetadataOnlyWatchesAreReadToo(t *testing.T) {
	p, clients := start(t)
	only, err := metadata.NewForConfig(p.Config())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Events(func(_ Call, event Event) Fate { return Fate{Drop: event.Name == "unseen"} })()
	kind := corev1.SchemeGroupVersion.WithResource("configmaps")
	w, err := only.Resource(kind).Namespace("default").Watch(t.Context(), metav1.ListOptions{LabelSelector: "run=meta"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	add(t, clients, "meta", "unseen", "noticed")
	if got := seen(t, w, patience); got != "noticed" {
		t.Errorf("saw %q, want only \"noticed\"", got)
	}
}

func TestCutEndsWatches(t *testing.T) {
	p, clients := start(t)
	w := watched(t, clients, "cut-all")
	p.Cut()
	if got := seen(t, w, patience); got != "" {
		t.Errorf("saw %q after the cut, want the end of the stream", got)
	}
	eventually(t, "the log knows how long the watch took", func() bool { return p.Log()[0].Took > 0 })
}

func TestStaleListsShowAnEarlierMoment(t *testing.T) {
	p, clients := start(t)
	add(t, clients, "stale", "before")
	revision, err := p.Revision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	add(t, clients, "stale", "since")
	remove := p.Use("stale", StaleLists(func(call Call) string {
		if call.Resource == "configmaps" {
			return revision
		}
		return ""
	}))
	options := metav1.ListOptions{LabelSelector: "run=stale"}
	list, err := clients.CoreV1().ConfigMaps("default").List(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 1 || list.ResourceVersion != revision {
		t.Errorf("the list has %d items of revision %s, want 1 of %s", len(list.Items), list.ResourceVersion, revision)
	}
	options.ResourceVersion = list.ResourceVersion
	w, err := clients.CoreV1().ConfigMaps("default").Watch(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	if got := seen(t, w, patience); got != "since" {
		t.Errorf("the watch begins with %q, want what the list did not know", got)
	}
	remove()
	if list, err = clients.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{LabelSelector: "run=stale"}); err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 2 {
		t.Errorf("the list has %d items when nothing is stale, want 2", len(list.Items))
	}
}

func TestInformersLiveBehindTheProxy(t *testing.T) {
	p, clients := start(t)
	revision, err := p.Revision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	add(t, clients, "informer", "young")
	defer p.Use("stale", StaleLists(func(Call) string { return revision }))()
	names := make(chan string, 100)
	follow(t, clients, "informer", names)
	select {
	case got := <-names:
		if got != "young" {
			t.Errorf("the informer saw %q", got)
		}
	case <-time.After(patience):
		t.Fatal("the informer never learned what the stale list did not say")
	}
}
