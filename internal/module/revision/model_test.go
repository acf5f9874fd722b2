package revision_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
)

// maxBytes is what all revisions of a Manifest may take in its status.
const maxBytes = 1320

// model is a Manifest whose controller loses writes and is killed: stored is what the API server has, and a pass begins from that.
type model struct {
	*rand.Rand
	now    time.Time
	spec   revision.Key
	reason string
	stored []v1beta2.Revision
	// begun is the highest number that was ever stored; ended are the outcomes.
	begun int64
	ended map[int64]v1beta2.Revision
}

var (
	versions = []string{"1.0.0", "1.1.0", "1.2.0-rc.1", "1.2.0", "2.0.0"}
	reasons  = []string{"", byItself, v1beta2.ReasonRequested, v1beta2.ReasonRollout, "junk"}
)

// step changes the spec, or makes a pass of the controller; what the pass writes is lost at times.
func (m *model) step() string {
	m.now = m.now.Add(time.Duration(m.IntN(5000)) * time.Millisecond)
	switch m.IntN(5) {
	case 4: // a template is edited, or content published again: whatever annotation there is stays
		m.spec.Template = fmt.Sprintf("%016d", m.IntN(2))
		if m.IntN(3) == 0 {
			m.spec.Digest = key([]string{"", "/b"}[m.IntN(2)]).Digest
		}
		return fmt.Sprint("edit of ", m.spec.Version)
	case 0:
		m.spec = key(versions[m.IntN(len(versions))] + []string{"", "/b"}[m.IntN(2)])
		m.spec.Template = fmt.Sprintf("%016d", m.IntN(2))
		m.reason = reasons[m.IntN(len(reasons))]
		return fmt.Sprint("spec ", m.spec.Version, " ", m.reason)
	case 1: // an automatic rollback, as the Kyma's controller asks for it
		if way, ok := revision.WayBack(m.stored, m.spec, "", 0); ok {
			m.spec, m.reason = revision.KeyOf(way), byItself
		}
		return fmt.Sprint("back to ", m.spec.Version)
	}
	next := revision.Begin(m.stored, m.spec, v1beta2.StateReady, m.reason, m.now)
	did := "pass"
	switch m.IntN(3) {
	case 0:
		next, did = revision.End(next, v1beta2.RevisionSucceeded, ""), "ready"
	case 1:
		next, did = revision.End(next, v1beta2.RevisionFailed, "ObjectFailed"), "failed"
	}
	if m.IntN(4) == 0 {
		return did + ", lost"
	}
	m.stored = throughServer(next)
	return did
}

// throughServer returns a history as the API server returns it.
func throughServer(known []v1beta2.Revision) []v1beta2.Revision {
	raw, err := json.Marshal(known)
	if err != nil {
		panic(err)
	}
	var read []v1beta2.Revision
	if err := json.Unmarshal(raw, &read); err != nil {
		panic(err)
	}
	return read
}

func TestModel(t *testing.T) {
	for seed := range uint64(400) {
		m := &model{Rand: rand.New(rand.NewPCG(seed, 7)), now: noon, spec: key("1.0.0"), ended: map[int64]v1beta2.Revision{}}
		var did []string
		for range 60 {
			before := m.stored
			did = append(did, m.step())
			m.check(t, before)
			if t.Failed() {
				t.Fatalf("seed %d, after %q:\nbefore %s\nafter  %s", seed, did, written(before), written(m.stored))
			}
		}
	}
}

func (m *model) check(t *testing.T, before []v1beta2.Revision) {
	t.Helper()
	m.checkNumbers(t, before)
	m.checkOutcomes(t)
	m.checkWays(t)
	if len(m.stored) == 0 {
		return
	}
	m.checkSameVersion(t, before)
	last := m.stored[len(m.stored)-1]
	repeated := revision.Begin(m.stored, revision.KeyOf(last), v1beta2.StateError, byItself, m.now.Add(time.Hour))
	if last.Outcome != "" {
		repeated = revision.End(repeated, last.Outcome, "other")
	}
	if written(repeated) != written(m.stored) {
		t.Errorf("the same pass once more makes %s", written(repeated))
	}
	if raw, err := json.Marshal(m.stored); err != nil || len(m.stored) > 5 || len(raw) > maxBytes {
		t.Errorf("%d revisions take %d bytes: %v", len(m.stored), len(raw), err)
	}
}

// checkNumbers holds that numbers grow strictly and are never used again, and that a pass that was written shows what is asked for.
func (m *model) checkNumbers(t *testing.T, before []v1beta2.Revision) {
	t.Helper()
	if !slices.IsSortedFunc(m.stored, func(a, b v1beta2.Revision) int { return int(a.Number - b.Number) }) {
		t.Error("numbers do not grow")
	}
	for i := range m.stored {
		if i > 0 && m.stored[i].Number == m.stored[i-1].Number {
			t.Error("a number is there twice")
		}
	}
	if written(before) == written(m.stored) {
		return
	}
	last := m.stored[len(m.stored)-1]
	if revision.KeyOf(last) != m.spec {
		t.Errorf("the newest is %+v, asked for is %+v", revision.KeyOf(last), m.spec)
	}
	if last.Number != m.begun && last.Number != m.begun+1 {
		t.Errorf("number %d follows %d", last.Number, m.begun)
	}
	m.begun = last.Number
	if len(before) > 0 && last.Number > 1 && slices.ContainsFunc(before, func(r v1beta2.Revision) bool {
		return r.Number == last.Number && !r.At.Equal(&last.At)
	}) {
		t.Error("a revision began twice")
	}
}

// checkOutcomes holds that outcomes stay, that only one way leads from one to another, and that all but the newest have one.
func (m *model) checkOutcomes(t *testing.T) {
	t.Helper()
	for i, r := range m.stored {
		newest := i == len(m.stored)-1
		if r.Outcome == "" && !newest {
			t.Errorf("revision %d has no outcome", r.Number)
		}
		if newest && r.Outcome == v1beta2.RevisionRolledBack {
			t.Errorf("revision %d is asked for and rolled back", r.Number)
		}
		had, known := m.ended[r.Number]
		allowed := !known || had.Outcome == r.Outcome && had.Reason == r.Reason || r.Outcome == v1beta2.RevisionRolledBack ||
			had.Outcome == v1beta2.RevisionFailed && r.Outcome == v1beta2.RevisionSucceeded
		if !allowed || known && had.Outcome == v1beta2.RevisionRolledBack && r.Outcome != had.Outcome {
			t.Errorf("revision %d was %s %s and is %s %s", r.Number, had.Outcome, had.Reason, r.Outcome, r.Reason)
		}
		if r.Outcome != "" {
			m.ended[r.Number] = r
		}
		if i > 0 && m.stored[i-1].Number == r.Number-1 && m.stored[i-1].Outcome != v1beta2.RevisionRolledBack &&
			moduleversion.IsLower(r.Version, m.stored[i-1].Version) {
			t.Errorf("revision %d is lower than the one before, which is %s", r.Number, m.stored[i-1].Outcome)
		}
	}
}

// checkSameVersion holds that other content or another template of a version takes nothing back, whatever annotation was left on the
// Manifest: what is held stays so, until it is tried again.
func (m *model) checkSameVersion(t *testing.T, before []v1beta2.Revision) {
	t.Helper()
	for i := 1; i < len(m.stored); i++ {
		first, second := m.stored[i-1], m.stored[i]
		if first.Outcome == v1beta2.RevisionRolledBack && first.Number+1 == second.Number && first.Version == second.Version {
			t.Errorf("revision %d is taken back by one of the same version", first.Number)
		}
	}
	if len(before) == 0 || before[len(before)-1].Version != m.stored[len(m.stored)-1].Version {
		return
	}
	if held, ok := revision.Holding(before, 0); ok && revision.KeyOf(held) != revision.KeyOf(m.stored[len(m.stored)-1]) {
		if now, still := revision.Holding(m.stored, 0); !still || now.Number != held.Number {
			t.Errorf("revision %d was held, and now %d is: %v", held.Number, now.Number, still)
		}
	}
}

// checkWays holds that the way back is the newest of those that succeeded and are neither left, avoided nor gone back from, that it stays
// while nothing else succeeded, and that what is held went back by itself.
func (m *model) checkWays(t *testing.T) {
	t.Helper()
	avoid := refer(versions[m.IntN(len(versions))])
	leaves := revision.Key{}
	if m.IntN(2) == 0 {
		leaves = m.spec
	}
	way, ok := revision.WayBack(m.stored, leaves, avoid, 0)
	want := int64(0)
	for i, r := range m.stored {
		leftLater := slices.ContainsFunc(m.stored[i:], func(later v1beta2.Revision) bool {
			return later.Outcome == v1beta2.RevisionRolledBack && revision.KeyOf(later) == revision.KeyOf(r)
		})
		same := r.Version == leaves.Version && r.Digest == leaves.Digest
		if r.Outcome == v1beta2.RevisionSucceeded && !leftLater && !same && revision.ReferenceOf(r) != avoid {
			want = r.Number
		}
	}
	if ok != (want > 0) || ok && way.Number != want {
		t.Errorf("from %+v and without %s the way back is revision %d, want %d", leaves, avoid, way.Number, want)
	}
	newest := v1beta2.Revision{}
	for _, r := range m.ended {
		if r.Outcome == v1beta2.RevisionSucceeded && r.Number > newest.Number {
			newest = r
		}
	}
	if kept := slices.ContainsFunc(m.stored, func(r v1beta2.Revision) bool { return r.Number == newest.Number }); newest.Number > 0 && !kept {
		t.Errorf("revision %d, the newest that succeeded, is not kept", newest.Number)
	}
	if held, holds := revision.Holding(m.stored, 0); holds && (held.Outcome != v1beta2.RevisionRolledBack || held.Reason != byItself ||
		revision.KeyOf(held) == revision.KeyOf(m.stored[len(m.stored)-1])) {
		t.Errorf("held is %+v", held)
	}
}

// TestModel_FailingVersionsForDays obeys what is held: each version that fails is tried once, and a module that has a way back is on it.
func TestModel_FailingVersionsForDays(t *testing.T) {
	good, bad := key("1.0.0"), []revision.Key{key("1.1.0"), key("1.2.0"), key("1.2.0/b")}
	for seed := range uint64(50) {
		dice := rand.New(rand.NewPCG(seed, 11))
		now, known := noon, revision.End(revision.Begin(nil, good, "", "", noon), v1beta2.RevisionSucceeded, "")
		offered, tries, template := bad[0], map[revision.Key]int{}, 0
		for range 300 {
			now = now.Add(time.Duration(dice.IntN(120)) * time.Minute)
			if dice.IntN(20) == 0 {
				offered, tries = bad[dice.IntN(len(bad))], map[revision.Key]int{} // a person moved the channel
			}
			if dice.IntN(30) == 0 {
				template++ // the template of what runs changes, which is another revision of that
			}
			if held, ok := revision.Holding(known, 0); !ok || revision.KeyOf(held) != offered {
				known = revision.Begin(known, offered, v1beta2.StateReady, "", now)
				tries[offered]++
				known = revision.End(known, v1beta2.RevisionFailed, "ObjectFailed")
			}
			way, ok := revision.WayBack(known, offered, "", 0)
			if !ok || way.Version != good.Version {
				t.Fatalf("seed %d: no way back in %s", seed, written(known))
			}
			next := revision.KeyOf(way)
			next.Template = fmt.Sprintf("%016d", template)
			known = revision.Begin(known, next, v1beta2.StateError, byItself, now)
			switch dice.IntN(3) {
			case 0:
				known = revision.End(known, v1beta2.RevisionSucceeded, "")
			case 1: // a failure there must neither lead further back nor let go of what is held
				known = revision.End(known, v1beta2.RevisionFailed, "ObjectFailed")
			}
			if tries[offered] > 1 {
				t.Fatalf("seed %d: version %s is installed once more although nothing changed: %s", seed, offered.Version, written(known))
			}
		}
	}
}

// TestSize holds the bound for the longest histories that keep can leave, with versions and reasons as long as they really are.
func TestSize(t *testing.T) {
	longest := func(number int64, outcome v1beta2.RevisionOutcome, reason string) v1beta2.Revision {
		return v1beta2.Revision{
			Number: number, Version: "1.24.3-rc.12", Digest: layerA, Template: "0123456789abcdef", At: metav1.NewTime(noon),
			Before: v1beta2.StateProcessing, Outcome: outcome, Reason: reason,
		}
	}
	rolledBack := func(number int64) v1beta2.Revision { return longest(number, v1beta2.RevisionRolledBack, byItself) }
	failed := func(number int64) v1beta2.Revision {
		return longest(number, v1beta2.RevisionFailed, v1beta2.ReasonNamespaceTerminating)
	}
	superseded := func(number int64) v1beta2.Revision { return longest(number, v1beta2.RevisionSuperseded, "") }
	succeeded := func(number int64) v1beta2.Revision { return longest(number, v1beta2.RevisionSucceeded, "") }
	for sentence, known := range map[string][]v1beta2.Revision{
		"all that can be recent were gone back from": {succeeded(1000), rolledBack(1001), rolledBack(1002), failed(1003)},
		"both older ones beside what says little":    {rolledBack(1000), succeeded(1001), superseded(1002), superseded(1003), failed(1004)},
		"what is held, and failures of others":       {rolledBack(1000), succeeded(1001), failed(1002), failed(1003), failed(1004)},
	} {
		since := metav1.NewTime(noon)
		known[len(known)-1].Since = &since
		raw, err := json.Marshal(known)
		if err != nil || len(raw) > maxBytes {
			t.Errorf("%s: %d bytes, error %v", sentence, len(raw), err)
		}
	}
}
