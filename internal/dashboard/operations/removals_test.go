package operations

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
)

func TestRemovals_AreTheObjectsThatManifestsList(t *testing.T) {
	manifest := func(name string, objects int) *v1beta2.Manifest {
		m := &v1beta2.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: name}}
		for i := range objects {
			m.Status.Synced = append(m.Status.Synced, v1beta2.Resource{
				Group: "apps", Version: "v1", Kind: "Deployment", Namespace: "notes-system", Name: fmt.Sprint("notes-", i),
			})
		}
		return m
	}
	for name, c := range map[string]struct {
		names         []string
		there         []client.Object
		want          int
		warning, last string
	}{
		"nothing is installed":       {[]string{"new"}, nil, 0, "", ""},
		"its Manifest is gone":       {[]string{"notes"}, nil, 0, "", ""},
		"its objects":                {[]string{"notes"}, []client.Object{manifest("notes", 2)}, 2, "", "notes-1"},
		"and those of what needs it": {[]string{"notes", "beacon"}, []client.Object{manifest("notes", 2), manifest("beacon", 1)}, 3, "", "notes-0"},
		"more than are listed":       {[]string{"notes"}, []client.Object{manifest("notes", mostRemovals+7)}, mostRemovals, "7 more objects", ""},
	} {
		kyma := &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: "demo"}}
		for _, module := range []string{"notes", "beacon"} {
			kyma.Status.Modules = append(kyma.Status.Modules, v1beta2.ModuleStatus{
				Name: module, Manifest: &v1beta2.TrackingObject{},
			})
			tracked := kyma.Status.Modules[len(kyma.Status.Modules)-1].Manifest
			tracked.Namespace, tracked.Name = "kcp-system", module
		}
		kyma.Status.Modules = append(kyma.Status.Modules, v1beta2.ModuleStatus{Name: "new"})
		s := &hubContext{
			cluster:     &cluster{WithWatch: fake.NewClientBuilder().WithScheme(scheme()).WithObjects(c.there...).Build()},
			KymaContext: kymaedit.KymaContext{Kyma: kyma},
		}
		changes, warnings := s.removals(t.Context(), c.names)
		if len(changes) != c.want || !strings.Contains(strings.Join(warnings, " "), c.warning) || (c.warning == "") != (len(warnings) == 0) {
			t.Errorf("%s: %d changes, %q", name, len(changes), warnings)
			continue
		}
		for _, change := range changes {
			if change.Change != apply.ChangeDelete || change.Object.APIVersion != "apps/v1" || change.Kyma != "kcp-system/demo" {
				t.Errorf("%s: %+v", name, change)
			}
		}
		if n := len(changes); c.last != "" && changes[n-1].Object.Name != c.last {
			t.Errorf("%s: the last is %s", name, changes[n-1].Object.Name)
		}
	}
}
