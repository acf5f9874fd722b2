package module

import (
	"math/rand/v2"
	"testing"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// computed returns what kstatus itself says of a Kyma.
func computed(kyma *v1beta2.Kyma) kstatus.Result {
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(kyma)
	must(err)
	object["apiVersion"], object["kind"] = v1beta2.GroupVersion.String(), "Kyma"
	result, err := kstatus.Compute(&unstructured.Unstructured{Object: object})
	must(err)
	return *result
}

func TestKstatusOfEachState(t *testing.T) {
	for _, test := range []struct {
		state v1beta2.State
		want  kstatus.Status
	}{
		{v1beta2.StateReady, kstatus.CurrentStatus},
		{v1beta2.StateProcessing, kstatus.InProgressStatus},
		{v1beta2.StateWarning, kstatus.InProgressStatus},
		{v1beta2.StateError, kstatus.FailedStatus},
		{v1beta2.StateDeleting, kstatus.InProgressStatus},
		{"Unheard", kstatus.InProgressStatus},
	} {
		kyma := newKyma()
		kyma.Status.State, kyma.Status.ObservedGeneration = test.state, kyma.Generation
		conditions.Set(&kyma.Status.Conditions, v1beta2.ConditionReady, conditionStatus(test.state == v1beta2.StateReady), "Because", "text",
			kyma.Generation, noon)
		SetAbnormal(&kyma.Status.Conditions, test.state, noon)
		got := computed(kyma)
		if got.Status != test.want || test.want != kstatus.CurrentStatus && got.Message != "text" {
			t.Errorf("%s is %s with message %q, want %s", test.state, got.Status, got.Message, test.want)
		}
		kyma.Generation++
		if got := computed(kyma).Status; got != kstatus.InProgressStatus {
			t.Errorf("%s is %s after an edit", test.state, got)
		}
		kyma.DeletionTimestamp = noon.DeepCopy()
		if got := computed(kyma).Status; got != kstatus.TerminatingStatus {
			t.Errorf("%s is %s when it is being deleted", test.state, got)
		}
	}
}

func TestKstatusOfAKymaWithoutConditionReadyIsNoError(t *testing.T) {
	var conds []metav1.Condition
	SetAbnormal(&conds, v1beta2.StateProcessing, noon)
	if broken := conditions.Check(0, conds); broken != nil || !conditions.IsTrue(conds, v1beta2.ConditionReconciling) {
		t.Errorf("%v: %+v", broken, conds)
	}
}

// side returns what may be known of a runtime.
func (d dice) side() RemoteState {
	side := RemoteState{Seen: &v1beta2.LastSeen{}}
	if d.rarely(3) {
		side.Access = &Access{Reason: v1beta2.ReasonRuntimeUnreachable, Message: "no answer", Passing: d.rarely(2)}
	}
	if d.rarely(4) {
		side.Seen = nil
	}
	if d.rarely(3) {
		side.Syncs = []Sync{{Type: v1beta2.ConditionSpecSync, Reason: d.one(v1beta2.ReasonOverruled, v1beta2.ReasonRuntimeSpecRefused,
			v1beta2.ReasonSyncFailed), Message: "text"}}
	}
	return side
}

func TestProperty_KstatusSaysCurrentOnlyOfWhatIsReady(t *testing.T) {
	seen := map[kstatus.Status]int{}
	d := dice{rand.New(rand.NewPCG(29, 29))}
	inEveryWorld(t, func(t *testing.T, w Snapshot) { seen[kstatusOf(t, w, d)]++ })
	for range worlds { // in which little is wrong: hardly any of the others is Ready
		seen[kstatusOf(t, sampleWorld(installedAt("regular", v1)), d)]++
	}
	for _, status := range []kstatus.Status{
		kstatus.CurrentStatus, kstatus.InProgressStatus, kstatus.FailedStatus, kstatus.TerminatingStatus,
	} {
		if seen[status] == 0 {
			t.Errorf("no World is %s: %v", status, seen)
		}
	}
}

// kstatusOf checks what kstatus says of the status of a Snapshot, with something that is known of the runtime.
func kstatusOf(t *testing.T, w Snapshot, d dice) kstatus.Status {
	t.Helper()
	kyma, side := w.Kyma.DeepCopy(), d.side()
	w.Behind = d.rarely(8)
	kyma.Status = MergeRemoteStatus(w, Rollup(w, Resolve(w), nil), side)
	got := computed(kyma).Status
	checkKstatus(t, kyma, got)
	if problems := conditions.Check(kyma.Generation, kyma.Status.Conditions); len(problems) > 0 {
		t.Error(problems)
	}
	w.Kyma, w.Now = kyma.DeepCopy(), one
	if again := MergeRemoteStatus(w, Rollup(w, Resolve(w), nil), side); again.State == kyma.Status.State {
		checkNoFlap(t, kyma.Status.Conditions, again.Conditions)
	}
	return got
}

func checkKstatus(t *testing.T, kyma *v1beta2.Kyma, got kstatus.Status) {
	t.Helper()
	want := kstatus.InProgressStatus
	switch state := kyma.Status.State; {
	case kyma.DeletionTimestamp != nil:
		want = kstatus.TerminatingStatus
	case state == v1beta2.StateError:
		want = kstatus.FailedStatus
	case state == v1beta2.StateReady:
		want = kstatus.CurrentStatus
	}
	if got != want {
		t.Errorf("state is %s and kstatus says %s, want %s", kyma.Status.State, got, want)
	}
	for _, entry := range kyma.Status.Modules {
		if got == kstatus.CurrentStatus && entry.State.Severity() > 0 {
			t.Errorf("kstatus says Current while module %s is %s", entry.Name, entry.State)
		}
	}
}

// checkNoFlap compares the times of what kstatus reads in two statuses of one state.
func checkNoFlap(t *testing.T, before, after []metav1.Condition) {
	t.Helper()
	for _, kind := range []string{v1beta2.ConditionReconciling, v1beta2.ConditionStalled} {
		was, is := conditions.Find(before, kind), conditions.Find(after, kind)
		if (was == nil) != (is == nil) || was != nil && !cmp.Equal(was.LastTransitionTime, is.LastTransitionTime) {
			t.Errorf("the state stayed, and %s was %+v and is %+v", kind, was, is)
		}
	}
}
