package authorcmd_test

import (
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/authorcmd"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

// releasesInWaves moves channels of notes, which has 0.2.0 on both, while a ModuleRollout decides about them.
func releasesInWaves(s *shell, config *rest.Config, c client.Client) {
	set := []string{"release", "set", "notes", "--namespace", "default", "--allow-downgrade"}
	rollout := &v1beta2.ModuleRollout{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "notes"}}
	rollout.Spec.Channels = []string{"regular"}
	rollout.Spec.ProgressDeadline.Duration = time.Minute
	rollout.Spec.Waves = []v1beta2.RolloutWave{{Name: "canary", Share: "1%"}, {Name: "rest"}}
	if err := c.Create(s.Context(), rollout); err != nil {
		s.Fatal(err)
	}
	s.Run("a channel that it does not decide about moves at once", func(t *testing.T) {
		shell := &shell{T: t, target: s.target}
		if _, said := shell.ok(append(set, "fast=0.1.0")...); strings.Contains(said, "waves") {
			t.Errorf("said %q", said)
		}
	})
	s.Run("what is not armed is not moved", func(t *testing.T) {
		authorcmd.SetArmPatience(t, 300*time.Millisecond)
		shell := &shell{T: t, target: s.target}
		shell.refused(3, "has not taken up the ModuleRollout default/notes within 300ms", append(set, "regular=0.1.0")...)
		shell.refused(3, "Hint: kyma rollout status notes says why", append(set, "regular=0.1.0")...)
		if channels := offered(t, c); channels != "regular=0.2.0 fast=0.1.0" {
			t.Errorf("the channels offer %s", channels)
		}
	})
	s.Run("a dry run does not wait", func(t *testing.T) {
		shell := &shell{T: t, target: s.target}
		if _, said := shell.ok(append(set, "regular=0.1.0", "--dry-run=server")...); !strings.Contains(said, "notes 0.1.0 would roll out in waves: canary, rest") {
			t.Errorf("said %q", said)
		}
	})
	s.Run("it is moved once that is armed", func(t *testing.T) {
		shell, marked := &shell{T: t, target: s.target}, make(chan error)
		go func() { marked <- arm(t, c, rollout) }()
		_, said := shell.ok(append(set, "regular=0.1.0")...)
		if err := <-marked; err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(said, "notes 0.1.0 rolls out in waves: canary, rest; follow it with `kyma rollout status notes --watch`") {
			t.Errorf("said %q", said)
		}
		if channels := offered(t, c); channels != "regular=0.1.0 fast=0.1.0" {
			t.Errorf("the channels offer %s", channels)
		}
	})
	s.Run("a promotion goes out in waves, too, and a pause is told", func(t *testing.T) {
		rollout.Spec.Paused = true
		if err := c.Update(t.Context(), rollout); err != nil {
			t.Fatal(err)
		}
		shell := &shell{T: t, target: s.target}
		shell.ok(append(set, "fast=0.2.0")...)
		_, said := shell.ok("release", "promote", "notes", "fast", "regular", "--namespace", "default")
		if !strings.Contains(said, "notes 0.2.0 rolls out in waves") || !strings.Contains(said, "The rollout is paused: kyma rollout resume notes") {
			t.Errorf("said %q", said)
		}
	})
	s.Run("one who may not read rollouts must know of the mark", func(t *testing.T) { unreadableRollouts(&shell{T: t}, config, c, set) })
	if err := c.Delete(s.Context(), rollout); err != nil {
		s.Fatal(err)
	}
}

// arm marks the release and reports what it offers, as the lifecycle manager does once it knows the rollout.
func arm(t *testing.T, c client.Client, rollout *v1beta2.ModuleRollout) error {
	release := &v1beta2.ModuleReleaseMeta{}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(rollout), release); err != nil {
		return err
	}
	before := release.DeepCopy()
	release.Annotations = map[string]string{v1beta2.AnnotationRollout: string(rollout.UID)}
	if err := c.Patch(t.Context(), release, client.MergeFrom(before)); err != nil {
		return err
	}
	rollout.Status.Channels = []v1beta2.RolloutChannel{{
		Name: "regular", Phase: v1beta2.RolloutCompleted, To: v1beta2.RolloutVersion{Version: "0.2.0"},
	}}
	return c.Status().Update(t.Context(), rollout)
}

// unreadableRollouts moves channels as a user who may release, and may not read rollouts.
func unreadableRollouts(s *shell, config *rest.Config, c client.Client, set []string) {
	in := metav1.ObjectMeta{Namespace: "default", Name: "releaser"}
	rights := rbacv1.PolicyRule{
		APIGroups: []string{v1beta2.GroupVersion.Group}, Resources: []string{"modulereleasemetas", "moduletemplates"}, Verbs: []string{"get", "update"},
	}
	for _, o := range []client.Object{
		&rbacv1.Role{ObjectMeta: in, Rules: []rbacv1.PolicyRule{rights}},
		&rbacv1.RoleBinding{
			ObjectMeta: in, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: in.Name},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: in.Name}},
		},
	} {
		if err := c.Create(s.Context(), o); err != nil {
			s.Fatal(err)
		}
	}
	apiserver.Allowed(s.T, c, in.Name, in.Namespace, rights)
	as := rest.CopyConfig(config)
	as.Impersonate = rest.ImpersonationConfig{UserName: in.Name, Groups: []string{"system:authenticated"}}
	s.target = target.Of(as)
	s.ok(append(set, "regular=0.1.0")...)
	release := &v1beta2.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "notes"}}
	if err := c.Patch(s.Context(), release, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":null}}`))); err != nil {
		s.Fatal(err)
	}
	s.refused(1, "you may not read the ModuleRollout default/notes", append(set, "regular=0.2.0")...)
	s.refused(1, "Hint: ask for the right to get modulerollouts", append(set, "regular=0.2.0")...)
}
