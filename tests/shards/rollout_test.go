package shards

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// carriesOut reports whether a manager carries out a rollout.
func (m *manager) carriesOut() bool { return m.metric("lifecycle_mgr_rollout_phase") > 0 }

// waves makes two Kymas of one module in two clusters, and the plan to give a version to the first one first.
func waves(t *testing.T) (kymas []*v1beta2.Kyma, plan *v1beta2.ModuleRollout) {
	t.Helper()
	module := testkit.Unique("waves")
	env.Offer(module, "1.0.0", testkit.ConfigMaps(module, "1.0.0", 1), "regular")
	env.Offer(module, "2.0.0", testkit.ConfigMaps(module, "2.0.0", 1))
	first := testkit.Kyma(testkit.Unique("kyma"), testkit.WithModule(module), testkit.Unsynced(), testkit.Labelled("ring", "first"))
	env.AccessSecret(first.Name, env.Runtimes[0])
	second := testkit.Kyma(testkit.Unique("kyma"), testkit.WithModule(module), testkit.Local())
	env.Hub.Create(first, second)
	plan = &v1beta2.ModuleRollout{
		ObjectMeta: metav1.ObjectMeta{Namespace: v1beta2.DefaultNamespace, Name: module},
		Spec: v1beta2.ModuleRolloutSpec{
			Waves: []v1beta2.RolloutWave{
				{
					Name: "first", Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"ring": "first"}},
					Soak: metav1.Duration{Duration: 3 * time.Second},
				},
				{Name: "rest", MaxConcurrent: 1},
			},
			ProgressDeadline: metav1.Duration{Duration: time.Minute},
		},
	}
	return []*v1beta2.Kyma{first, second}, plan
}

// reaches waits until a rollout is in a state.
func reaches(t *testing.T, within time.Duration, plan *v1beta2.ModuleRollout, wanted func(*v1beta2.ModuleRollout) bool) {
	t.Helper()
	eventually(t, within, func() error {
		live := &v1beta2.ModuleRollout{}
		if err := env.Hub.Client.Get(context.Background(), client.ObjectKeyFromObject(plan), live); err != nil {
			return err
		}
		if !wanted(live) {
			return fmt.Errorf("the rollout says %s: %+v", live.Status.Summary, live.Status.Channels)
		}
		return nil
	})
}

func TestShards_ARolloutGoesOnWhenItsOwnerIsCutOff(t *testing.T) {
	one := start(t, "one")
	two := start(t, "two")
	shared(t, longer, one, two)
	kymas, plan := waves(t)
	removeLast(t, kymas)
	ready(t, longer, "1.0.0", kymas...)
	env.Hub.Create(plan)
	t.Cleanup(func() {
		_ = env.Hub.Client.Delete(context.Background(), testkit.ModuleReleaseMeta(plan.Name))
		_ = env.Hub.Client.Delete(context.Background(), plan)
	})
	reaches(t, longer, plan, func(r *v1beta2.ModuleRollout) bool { return r.Status.Phase == v1beta2.RolloutCompleted })
	eventually(t, longer, func() error { // the metric follows the status
		if one.carriesOut() == two.carriesOut() {
			return fmt.Errorf("one carries it out: %v, two: %v", one.carriesOut(), two.carriesOut())
		}
		return nil
	})
	owner, other := one, two
	if two.carriesOut() {
		owner, other = two, one
	}

	env.Point(plan.Name, "2.0.0", "regular")
	reaches(t, longer, plan, func(r *v1beta2.ModuleRollout) bool {
		return r.Status.Channels[0].Wave == "first" && r.Status.Channels[0].Waves[0].Soaking
	})
	owner.set(func() { owner.cut = true })
	begun := time.Now()
	reaches(t, lease+grace+longer, plan, func(r *v1beta2.ModuleRollout) bool { return r.Status.Phase == v1beta2.RolloutCompleted })
	t.Logf("the other one had completed it %s after the owner was cut off", time.Since(begun).Round(time.Millisecond))
	if !other.carriesOut() {
		t.Error("nothing says that the other one carries it out")
	}
	owner.set(func() { owner.cut = false })
	ready(t, longer, "2.0.0", kymas...)
	eventually(t, longer, func() error {
		if one.carriesOut() && two.carriesOut() {
			return errors.New("both say that they carry it out")
		}
		return nil
	})
}
