package directinstall_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/internal/client/directinstall"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/installer"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

func names(resources []directinstall.Resource) []string {
	var told []string
	for i := range resources {
		told = append(told, resources[i].Kind+" "+resources[i].Name)
	}
	slices.Sort(told)
	return told
}

func TestDeletionIsBlockedByWhatPeopleMade(t *testing.T) {
	f := onCluster(t)
	plan := withCR(f.plan("held", "0.1.0", definition("held")+deployment("held-manager", "example.com/held:0.1.0")), "color: red")
	f.installs(plan)
	f.create(sample("held", "mine", "color: blue"))
	f.create(sample("held", "too", "color: blue"))

	report, err := directinstall.Delete(t.Context(), f.removal("held"))
	f.reason(report, err, directinstall.ReasonBlocked, "held.example.com", "mine", "too")
	if got := names(report.Blocking); !slices.Equal(got, []string{"Sample mine", "Sample too"}) || f.listed("held").Deleting {
		t.Errorf("blocked by %v", got)
	}
	if f.sample("held", "default") == nil {
		t.Error("the default custom resource went although the deletion was refused")
	}

	shown, err := directinstall.Preview(t.Context(), f.removal("held"))
	f.must(err)
	f.create(sample("held", "late", "color: blue"))
	removal := f.removal("held")
	removal.Cascade, removal.Previewed = true, shown
	report, err = directinstall.Delete(t.Context(), removal)
	f.reason(report, err, directinstall.ReasonBlocked, "late", "after the preview")
	if f.sample("held", "mine") == nil {
		t.Error("a part of the cascade went although it was refused")
	}

	removal.Previewed, err = directinstall.Preview(t.Context(), f.removal("held"))
	f.must(err)
	var order []string
	removal.Progress = func(o installer.ObjectReport) {
		if o.Action == apply.Gone || o.Action == apply.Deleted {
			order = append(order, o.Kind+" "+o.Name)
		}
	}
	f.deletes(removal)
	if f.sample("held", "late") != nil || f.listed("held") != nil {
		t.Error("something is left")
	}
	first, manager := slices.Index(order, "Sample default"), slices.Index(order, "Deployment held-manager")
	if slices.Index(order, "Sample late") < 0 || first < slices.Index(order, "Sample late") || manager < first {
		t.Errorf("deleted in the order %v", order)
	}
}

func TestDelete_AFinalizerHoldsTheManager(t *testing.T) {
	f := onCluster(t)
	plan := withCR(f.plan("slow", "0.1.0", definition("slow")+deployment("slow-manager", "example.com/slow:0.1.0")), "color: red")
	f.installs(plan)
	f.patch(f.sample("slow", "default"), "metadata: {finalizers: [example.com/work]}")
	removal := f.removal("slow")
	removal.Wait = time.Second
	report, err := directinstall.Delete(t.Context(), removal)
	f.must(err)
	if report.Ready || report.State != installer.StateDeleting || f.find("apps/v1", "Deployment", system, "slow-manager") == nil {
		t.Errorf("the manager did not wait for its custom resource: %+v", report)
	}
	if !f.listed("slow").Deleting {
		t.Error("nothing says that it is being deleted")
	}
	report, err = directinstall.Install(t.Context(), plan)
	f.reason(report, err, directinstall.ReasonBeingDeleted)
	f.patch(f.sample("slow", "default"), "metadata: {finalizers: null}")
	f.deletes(f.removal("slow"))
}

func TestDelete_ACascadeWaitsForFinalizersAndSaysWhatHolds(t *testing.T) {
	f := onCluster(t)
	f.installs(f.plan("chain", "0.1.0", definition("chain")+configMap("chain-a", "1")))
	mine := f.create(sample("chain", "mine", ""))
	f.patch(mine, "metadata: {finalizers: [example.com/work]}")
	removal := f.removal("chain")
	removal.Cascade, removal.Wait = true, 0
	shown, err := directinstall.Preview(t.Context(), removal)
	f.must(err)
	removal.Previewed = shown
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	removal.Config = rest.CopyConfig(removal.Config)
	removal.Config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.URL.Query().Get("watch") != "" && strings.HasSuffix(r.URL.Path, "/samples") {
				cancel() // it waits
			}
			return next.RoundTrip(r)
		})
	})
	report, err := directinstall.Delete(ctx, removal)
	f.must(err)
	if report.Reason != installer.ReasonWaitingForDeletion || report.Message != "Sample.chain.example.com kyma-system/mine is being deleted, and waits for example.com/work" {
		t.Errorf("%+v", report)
	}
	if f.configMap("chain-a") == nil {
		t.Error("the module went ahead of what people made with it")
	}
	f.patch(f.sample("chain", "mine"), "metadata: {finalizers: null}")
	f.deletes(f.removal("chain"))
}

func TestDelete_WhatMayNotBeListedBlocks(t *testing.T) {
	f := onCluster(t)
	f.installs(withCR(f.plan("hidden", "0.1.0", definition("hidden")+configMap("hidden-a", "1")), "color: red"))
	limited, err := f.plane.AddUser("somebody")
	f.must(err)
	all := []string{"*"}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "all-but-samples"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"", "apps", "apiextensions.k8s.io"}, Resources: all, Verbs: all},
		{APIGroups: []string{"hidden.example.com"}, Resources: all, Verbs: []string{"get", "delete", "watch"}},
	}}
	f.must(f.other.Create(t.Context(), role))
	f.must(f.other.Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name}, RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: role.Name},
		Subjects: []rbacv1.Subject{{Kind: "User", Name: "somebody"}},
	}))
	apiserver.Allowed(t, f.other, "somebody", "", role.Rules[0])
	removal := f.removal("hidden")
	removal.Config, removal.Cascade = limited, true
	report, err := directinstall.Delete(t.Context(), removal)
	f.reason(report, err, directinstall.ReasonForbidden, "Sample")
	if f.configMap("hidden-a") == nil || f.sample("hidden", "default") == nil {
		t.Error("something was deleted although no one could see what blocks")
	}
	if _, err := directinstall.Preview(t.Context(), removal); directinstall.ReasonOf(err) != directinstall.ReasonForbidden {
		t.Errorf("a preview says %v", err)
	}
	limitedPlan := f.plan("seen", "0.1.0", configMap("seen-a", "1"))
	limitedPlan.Config = limited // a user without permission to list Kymas can see that this cluster does not serve them
	f.installs(limitedPlan)
	f.deletes(f.removal("seen"))
	f.deletes(f.removal("hidden"))
}
