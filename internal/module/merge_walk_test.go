package module

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// pair is a hub and a runtime in which two users edit the same list, with the operator between them.
type pair struct {
	dice
	t       *testing.T
	hub     *v1beta2.KymaSpec
	runtime *v1beta2.KymaSpec
	last    *v1beta2.LastSeen
}

// edit makes one random edit to a spec.
func (p *pair) edit(spec *v1beta2.KymaSpec) {
	switch p.IntN(7) {
	case 0:
		spec.Channel = p.one("regular", "fast", "rapid")
		return
	case 2:
		p.fill(spec)
		return
	case 1:
		spec.SkipMaintenanceWindows = !spec.SkipMaintenanceWindows
		return
	}
	name := p.one(letters...)
	at := slices.IndexFunc(spec.Modules, func(m v1beta2.Module) bool { return m.Name == name })
	switch {
	case at < 0:
		spec.Modules = append(spec.Modules, p.module(name))
	case p.rarely(2):
		spec.Modules = slices.Delete(spec.Modules, at, at+1)
	default:
		spec.Modules[at] = p.module(name)
	}
}

// fill gives most of every other one of the many entries that a spec may have as many values as fit into one, and the others of these none:
// what two users write may fit only alone.
func (p *pair) fill(spec *v1beta2.KymaSpec) {
	first := p.IntN(2)
	for i := range spec.Modules {
		if entry := &spec.Modules[i]; strings.HasPrefix(entry.Name, "m") && i%2 == first {
			entry.Values = nil
			if !p.rarely(10) {
				entry.Values = crowded(1, 0, 1).Modules[0].Values
			}
		}
	}
}

// sides returns the input of a merge.
func (p *pair) sides() MergeInput {
	s := MergeInput{Hub: SeenOnHub(p.hub, p.last), Last: p.last.DeepCopy()}
	if p.runtime != nil {
		s.Runtime = new(SeenOf(p.runtime))
	}
	return s
}

// refused reports whether the runtime's spec is not accepted: nothing is merged until its user has mended it.
func (p *pair) refused() bool { return p.runtime != nil && CheckRuntimeSpec(p.runtime) != nil }

// pass merges, writes, and records what was seen, unless it is interrupted before that.
func (p *pair) pass(interrupted bool) Merged {
	got := Merge(p.sides())
	if got.Refused != "" {
		p.opens()
		return got
	}
	if got.Write {
		if p.runtime == nil {
			p.runtime = &v1beta2.KymaSpec{Channel: got.Effective.Channel} // Apply leaves out what means the default
		}
		Apply(p.runtime, got.Effective)
	}
	if !interrupted {
		p.last = got.Seen.DeepCopy()
	}
	return got
}

// opens checks that two specs that are not accepted together are merged once the hub's has no values, so that neither waits for ever.
func (p *pair) opens() {
	sides := p.sides()
	for i := range sides.Hub.Modules {
		sides.Hub.Modules[i].Values = ""
	}
	if again := Merge(sides); again.Refused != "" {
		p.t.Errorf("the hub cannot mend it: %s", again.Refused)
	}
}

// entries returns the values of a spec by entry.
func entries(seen v1beta2.SeenSpec) map[string]any {
	of := map[string]any{entryChannel: seen.Channel, entrySkip: seen.SkipMaintenanceWindows}
	for _, entry := range seen.Modules {
		of[entryModule+entry.Name] = entry
	}
	return of
}

// settle does a whole pass and checks its result.
func (p *pair) settle() {
	before := p.sides()
	got := p.pass(false)
	if got.Refused != "" {
		return
	}
	hub, effective := entries(before.Hub), entries(got.Effective)
	if diff := cmp.Diff(sorted(got.Effective), SeenOf(p.runtime)); diff != "" || p.refused() {
		p.t.Errorf("the runtime is not as it has to be, or refused: %t (-want +got):\n%s", p.refused(), diff)
	}
	inForce := p.hub.DeepCopy()
	Apply(inForce, got.Effective)
	if diff := cmp.Diff(sorted(got.Effective), SeenOf(inForce)); diff != "" {
		p.t.Errorf("what is in force is not as it has to be (-want +got):\n%s", diff)
	}
	switch {
	case before.Last == nil:
	case before.Runtime != nil:
		p.nothingLost(before, got)
	default:
		lastHub := entries(*before.Last.Hub)
		for entry := range entries(*before.Last.Runtime) {
			if effective[entry] == nil && cmp.Equal(hub[entry], lastHub[entry]) {
				p.t.Errorf("%s went with the copy", entry)
			}
		}
	}
	for _, entry := range got.Seen.Overruled {
		if cmp.Equal(hub[entry], effective[entry]) {
			p.t.Errorf("%s is told to be overruled and is not", entry)
		}
	}
	if again := Merge(p.sides()); again.Write || !cmp.Equal(again.Seen, *p.last) {
		p.t.Errorf("there is still something to do: %+v", again)
	}
}

// nothingLost checks that every edit was applied or reported, and that unedited entries are as before.
func (p *pair) nothingLost(before MergeInput, got Merged) {
	hub, user, effective := entries(before.Hub), entries(*before.Runtime), entries(got.Effective)
	lastHub, lastUser := entries(*before.Last.Hub), entries(*before.Last.Runtime)
	every := maps.Clone(hub)
	maps.Copy(every, user)
	edited := false
	for entry := range every {
		byHub, byUser := !cmp.Equal(hub[entry], lastHub[entry]), !cmp.Equal(user[entry], lastUser[entry])
		edited = edited || byHub
		switch {
		case (byUser || !byHub) && !cmp.Equal(user[entry], effective[entry]):
			p.t.Errorf("%s: not as the user wants it", entry)
		case byHub && !cmp.Equal(hub[entry], effective[entry]) && !slices.Contains(got.Seen.Overruled, entry):
			p.t.Errorf("%s: the hub's edit is lost", entry)
		}
	}
	if got.Write && !edited {
		p.t.Error("the runtime was written though nothing changed on the hub")
	}
}

// spoil makes values of the hub unusable: those of all entries together, or of one.
func (p *pair) spoil() {
	modules := p.hub.Modules
	if len(modules) > maxValues/v1beta2.MaxEntryValues && p.rarely(2) {
		for i := range modules {
			modules[i].Values = bigValues(v1beta2.MaxEntryValues - 100)
		}
		return
	}
	bad := []*runtime.RawExtension{rawJSON(`{"a":{"b":null}}`), rawJSON(`[]`), rawJSON(`{`), bigValues(v1beta2.MaxEntryValues)}
	modules[p.IntN(len(modules))].Values = bad[p.IntN(len(bad))]
}

// badValues has the hub's user write values that cannot be used, and put back what was there: neither changes anything.
func (p *pair) badValues() {
	p.settle()
	if p.t.Failed() || len(p.hub.Modules) == 0 || Behind(p.hub, p.last) || len(RefusedOnHub(p.hub, p.last)) > 0 {
		return
	}
	good, theirs, last := p.hub.DeepCopy(), p.runtime.DeepCopy(), p.last.DeepCopy()
	if p.spoil(); len(RefusedOnHub(p.hub, p.last)) == 0 {
		p.t.Error("bad values are accepted")
	}
	for _, hub := range []*v1beta2.KymaSpec{p.hub, good} {
		p.hub = hub
		p.pass(false)
		if diff := cmp.Diff([]any{theirs, last}, []any{p.runtime, p.last}); diff != "" {
			p.t.Errorf("bad values of the hub changed what is in force (-before +after):\n%s", diff)
		}
	}
}

// step does one random thing.
func (p *pair) step() {
	switch p.IntN(9) {
	case 0, 1:
		p.edit(p.hub)
	case 2, 3:
		if p.runtime != nil {
			p.edit(p.runtime)
		}
	case 4:
		if p.rarely(3) {
			p.runtime = nil
		}
	case 5:
		if !p.refused() {
			p.pass(true)
		}
	case 6:
		if !p.refused() {
			p.badValues()
		}
	default:
		if !p.refused() {
			p.settle()
		}
	}
}

// twoPeople makes random steps. Both specs begin with that many entries beside those that come and go.
func twoPeople(t *testing.T, source rand.Source, steps, crowd int) {
	t.Helper()
	d := dice{rand.New(source)}
	p := &pair{dice: d, t: t, hub: d.kymaSpec()}
	if d.rarely(2) {
		p.runtime = d.kymaSpec()
	}
	p.hub.Modules = append(p.hub.Modules, crowded(crowd, 0, 0).Modules...)
	if p.runtime != nil {
		p.runtime.Modules = append(p.runtime.Modules, crowded(crowd, 0, 0).Modules...)
	}
	for range steps {
		if p.step(); t.Failed() {
			t.Fatalf("hub     %+v\nruntime %+v\nseen    %+v", p.hub, p.runtime, p.last)
		}
	}
}

func TestMergeWalk_TwoPeopleAndOneList(t *testing.T) {
	for seed := range uint64(worlds) {
		twoPeople(t, rand.NewPCG(seed, 9), 20, 0)
	}
}

// TestMergeWalk_ValuesThatFitOnlyAlone has enough entries for more values than are accepted, of each side and of both together.
func TestMergeWalk_ValuesThatFitOnlyAlone(t *testing.T) {
	for seed := range uint64(10) {
		twoPeople(t, rand.NewPCG(seed, 11), 40, 14)
	}
}

func FuzzTwoPeople(f *testing.F) {
	f.Add([]byte("hub and runtime"))
	f.Fuzz(func(t *testing.T, tracks []byte) {
		twoPeople(t, &tape{tracks, rand.NewPCG(uint64(len(tracks)), 17)}, 10+len(tracks)%20, len(tracks)%2*14)
	})
}
