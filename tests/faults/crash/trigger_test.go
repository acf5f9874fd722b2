package crash

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kyma-project/lifecycle-manager/tests/faults/proxy"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

func TestMain(m *testing.M) { apiserver.Main(m) }

func TestTriggerKillsBeforeOrAfterTheServerActs(t *testing.T) {
	apiserver.Need(t)
	upstream, err := apiserver.Start()
	if err != nil {
		t.Fatal(err)
	}
	p, err := proxy.New(t.Context(), proxy.Options{Name: "hub", Upstream: upstream})
	if err != nil {
		t.Fatal(err)
	}
	clients, err := kubernetes.NewForConfig(p.Config())
	if err != nil {
		t.Fatal(err)
	}
	maps := clients.CoreV1().ConfigMaps("default")
	for _, c := range []struct {
		name    string
		when    When
		arrives bool
	}{{"before", Before, false}, {"after", After, true}} {
		t.Run(c.name, func(t *testing.T) {
			object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kyma-" + c.name}}
			deaths := 0
			trigger := NewTrigger(Point{Server: "hub", Call: "delete configmaps default/$id-" + c.name, Occurrence: 2, When: c.when}, "kyma",
				func() error {
					deaths++
					return nil
				})
			disarm := trigger.Arm(p)
			if _, err := maps.Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			wrong := metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions("another")}
			if err := maps.Delete(t.Context(), object.Name, wrong); !apierrors.IsConflict(err) {
				t.Fatal("the first delete is not the one:", err)
			}
			if err := maps.Delete(t.Context(), object.Name, metav1.DeleteOptions{}); err == nil {
				t.Error("the dead heard of a success")
			}
			select {
			case <-trigger.Fired():
			case <-time.After(10 * time.Second):
				t.Fatal("it did not fire")
			}
			disarm()
			_, err := maps.Get(t.Context(), object.Name, metav1.GetOptions{})
			if arrived := apierrors.IsNotFound(err); arrived != c.arrives || deaths != 1 || trigger.Err() != nil {
				t.Errorf("the call arrived: %v, want %v; deaths %d, error %v", arrived, c.arrives, deaths, trigger.Err())
			}
			if left := p.Using(); len(left) > 0 {
				t.Error("it is still armed:", left)
			}
		})
	}
}
