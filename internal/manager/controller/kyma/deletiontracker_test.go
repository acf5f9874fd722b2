package kyma

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

func TestDeletionTracker_DetectsRecreatedObjects(t *testing.T) {
	begun := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	id := definitionID(kymaKind)
	there := func(uid string) inventory.Live {
		return inventory.Live{Presence: inventory.Present, UID: "u-" + types.UID(uid)}
	}
	for name, c := range map[string]struct {
		live         inventory.Live
		after        time.Duration
		anew, spared bool
	}{
		"it is still there":                       {live: there("1"), after: time.Second},
		"it has gone":                             {live: inventory.Live{Presence: inventory.Absent}, after: time.Second},
		"no one knows":                            {live: inventory.Live{Presence: inventory.Unknown}, after: time.Second},
		"another one, and its maker may tell":     {live: there("2"), after: time.Second, anew: true, spared: true},
		"another one, and its maker had his time": {live: there("2"), after: retryStaying, anew: true},
	} {
		t.Run(name, func(t *testing.T) {
			u := &deletionTracker{deleted: map[inventory.ID]types.UID{id: "u-1"}, found: map[inventory.ID]recreatedObject{}}
			u.inGracePeriod(id, c.live, begun) // the first look
			if got := u.isRecreated(id, c.live); got != c.anew {
				t.Errorf("anew is %t", got)
			}
			if got := u.anyRecreated(func(inventory.ID) inventory.Live { return c.live }); got != c.anew {
				t.Errorf("any is %t", got)
			}
			if got := u.inGracePeriod(id, c.live, begun.Add(c.after)); got != c.spared {
				t.Errorf("spared is %t", got)
			}
			if u.isRecreated(definitionID(catalogKinds[0]), c.live) {
				t.Error("what was never deleted was made anew")
			}
		})
	}
}

func TestDeletionTracker_StartsGracePeriodWhenObjectIsSeen(t *testing.T) {
	begun := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	id := definitionID(kymaKind)
	u := &deletionTracker{deleted: map[inventory.ID]types.UID{id: "u-1"}, found: map[inventory.ID]recreatedObject{}}
	for _, uid := range []types.UID{"u-2", "u-3"} { // the second is another one again
		live := inventory.Live{Presence: inventory.Present, UID: uid}
		if !u.inGracePeriod(id, live, begun.Add(time.Hour)) || u.inGracePeriod(id, live, begun.Add(time.Hour+retryStaying)) {
			t.Errorf("%s does not have %s", uid, retryStaying)
		}
	}
}

func TestClaimsRuntime(t *testing.T) {
	now := metav1.Now()
	for name, c := range map[string]struct {
		change func(*v1beta2.Kyma)
		want   bool
	}{
		"a Kyma that says so":                 {func(*v1beta2.Kyma) {}, true},
		"not one of another runtime":          {func(k *v1beta2.Kyma) { k.Status.RuntimeID = "other" }, false},
		"not one that was refused":            {func(k *v1beta2.Kyma) { k.Status.RuntimeID = "" }, false},
		"not one that goes itself":            {func(k *v1beta2.Kyma) { k.DeletionTimestamp = &now }, false},
		"not one that has only modules there": {func(k *v1beta2.Kyma) { k.Labels = map[string]string{v1beta2.LabelSync: "false"} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			kyma := kymaWith("kyma", nil, nil)
			kyma.Status.RuntimeID = "runtime"
			c.change(kyma)
			if got := claimsRuntime(kyma, "runtime"); got != c.want {
				t.Errorf("got %t", got)
			}
		})
	}
	if claimsRuntime(kymaWith("kyma", nil, nil), "") {
		t.Error("two that know of no runtime have the same one")
	}
}

func TestDeletionTracker_IgnoresEarlierKymaOfTheSameName(t *testing.T) {
	r := &Reconciler{}
	of := func(uid types.UID) *v1beta2.Kyma {
		return &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "k", UID: uid}}
	}
	first := r.trackerOf(of("1"))
	if r.trackerOf(of("1")) != first {
		t.Error("a second pass does not know what the first one deleted")
	}
	if r.trackerOf(of("2")) == first {
		t.Error("a new Kyma is taken for the old one")
	}
}
