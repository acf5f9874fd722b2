package module

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// seenSpec returns a seen spec from a short form: "fast skip x=a y" is channel fast, skipMaintenanceWindows, module x in channel a, and
// module y in that of the Kyma.
func seenSpec(short string) v1beta2.SeenSpec {
	seen := v1beta2.SeenSpec{Channel: v1beta2.DefaultChannel}
	for word := range strings.FieldsSeq(short) {
		name, channel, _ := strings.Cut(word, "=")
		switch word {
		case "fast":
			seen.Channel = word
		case "skip":
			seen.SkipMaintenanceWindows = true
		default:
			seen.Modules = append(seen.Modules, v1beta2.SeenModule{Name: name, Channel: channel,
				CustomResourcePolicy: v1beta2.CustomResourcePolicyCreateAndDelete})
		}
	}
	return seen
}

// inShort returns the short form of a seen spec that seenSpec parses.
func inShort(seen v1beta2.SeenSpec) string {
	var words []string
	if seen.Channel != v1beta2.DefaultChannel {
		words = append(words, seen.Channel)
	}
	if seen.SkipMaintenanceWindows {
		words = append(words, "skip")
	}
	for _, entry := range seen.Modules {
		words = append(words, strings.TrimSuffix(entry.Name+"="+entry.Channel, "="))
	}
	return strings.Join(words, " ")
}

const missing = "missing" // there is no such spec

func maybe(short string) *v1beta2.SeenSpec {
	if short == missing {
		return nil
	}
	return new(seenSpec(short))
}

func TestMerge(t *testing.T) {
	for _, tc := range []struct {
		name                               string
		hub, lastHub, runtime, lastRuntime string
		before                             []string
		effective                          string
		write                              bool
		overruled                          []string
	}{
		{"at first contact the runtime gets the hub's spec", "fast skip x y", missing, missing, missing, nil, "fast skip x y", true, nil},
		{"at first contact an existing spec is the base", "fast x y=a", missing, "skip y=b z", missing, nil, "skip y=b z", false, nil},
		{"an existing empty list is a base, too", "x", missing, "", missing, nil, "", false, nil},
		{"nothing changed", "x", "x", "y x=a", "x=a y", nil, "y x=a", false, nil},
		{"a default module that the user removed stays removed", "x y", "x y", "y", "y", nil, "y", false, nil},
		{"the user removes a default module", "x y", "x y", "y", "x y", nil, "y", false, nil},
		{"the user adds, changes and removes", "x y", "x y", "fast x=a z", "x y", nil, "fast x=a z", false, nil},
		{"the hub adds a module", "x y", "x", "z x", "x z", nil, "z x y", true, nil},
		{"the hub changes a module", "x=b", "x=a", "z x=a", "x=a z", nil, "z x=b", true, nil},
		{"the hub changes a module that the user had changed long ago", "x=b", "x=a", "x=c", "x=c", nil, "x=b", true, nil},
		{"the hub removes a module", "x", "x y", "y x", "x y", nil, "x", true, nil},
		{"the hub removes a module that the user had changed long ago", "", "x", "x=c", "x=c", nil, "", true, nil},
		{"the hub changes the channel", "fast x", "x", "x", "x", nil, "fast x", true, nil},
		{"the hub requests to skip windows", "skip", "", "x", "x", nil, "skip x", true, nil},
		{"the hub no longer requests to skip windows", "", "skip", "skip", "skip", nil, "", true, nil},
		{"both change different entries", "x y=b", "x y", "fast x=a y", "x y", nil, "fast x=a y=b", true, nil},
		{"both make the same change", "fast x=a z", "x y", "fast x=a z", "x y", nil, "fast x=a z", false, nil},
		{"both change the channel of a module", "x=b", "x=a", "x=c", "x=a", nil, "x=c", false, []string{"module x"}},
		{"both add a module, each in its own channel", "x=b", "", "x=c", "", nil, "x=c", false, []string{"module x"}},
		{"the hub removes what the user changes", "", "x", "x=c", "x", nil, "x=c", false, []string{"module x"}},
		{"the hub changes what the user removes", "x=b", "x", "", "x", nil, "", false, []string{"module x"}},
		{"the hub changes what the user had removed long ago", "x=b", "x=a", "", "", nil, "", false, []string{"module x"}},
		{"the hub removes what the user had removed long ago", "", "x=a", "", "", []string{"module x"}, "", false, nil},
		{"the hub adds again what the user had removed", "x=b", "", "", "", nil, "x=b", true, nil},
		{"both change everything", "fast skip b=y a=x", "a b", "skip b=z a=z", "a b", nil, "fast skip b=z a=z", true,
			[]string{"module a", "module b"}},
		{"an overruled entry is remembered", "x=b", "x=b", "x=c", "x=c", []string{"module x"}, "x=c", false, []string{"module x"}},
		{"an overruled entry stays overruled while the user changes it again", "x=b", "x=b", "x=d", "x=c", []string{"module x"}, "x=d", false,
			[]string{"module x"}},
		{"the user accepts the hub's change", "fast x=b", "fast x=b", "fast x=b", "x=c", []string{"channel", "module x"}, "fast x=b", false, nil},
		{"the hub accepts the user's change", "x=c", "x=b", "x=c", "x=c", []string{"module x"}, "x=c", false, nil},
		{"the hub makes another change", "x=d", "x=b", "x=c", "x=c", []string{"module x"}, "x=d", true, nil},
		{"an entry that neither side has is no longer overruled", "", "", "", "", []string{"module x", "rubbish"}, "", false, nil},
		{"the copy is gone: last-seen modules stay", "x", "x", missing, "y x=a", nil, "x=a y", true, nil},
		{"the copy is gone: default modules come back", "x y", "x y", missing, "y=a z", nil, "y=a z x", true, nil},
		{"the copy is gone: channel and windows stay", "fast", "fast", missing, "skip", nil, "skip", true, nil},
		{"the copy is gone and the hub has changed since", "fast x=b", "x=a y", missing, "x=c y z", nil, "fast x=b z", true, nil},
		{"the copy is gone: overruled entries stay overruled", "x=b", "x=b", missing, "x=c", []string{"module x"}, "x=c", true,
			[]string{"module x"}},
		{"the copy is gone and was empty", "", "", missing, "", nil, "", true, nil},
		{"only the runtime's half of the record exists, and the copy is gone", "x", missing, missing, "y", nil, "y x", true, nil},
		{"only the runtime's half of the record exists", "x", missing, "y", "z", nil, "y", false, nil},
		{"only the hub's half of the record exists", "x", "y", "y", missing, nil, "y", false, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			sides := MergeInput{Hub: seenSpec(tc.hub), Runtime: maybe(tc.runtime)}
			if tc.lastHub != missing || tc.lastRuntime != missing {
				sides.Last = &v1beta2.LastSeen{Hub: maybe(tc.lastHub), Runtime: maybe(tc.lastRuntime), Overruled: tc.before}
				if sides.Last.Runtime != nil && tc.runtime == missing {
					*sides.Last.Runtime = sorted(*sides.Last.Runtime)
				}
			}
			got := Merge(sides)
			if inShort(got.Effective) != tc.effective || got.Write != tc.write || !slices.Equal(got.Seen.Overruled, tc.overruled) {
				t.Errorf("got %q, write %v, overruled %q", inShort(got.Effective), got.Write, got.Seen.Overruled)
			}
			want := v1beta2.LastSeen{Hub: new(sorted(seenSpec(tc.hub))), Runtime: new(sorted(seenSpec(tc.effective))), Overruled: tc.overruled}
			if diff := cmp.Diff(want, got.Seen); diff != "" {
				t.Errorf("seen (-want +got):\n%s", diff)
			}
		})
	}
}

// moment is one module in the four specs ("" means absent), with the other inputs of the decision.
type moment struct {
	hub, lastHub, runtime, lastRuntime string
	copyThere, known, overruled        bool
}

// oracle returns the expected result for a moment. It follows the rule that is documented for users, not the code.
func oracle(m moment) (effective string, overruled bool) {
	if !m.known {
		if m.copyThere {
			return m.runtime, false
		}
		return m.hub, false
	}
	if !m.copyThere {
		if m.lastRuntime == "" || m.hub != m.lastHub {
			return m.hub, false
		}
		return m.lastRuntime, m.overruled && m.lastRuntime != m.hub
	}
	if m.hub == m.runtime {
		return m.hub, false
	}
	hubEdited, userEdited := m.hub != m.lastHub, m.runtime != m.lastRuntime
	userRemovedEarlier := m.runtime == "" && m.lastRuntime == "" && m.lastHub != ""
	if hubEdited && !userEdited && !userRemovedEarlier {
		return m.hub, false
	}
	return m.runtime, hubEdited || m.overruled
}

// everyMoment calls check for every moment and returns their number.
func everyMoment(check func(moment)) int {
	count, entries, truths := 0, []string{"", "a", "b", "c"}, []bool{false, true}
	for _, hub := range entries {
		for _, lastHub := range entries {
			for _, runtime := range entries {
				for _, lastRuntime := range entries {
					for _, copyThere := range truths {
						for _, known := range truths {
							for _, overruled := range truths {
								count++
								check(moment{hub, lastHub, runtime, lastRuntime, copyThere, known, overruled})
							}
						}
					}
				}
			}
		}
	}
	return count
}

// sides returns the input for a moment of module x, beside a module that both sides have and one that only the runtime has.
func (m moment) sides() MergeInput {
	spec := func(short, beside string) v1beta2.SeenSpec {
		if short != "" {
			beside += " x=" + short
		}
		return seenSpec(beside)
	}
	s := MergeInput{Hub: spec(m.hub, "both")}
	if m.copyThere {
		s.Runtime = new(spec(m.runtime, "user both"))
	}
	if m.known {
		s.Last = &v1beta2.LastSeen{Hub: new(spec(m.lastHub, "both")), Runtime: new(spec(m.lastRuntime, "both user"))}
		if m.overruled {
			s.Last.Overruled = []string{"module x"}
		}
	}
	return s
}

func TestMergeOfEveryModuleThereCanBe(t *testing.T) {
	count := everyMoment(func(m moment) {
		got := Merge(m.sides())
		effective, overruled := oracle(m)
		is := ""
		for _, entry := range got.Effective.Modules {
			if entry.Name == "x" {
				is = entry.Channel
			}
		}
		beside := strings.Fields(inShort(got.Effective))
		wantUser := m.copyThere || m.known
		if is != effective || slices.Equal(got.Seen.Overruled, []string{"module x"}) != overruled || len(got.Seen.Overruled) > 1 {
			t.Errorf("%+v: %q, overruled %q; want %q, %v", m, is, got.Seen.Overruled, effective, overruled)
		}
		if !slices.Contains(beside, "both") || slices.Contains(beside, "user") != wantUser {
			t.Errorf("%+v: what was beside it: %q", m, beside)
		}
		if want := !m.copyThere || effective != m.runtime; got.Write != want {
			t.Errorf("%+v: write %v", m, got.Write)
		}
		if m.copyThere && m.hub == m.lastHub && got.Write {
			t.Errorf("%+v: writes though nothing changed on the hub", m)
		}
	})
	if count != 4*4*4*4*8 {
		t.Errorf("%d moments", count)
	}
}

func TestMergeOfEveryChannelThereCanBe(t *testing.T) {
	everyMoment(func(m moment) {
		if m.hub == "" || m.lastHub == "" || m.runtime == "" || m.lastRuntime == "" {
			return // a channel always exists
		}
		s := MergeInput{Hub: v1beta2.SeenSpec{Channel: m.hub}}
		if m.copyThere {
			s.Runtime = &v1beta2.SeenSpec{Channel: m.runtime}
		}
		if m.known {
			s.Last = &v1beta2.LastSeen{Hub: &v1beta2.SeenSpec{Channel: m.lastHub}, Runtime: &v1beta2.SeenSpec{Channel: m.lastRuntime}}
			if m.overruled {
				s.Last.Overruled = []string{"channel"}
			}
		}
		got := Merge(s)
		effective, overruled := oracle(m)
		if got.Effective.Channel != effective || (len(got.Seen.Overruled) == 1) != overruled {
			t.Errorf("%+v: %q, overruled %q", m, got.Effective.Channel, got.Seen.Overruled)
		}
	})
}

func TestMergeOfEverySkipThereCanBe(t *testing.T) {
	for bits := range 1 << 7 {
		is := func(bit int) string { return []string{"no", "yes"}[bits>>bit&1] }
		m := moment{is(0), is(1), is(2), is(3), bits>>4&1 == 1, bits>>5&1 == 1, bits>>6&1 == 1}
		spec := func(word string) *v1beta2.SeenSpec { return &v1beta2.SeenSpec{SkipMaintenanceWindows: word == "yes"} }
		s := MergeInput{Hub: *spec(m.hub)}
		if m.copyThere {
			s.Runtime = spec(m.runtime)
		}
		if m.known {
			s.Last = &v1beta2.LastSeen{Hub: spec(m.lastHub), Runtime: spec(m.lastRuntime)}
			if m.overruled {
				s.Last.Overruled = []string{"skipMaintenanceWindows"}
			}
		}
		got := Merge(s)
		effective, overruled := oracle(m)
		if got.Effective.SkipMaintenanceWindows != (effective == "yes") || (len(got.Seen.Overruled) == 1) != overruled {
			t.Errorf("%+v: %v, overruled %q", m, got.Effective.SkipMaintenanceWindows, got.Seen.Overruled)
		}
	}
}

func TestMergeGoesOnWhereItWasInterrupted(t *testing.T) {
	everyMoment(func(m moment) {
		s := m.sides()
		got := Merge(s)
		written := MergeInput{Hub: s.Hub, Runtime: new(got.Effective), Last: s.Last}
		if again := Merge(written); again.Write || !cmp.Equal(again.Seen, got.Seen) {
			t.Errorf("%+v: after the write and before the record: write %v, seen %+v", m, again.Write, again.Seen)
		}
		kept := MergeInput{Hub: s.Hub, Runtime: new(got.Effective), Last: &got.Seen}
		if again := Merge(kept); again.Write || !cmp.Equal(again, Merged{Effective: got.Effective, Seen: got.Seen}) {
			t.Errorf("%+v: after both: %+v", m, again)
		}
	})
}

func TestSpecSyncOutcome(t *testing.T) {
	seen := func(overruled ...string) *v1beta2.LastSeen {
		return &v1beta2.LastSeen{Hub: &v1beta2.SeenSpec{}, Runtime: &v1beta2.SeenSpec{}, Overruled: overruled}
	}
	var many []string
	for i := range 12 {
		many = append(many, fmt.Sprintf("module %d", i))
	}
	for _, tc := range []struct {
		name            string
		seen            *v1beta2.LastSeen
		holds           bool
		reason, message string
	}{
		{"nothing was read yet", nil, false, "SyncPending", "the Kyma in the runtime was not read yet"},
		{"half a record is none", &v1beta2.LastSeen{Hub: &v1beta2.SeenSpec{}}, false, "SyncPending", "the Kyma in the runtime was not read yet"},
		{"no entry is overruled", seen(), true, "Synced", "hub and runtime agree, or one of them takes precedence"},
		{"entries are named", seen("channel", "module x"), false, "Overruled",
			"hub and runtime changed the same entry, and the runtime takes precedence:  channel, module x"},
		{"a long list is cut", seen(many...), false, "Overruled",
			"hub and runtime changed the same entry, and the runtime takes precedence:  module 0, module 1, module 2, module 3, module 4, module 5, " +
				"module 6, module 7, module 8, module 9 and 2 more"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if holds, reason, message := SpecSyncOutcome(tc.seen); holds != tc.holds || reason != tc.reason || message != tc.message {
				t.Errorf("%v, %s, %s", holds, reason, message)
			}
		})
	}
}
