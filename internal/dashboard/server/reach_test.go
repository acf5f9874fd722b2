package server

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
)

// TestReach_AnAccessSecretDoesNotLeadIntoTheDashboardsPod: on a user's own machine a runtime may well be there.
func TestReach_AnAccessSecretDoesNotLeadIntoTheDashboardsPod(t *testing.T) {
	for mode, refused := range map[Mode]bool{ModeLocal: false, ModeCluster: true} {
		s := open(t, mode)
		where := "leads-inside-" + string(mode)
		data, err := localcluster.KubeconfigOf("runtime", s.server.self.Config)
		if err != nil {
			t.Fatal(err)
		}
		kyma := &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: where, Name: "demo"}, Status: v1beta2.KymaStatus{RuntimeID: "known"}}
		s.make(namespace(where), &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: where, Name: "access", Labels: map[string]string{v1beta2.LabelKymaName: kyma.Name}},
			Data:       map[string][]byte{v1beta2.AccessSecretKey: data},
		})
		_, err = s.server.reach(s.server.life, s.admin, s.server.self.Config, kyma)
		if err == nil || strings.Contains(err.Error(), "not accepted for an API server") != refused {
			t.Errorf("%s: %v", mode, err)
		}
	}
}
