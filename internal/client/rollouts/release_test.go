package rollouts

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// kymaWith returns a Kyma on channel regular that has eventing in a version and a state.
func kymaWith(name, version string, state v1beta2.State, entry v1beta2.Module) v1beta2.Kyma {
	k := v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: name}}
	entry.Name = "eventing"
	k.Spec = v1beta2.KymaSpec{Channel: "regular", Modules: []v1beta2.Module{entry}}
	if version != "" {
		k.Status.Modules = []v1beta2.ModuleStatus{{Name: "eventing", Version: version, State: state, Message: "it is " + string(state)}}
	}
	return k
}

func TestOfRelease(t *testing.T) {
	leaving, other, away := kymaWith("leaving", "1.2.0", "Ready", v1beta2.Module{}), v1beta2.Kyma{}, kymaWith("away", "1.2.0", "Ready", v1beta2.Module{})
	leaving.DeletionTimestamp = &metav1.Time{Time: noon}
	other.Namespace, away.Namespace = "kcp-system", "elsewhere"
	in := &modulestatus.Inputs{Kymas: []v1beta2.Kyma{
		kymaWith("a", "1.3.0", v1beta2.StateReady, v1beta2.Module{}), kymaWith("b", "1.3.0", v1beta2.StateWarning, v1beta2.Module{}),
		kymaWith("c", "1.3.0", v1beta2.StateError, v1beta2.Module{}), kymaWith("d", "1.3.0", v1beta2.StateProcessing, v1beta2.Module{}),
		kymaWith("e", "1.2.0", v1beta2.StateReady, v1beta2.Module{}), kymaWith("f", "1.2.0", v1beta2.StateError, v1beta2.Module{}),
		kymaWith("g", "", "", v1beta2.Module{}), kymaWith("h", "1.10.0", v1beta2.StateUnmanaged, v1beta2.Module{Channel: "fast"}),
		kymaWith("i", "1.0.0", v1beta2.StateError, v1beta2.Module{Version: "1.0.0"}),
		kymaWith("j", "1.3.0", v1beta2.StateReady, v1beta2.Module{Channel: "gone"}), leaving, other, away,
	}}
	got := OfRelease(in, releaseWith("regular", "1.3.0", "fast", "1.10.0"), halted())
	want := Release{
		Name: "eventing", Namespace: "kcp-system", Kymas: 10,
		Channels: []ReleaseChannel{
			{Name: "regular", Version: "1.3.0", Kymas: 7, Ready: 1, Updating: 1, Failing: 2, Waiting: 3, Phase: v1beta2.RolloutHalted, Wave: "early"},
			{Name: "fast", Version: "1.10.0", Kymas: 1, Ready: 1},
			{Name: "gone", Kymas: 1, Waiting: 1},
		},
		Versions: []VersionCount{
			{Version: "1.10.0", Kymas: 1, Ready: 1}, {Version: "1.3.0", Kymas: 5, Ready: 2, Failing: 2},
			{Version: "1.2.0", Kymas: 2, Ready: 1, Failing: 1}, {Version: "1.0.0", Kymas: 1, Failing: 1}, {Kymas: 1},
		},
		Failing: []FailingKyma{
			{Kyma: "c", Version: "1.3.0", Channel: "regular", State: "Error", Message: "it is Error"},
			{Kyma: "b", Version: "1.3.0", Channel: "regular", State: "Warning", Message: "it is Warning"},
			{Kyma: "f", Version: "1.2.0", Channel: "regular", State: "Error", Message: "it is Error"},
			{Kyma: "i", Version: "1.0.0", State: "Error", Message: "it is Error"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestOfRelease_AMandatoryModule(t *testing.T) {
	manifest := func(kyma, version string, state v1beta2.State, message string) v1beta2.Manifest {
		m := v1beta2.Manifest{ObjectMeta: metav1.ObjectMeta{
			Namespace: "kcp-system", Name: kyma + "-eventing", Labels: map[string]string{v1beta2.LabelKymaName: kyma}, Generation: 2,
		}}
		m.Spec.Version, m.Status.State, m.Status.ObservedGeneration = version, state, 2
		if message != "" {
			m.Status.Conditions = []metav1.Condition{{Type: v1beta2.ConditionReady, Message: message}}
		}
		return m
	}
	unseen := manifest("c", "1.3.0", v1beta2.StateReady, "")
	unseen.Generation++
	deleting, away := manifest("d", "1.3.0", v1beta2.StateReady, ""), manifest("e", "1.3.0", v1beta2.StateReady, "")
	deleting.DeletionTimestamp, away.Namespace = &metav1.Time{Time: noon}, "elsewhere"
	in := &modulestatus.Inputs{Manifests: []v1beta2.Manifest{
		manifest("a", "1.3.0", v1beta2.StateReady, ""), manifest("b", "1.2.0", v1beta2.StateError, "0 of 1 replicas"), unseen, deleting, away,
		manifest("new", "1.3.0", "", ""),
	}}
	got := OfRelease(in, mandatoryRelease("1.3.0"), nil)
	want := Release{
		Name: "eventing", Namespace: "kcp-system", Mandatory: true, Kymas: 4,
		Channels: []ReleaseChannel{{Version: "1.3.0", Kymas: 4, Ready: 1, Updating: 2, Waiting: 1}},
		Versions: []VersionCount{{Version: "1.3.0", Kymas: 3, Ready: 1}, {Version: "1.2.0", Kymas: 1, Failing: 1}},
		Failing:  []FailingKyma{{Kyma: "b", Version: "1.2.0", State: "Error", Message: "0 of 1 replicas"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestOfRelease_IsBounded: a fleet of thousands whose versions all differ and fail makes a page, not a flood.
func TestOfRelease_IsBounded(t *testing.T) {
	in := &modulestatus.Inputs{}
	for i := range 10000 {
		in.Kymas = append(in.Kymas, kymaWith(fmt.Sprintf("kyma-%05d", i), fmt.Sprintf("1.%d.0", i%40), v1beta2.StateError, v1beta2.Module{}))
	}
	got := OfRelease(in, releaseWith("regular", "1.39.0"), nil)
	if len(got.Failing) != Shown || got.MoreFailing != 9990 || len(got.Versions) != Shown || got.MoreVersions != 30 {
		t.Errorf("%d failing and %d more, %d versions and %d more", len(got.Failing), got.MoreFailing, len(got.Versions), got.MoreVersions)
	}
	if got.Failing[0].Kyma != "kyma-00039" {
		t.Errorf("the first is %s, which has not the version of its channel", got.Failing[0].Kyma)
	}
}

func TestRank_AVersionThatIsNone(t *testing.T) {
	var r Release
	r.rank(map[string]*VersionCount{"x": {Version: "x", Kymas: 1}, "": {Kymas: 2}, "1.0.0": {Version: "1.0.0", Kymas: 3}})
	if len(r.Versions) != 3 || r.Versions[2].Version != "" {
		t.Errorf("%+v", r.Versions)
	}
}
