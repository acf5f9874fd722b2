package kyma

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientfake "sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

var noon = metav1.NewTime(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))

func TestUnpinnable_ReturnsVersionsOnlyTheRuntimeRequests(t *testing.T) {
	kyma := kymaWith("kyma", []string{"follows"}, nil)
	kyma.Spec.Modules = append(kyma.Spec.Modules, v1beta2.Module{Name: "pinned", Version: "2.0.0"})
	seen := v1beta2.SeenSpec{Channel: "regular", Modules: []v1beta2.SeenModule{
		{Name: "follows", Version: "1.0.0"}, {Name: "pinned", Version: "2.0.0"}, {Name: "theirs", Version: "3.0.0"}, {Name: "plain"},
	}}
	kyma.Status.LastSeen = &v1beta2.LastSeen{Hub: &v1beta2.SeenSpec{}, Runtime: &seen}
	refused := map[string]bool{"follows": true, "theirs": true}
	for name, test := range map[string]struct {
		side    remoteScope
		allowed bool
		want    map[string]bool
	}{
		"what was merged now":                        {side: remoteScope{remote: true, merged: &module.Merged{Effective: seen}}, want: refused},
		"what was seen last, without a connection":   {side: remoteScope{remote: true}, want: refused},
		"everything, where the operator allows it":   {side: remoteScope{remote: true}, allowed: true},
		"nothing of what only the hub has asked for": {side: remoteScope{}, want: map[string]bool{}},
	} {
		t.Run(name, func(t *testing.T) {
			test.side.hub = kyma
			effective, known := test.side.effective()
			r := &Reconciler{RuntimeVersions: test.allowed}
			if diff := cmp.Diff(test.want, r.unpinnable(kyma, effective)); diff != "" || !known {
				t.Errorf("known %v; differs (-want +got):\n%s", known, diff)
			}
		})
	}
}

func TestEditDelay_LimitsEditsOfTheRuntimesUsers(t *testing.T) {
	now := noon
	r := &Reconciler{Now: func() metav1.Time { return now }}
	kyma := kymaWith("kyma", nil, nil)
	kyma.Status.LastSeen = &v1beta2.LastSeen{Runtime: &v1beta2.SeenSpec{Channel: "regular"}}
	s := &remoteScope{hub: kyma}
	edit := func(n int) *v1beta2.SeenSpec {
		return &v1beta2.SeenSpec{Channel: "fast", SkipMaintenanceWindows: n%2 == 0}
	}
	for range 10 * editsAtOnce {
		if pause := r.editDelay(s, edit(0)); pause != 0 {
			t.Fatalf("an edit that was taken over is taken back for %s while the status does not tell of it", pause)
		}
	}
	paused := 0
	for n := range 2 * editsAtOnce {
		if r.editDelay(s, edit(n+1)) > 0 {
			paused++
		}
	}
	if paused == 0 {
		t.Error("the one who edits all the time is never made to wait")
	}
	if pause := r.editDelay(s, kyma.Status.LastSeen.Runtime); pause != 0 {
		t.Errorf("what was seen last has to wait for %s", pause)
	}
	now = metav1.NewTime(now.Add(editInterval))
	if pause := r.editDelay(s, &v1beta2.SeenSpec{Channel: "rapid"}); pause != 0 {
		t.Errorf("the next edit still has to wait for %s", pause)
	}
}

func TestRetryDelay_DependsOnTheError(t *testing.T) {
	lost := &url.Error{Op: "Patch", URL: "https://runtime", Err: &net.OpError{Op: "write", Net: "tcp", Err: syscall.ECONNRESET}}
	for name, test := range map[string]struct {
		err  error
		want time.Duration
	}{
		"what another user wrote meanwhile is seen in a moment": {apierrors.NewConflict(schema.GroupResource{}, "default", nil), retrySoon},
		"a connection that broke is made anew soon":             {fmt.Errorf("write the status: %w", lost), 5 * retrySoon},
		"a server that fails may have been restarted":           {apierrors.NewInternalError(errors.New("no")), 5 * retrySoon},
		"a refusal waits for a person":                          {apierrors.NewForbidden(schema.GroupResource{}, "default", nil), retryFailed},
	} {
		t.Run(name, func(t *testing.T) {
			if got := retryDelay(test.err); got != test.want {
				t.Errorf("after %s, want %s", got, test.want)
			}
		})
	}
}

func TestPatience_GrowsWithTheAgeOfTheFailure(t *testing.T) {
	failing := func(since time.Duration) []metav1.Condition {
		return []metav1.Condition{{
			Type: v1beta2.ConditionCRDsSync, Status: metav1.ConditionFalse, LastTransitionTime: metav1.NewTime(noon.Add(-since)),
		}}
	}
	going := &apply.Error{Class: apply.ClassNamespaceTerminating}
	for name, test := range map[string]struct {
		before []metav1.Condition
		err    error
		reason string
		want   time.Duration
	}{
		"a moment at first":                  {nil, going, v1beta2.ReasonSyncPending, retrySoon},
		"and while it is young":              {failing(3 * time.Second), going, v1beta2.ReasonSyncPending, retrySoon},
		"longer when it takes its time":      {failing(40 * time.Second), going, v1beta2.ReasonSyncPending, 10 * time.Second},
		"never longer than for a failure":    {failing(time.Hour), going, v1beta2.ReasonSyncPending, retryFailed},
		"as long as the error says":          {nil, &apply.Error{Class: apply.ClassConflict, RetryAfter: 7 * time.Second}, v1beta2.ReasonSyncPending, 7 * time.Second},
		"not at all for what has an event":   {nil, errCopyTerminating, v1beta2.ReasonSyncPending, 0},
		"a failure is no matter of a moment": {nil, errors.New("denied"), v1beta2.ReasonSyncFailed, retryFailed},
	} {
		t.Run(name, func(t *testing.T) {
			s := &remoteScope{hub: kymaWith("kyma", nil, nil), now: noon.Time}
			s.hub.Status.Conditions = test.before
			s.failed(v1beta2.ConditionCRDsSync, test.err)
			if s.retry != test.want || s.Syncs[0].Reason != test.reason {
				t.Errorf("%s, again after %s; want %s, %s", s.Syncs[0].Reason, s.retry, test.reason, test.want)
			}
		})
	}
}

// overtakenRuntime holds no Kyma at the first read, and another Kyma's from then on.
type overtakenRuntime struct {
	Runtime
	asked int
}

func (r *overtakenRuntime) Known(types.NamespacedName) (bool, *runtimes.Problem) { return true, nil }

func (r *overtakenRuntime) Object(inventory.ID) (*unstructured.Unstructured, bool) {
	r.asked++
	other := &unstructured.Unstructured{}
	other.SetAnnotations(map[string]string{v1beta2.AnnotationOwnedBy: "kcp-system/other"})
	return other, r.asked > 1
}

func TestPrepareRuntime_RejectsKymaCreatedAfterOwnershipCheck(t *testing.T) {
	other := kymaWith("other", nil, nil)
	r := &Reconciler{Client: clientfake.NewClientBuilder().WithScheme(scheme(t)).WithObjects(other).Build()}
	s := &remoteScope{hub: kymaWith("kyma", nil, nil), runtime: &overtakenRuntime{}}
	if r.shared(t.Context(), s) {
		t.Fatal("nothing is there yet")
	}
	if r.readRuntimeKyma(s); s.copy != nil || s.merged == nil {
		t.Errorf("another's is taken for ours: %v", s.copy)
	}
	s.Syncs = []module.Sync{{Type: v1beta2.ConditionCRDsSync, Holds: true}} // of what was put there in between
	if !r.shared(t.Context(), s) || !s.Foreign || s.Syncs != nil {
		t.Errorf("the runtime is not seen to be the other's: %+v", s.RemoteState)
	}
}

func TestRefuseLocal_HoldsKymaOfAnotherNamespace(t *testing.T) {
	yes, no := true, false
	may := func(namespace, account string) bool { return namespace == "kcp-system" || account != "" }
	for name, test := range map[string]struct {
		remote    *bool
		namespace string
		may       func(namespace, account string) bool
		account   string
		held      bool
	}{
		"local, of another namespace":           {&no, "tenant", may, "", true},
		"local, by an account of its namespace": {&no, "tenant", may, "deployer", false},
		"local, of a namespace that may":        {&no, "kcp-system", may, "", false},
		"local, where nothing says who may":     {&no, "kcp-system", nil, "", true},
		"for a runtime, of another namespace":   {&yes, "tenant", nil, "", false},
		"for a runtime, of a namespace unnamed": {nil, "tenant", nil, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			kyma := kymaWith("kyma", []string{"module"}, nil)
			kyma.Namespace, kyma.Spec.Remote, kyma.Status.RuntimeID = test.namespace, test.remote, "known"
			kyma.Spec.ServiceAccountName = test.account
			kyma.Labels = map[string]string{v1beta2.LabelSync: "false"} // no runtime is met in this test
			r := &Reconciler{Now: metav1.Now, InstallsLocally: test.may}
			s := r.prepareRuntime(t.Context(), kyma)
			_, known := s.effective()
			if held := s.Access != nil; held != test.held || known == test.held {
				t.Fatalf("held %v, known what counts %v, want held %v", held, known, test.held)
			}
			if test.held && (s.Access.Reason != v1beta2.ReasonLocalNamespaceRefused || s.Access.Passing) {
				t.Errorf("told %+v", s.Access)
			}
		})
	}
}
