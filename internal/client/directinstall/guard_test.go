package directinstall_test

import (
	"path/filepath"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/directinstall"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

func TestGuard_AModuleThatIsManagedIsNotInstalledDirectly(t *testing.T) {
	apiserver.Need(t)
	plane, err := localcluster.Start(t.Context(), localcluster.Options{Name: "managed"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	f := on(t, plane)
	_, err = envtest.InstallCRDs(plane.Config, envtest.CRDInstallOptions{MaxTime: time.Minute, Paths: []string{filepath.Join("..", "..", "..", "config", "crd", "bases")}})
	f.must(err)
	f.create("{apiVersion: v1, kind: Namespace, metadata: {name: kyma-system}}")
	f.create("{apiVersion: v1, kind: Namespace, metadata: {name: kcp-system}}")
	for _, module := range []string{"offered", "spoken", "leaving", "released", "local"} {
		f.create("{apiVersion: operator.kyma-project.io/v1beta2, kind: ModuleReleaseMeta, metadata: {name: " + module + ", namespace: kyma-system}, " +
			"spec: {moduleName: " + module + ", channels: [{channel: regular, version: 0.1.0}]}}")
	}
	f.create("{apiVersion: operator.kyma-project.io/v1beta2, kind: ModuleReleaseMeta, metadata: {name: always, namespace: kyma-system}, " +
		"spec: {moduleName: always, mandatory: {version: 0.1.0}}}")
	f.create("{apiVersion: operator.kyma-project.io/v1beta2, kind: Kyma, metadata: {name: far, namespace: kcp-system}, " +
		"spec: {channel: regular, modules: [{name: offered}]}}")
	f.create("{apiVersion: operator.kyma-project.io/v1beta2, kind: Kyma, metadata: {name: here, namespace: kcp-system}, " +
		"spec: {channel: regular, remote: false, modules: [{name: local}]}}")
	kyma := f.create("{apiVersion: operator.kyma-project.io/v1beta2, kind: Kyma, metadata: {name: default, namespace: kyma-system}, " +
		"spec: {channel: regular, modules: [{name: spoken}, {name: released, managed: false}]}}")
	kyma.Object["status"] = map[string]any{"state": "Processing", "modules": []any{
		map[string]any{"name": "leaving", "state": "Deleting"}, map[string]any{"name": "released", "state": "Unmanaged"},
	}}
	f.must(f.other.Status().Update(t.Context(), kyma))

	for _, test := range []struct {
		name, module string
		unmanaged    bool
		label        string
		want         string
		kind         modulestatus.Type
	}{
		{"a community module is installed", "free", false, "", "", modulestatus.Community},
		{"one that a Kyma here has is refused in any case", "spoken", true, "", directinstall.ReasonManaged, ""},
		{"one of a local Kyma is refused", "local", true, "", directinstall.ReasonManaged, ""},
		{"one that a Kyma still removes is refused", "leaving", true, "", directinstall.ReasonManaged, ""},
		{"a mandatory one is refused", "always", true, "", directinstall.ReasonManaged, ""},
		{"an offered one is refused unless the plan sets unmanaged", "offered", false, "", directinstall.ReasonManageable, ""},
		{"a Kyma of another cluster does not block", "offered", true, "", "", modulestatus.Manageable},
		{"one that is no longer managed can be installed unmanaged", "released", true, "", "", modulestatus.Manageable},
		{"one that is marked as managed is manageable", "marked", false, v1beta2.ManagedByKyma, directinstall.ReasonManageable, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := on(t, plane)
			plan := f.plan(test.module, "0.1.0", configMap(test.module+"-a", "1"))
			plan.Unmanaged = test.unmanaged
			if test.label != "" {
				plan.Template.Labels = map[string]string{v1beta2.LabelManagedBy: test.label}
			}
			report, err := directinstall.Install(t.Context(), plan)
			if test.want != "" {
				f.reason(report, err, test.want, test.module)
				if f.configMap(test.module+"-a") != nil || f.listed(test.module) != nil {
					t.Error("something was installed")
				}
				return
			}
			if err != nil || !report.Ready || report.Type != test.kind || f.listed(test.module).Unmanaged != test.unmanaged {
				t.Errorf("%v %+v", err, report)
			}
		})
	}

	t.Run("a user who may not list Kymas may not install: forbidden does not mean none", func(t *testing.T) {
		blind, err := plane.AddUser("blind")
		f.must(err)
		all := []string{"*"}
		f.must(f.other.Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "blind"}, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Resources: all, Verbs: all},
		}}))
		f.must(f.other.Create(t.Context(), &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "blind"}, RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: "blind"},
			Subjects: []rbacv1.Subject{{Kind: "User", Name: "blind"}},
		}))
		apiserver.Allowed(t, f.other, "blind", "", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: all, Verbs: all})
		plan := f.plan("unseen", "0.1.0", configMap("unseen-a", "1"))
		plan.Config, plan.Unmanaged = blind, true
		report, err := directinstall.Install(t.Context(), plan)
		f.reason(report, err, directinstall.ReasonForbidden, "unseen")
	})
}
