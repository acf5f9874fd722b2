package managerinstall

import (
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// lease returns a lease for 15 seconds that a manager renewed some time ago.
func lease(holder string, ago time.Duration) *coordinationv1.Lease {
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: "klm-replica-1"},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: &holder, LeaseDurationSeconds: new(int32(15)), RenewTime: new(metav1.NewMicroTime(time.Now().Add(-ago))),
		},
	}
}

func TestCheck_AManagerOutsideOfTheCluster(t *testing.T) {
	running := lease("klm-replica-1", time.Second)
	for name, c := range map[string]struct {
		objects []client.Object
		pre     bool
		want    Verdict
		says    string
	}{
		"it runs": {[]client.Object{running}, false, Passed, "klm-replica-1 runs outside of this cluster"},
		"it runs, and another one is to be installed": {[]client.Object{running}, true, Warning, "stop it before you install a second one"},
		"none runs":                       {nil, false, Failed, "kyma deploy brings one"},
		"none runs yet":                   {nil, true, Passed, "none runs yet"},
		"it ended long ago":               {[]client.Object{lease("klm-replica-1", time.Hour)}, false, Failed, "kyma deploy brings one"},
		"it ended before an installation": {[]client.Object{lease("klm-replica-1", time.Hour)}, true, Passed, "none runs yet"},
		"a lease without a holder":        {[]client.Object{lease("", time.Second)}, false, Failed, "kyma deploy brings one"},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := fake.NewClientBuilder().WithObjects(c.objects...).Build()
			is := Inspection{Client: cluster, Pre: c.pre, Brings: "kyma deploy"}.manager(t.Context())
			if is.Verdict != c.want || !strings.Contains(is.Message, c.says) {
				t.Errorf("got %s: %s, want %s: %s", is.Verdict, is.Message, c.want, c.says)
			}
		})
	}
}

func TestCheck_ALeaseThatIsNotRenewed(t *testing.T) {
	for name, c := range map[string]struct {
		objects []client.Object
		want    Verdict
		says    string
	}{
		"renewed":     {[]client.Object{lease("klm-replica-1", time.Second)}, Passed, "holds lease klm-replica-1"},
		"not renewed": {[]client.Object{lease("klm-replica-1", time.Hour)}, Warning, "has not renewed it since"},
		"none":        {nil, Warning, "no manager holds a lease"},
	} {
		t.Run(name, func(t *testing.T) {
			is := Inspection{Client: fake.NewClientBuilder().WithObjects(c.objects...).Build()}.leader(t.Context())
			if is.Verdict != c.want || !strings.Contains(is.Message, c.says) {
				t.Errorf("got %s: %s, want %s: %s", is.Verdict, is.Message, c.want, c.says)
			}
		})
	}
}
