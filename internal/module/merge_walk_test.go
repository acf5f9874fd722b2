package module

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

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
	switch p.IntN(6) {
	case 0:
		spec.Channel = p.one("regular", "fast", "rapid")
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

// sides returns the input of a merge.
func (p *pair) sides() MergeInput {
	s := MergeInput{Hub: SeenOf(p.hub), Last: p.last.DeepCopy()}
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
	hub, effective := entries(before.Hub), entries(got.Effective)
	if diff := cmp.Diff(sorted(got.Effective), SeenOf(p.runtime)); diff != "" || p.refused() {
		p.t.Errorf("the runtime is not as it has to be, or refused: %t (-want +got):\n%s", p.refused(), diff)
	}
	inForce := p.hub.DeepCopy()
	Apply(inForce, got.Effective)
	if diff := notApplied(p.hub, got.Effective, inForce); diff != "" {
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

// step does one random thing.
func (p *pair) step() {
	switch p.IntN(8) {
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
	default:
		if !p.refused() {
			p.settle()
		}
	}
}

func twoPeople(t *testing.T, source rand.Source, steps int) {
	t.Helper()
	d := dice{rand.New(source)}
	p := &pair{dice: d, t: t, hub: d.kymaSpec()}
	if d.rarely(2) {
		p.runtime = d.kymaSpec()
	}
	for range steps {
		if p.step(); t.Failed() {
			t.Fatalf("hub     %+v\nruntime %+v\nseen    %+v", p.hub, p.runtime, p.last)
		}
	}
}

func TestMergeWalk_TwoPeopleAndOneList(t *testing.T) {
	for seed := range uint64(worlds) {
		twoPeople(t, rand.NewPCG(seed, 9), 20)
	}
}

func FuzzTwoPeople(f *testing.F) {
	f.Add([]byte("hub and runtime"))
	f.Fuzz(func(t *testing.T, tracks []byte) {
		twoPeople(t, &tape{tracks, rand.NewPCG(uint64(len(tracks)), 17)}, 10+len(tracks)%20)
	})
}
