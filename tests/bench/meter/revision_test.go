package meter_test

import (
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/tests/bench/meter"
)

func TestRevision_EveryTrueWriteRaisesTheRevision(t *testing.T) {
	plane, err := localcluster.Start(t.Context(), localcluster.Options{Name: "meter"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = plane.Stop() })
	clients, err := kubernetes.NewForConfig(plane.Config)
	if err != nil {
		t.Fatal(err)
	}
	maps := clients.CoreV1().ConfigMaps(metav1.NamespaceDefault)
	before := still(t, plane)
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "m-"}}
	const writes = 40
	for range writes {
		created, err := maps.Create(t.Context(), object, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		// An update that changes nothing is no write.
		if _, err := maps.Update(t.Context(), created, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		if now := revision(t, plane); strconv.FormatInt(now, 10) < created.ResourceVersion {
			t.Fatalf("the revision is %d after a write that made it %s", now, created.ResourceVersion)
		}
	}
	// The server writes for itself too: a few Leases.
	if spent := revision(t, plane) - before; spent < writes || spent > writes+25 {
		t.Errorf("%d writes raise the revision by %d", writes, spent)
	}
}

// still waits until a server has written nothing for a while, and returns its revision: one that was just started says that it is ready,
// and continues to make what everyone needs.
func still(t *testing.T, plane *localcluster.ControlPlane) int64 {
	t.Helper()
	last, since := revision(t, plane), time.Now()
	late := time.After(2 * time.Minute)
	for time.Since(since) < 2*time.Second {
		select {
		case <-late:
			t.Fatalf("the server goes on writing, and is at revision %d", last)
		case <-time.After(100 * time.Millisecond):
		}
		if now := revision(t, plane); now != last {
			last, since = now, time.Now()
		}
	}
	return last
}

func revision(t *testing.T, plane *localcluster.ControlPlane) int64 {
	t.Helper()
	r, err := meter.Revision(t.Context(), plane.Config)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
