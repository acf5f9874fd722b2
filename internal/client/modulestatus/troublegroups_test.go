package modulestatus

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// troubled returns a module that fails, of a Kyma in namespace a.
func troubled(kyma, name, version, reason, message string, change ...func(*Module)) Module {
	m := Module{
		Name: name, Kyma: "a/" + kyma, State: Error, Version: Version{Desired: version},
		Installation: Installation{State: Failed, Reason: reason, Message: message},
	}
	for _, f := range change {
		f(&m)
	}
	return m
}

func TestTroubleGroups(t *testing.T) {
	now := time.Unix(10_000, 0)
	since := func(age time.Duration) func(*Module) {
		return func(m *Module) { m.Since = &metav1.Time{Time: now.Add(-age)} }
	}
	is := func(state State) func(*Module) { return func(m *Module) { m.State = state } }
	denied := "admission webhook denied Pod istio-system/istiod-"
	for name, c := range map[string]struct {
		modules []Module
		want    []string
	}{
		"nothing is wrong": {[]Module{troubled("x", "istio", "1.0.0", "", "", is(Ready))}, nil},
		"the same cause in several Kymas": {
			[]Module{
				troubled("x", "istio", "1.0.0", "Denied", denied+"7d9f8b6c5-x2x4z", since(time.Hour)),
				troubled("y", "istio", "1.0.0", "Denied", denied+"7d9f8b6c5-zzzzz", since(2*time.Hour)),
			},
			[]string{"a istio 1.0.0 Denied: 2 in 2 Kymas, Error for 2h0m0s"},
		},
		"another version, reason, module or message is another cause; the most frequent first": {
			[]Module{
				troubled("x", "istio", "1.1.0", "Denied", "m"), troubled("x", "keda", "1.0.0", "Denied", "m"), troubled("x", "istio", "1.0.0", "Other", "m"),
				troubled("x", "istio", "1.0.0", "Denied", "m"), troubled("y", "istio", "1.0.0", "Denied", "m"), troubled("z", "istio", "1.0.0", "Denied", "n"),
			},
			[]string{
				"a istio 1.0.0 Denied: 2 in 2 Kymas, Error for ?", "a istio 1.0.0 Denied: 1 in 1 Kymas, Error for ?",
				"a istio 1.0.0 Other: 1 in 1 Kymas, Error for ?", "a istio 1.1.0 Denied: 1 in 1 Kymas, Error for ?", "a keda 1.0.0 Denied: 1 in 1 Kymas, Error for ?",
			},
		},
		"errors come before many warnings": {
			[]Module{
				troubled("x", "a", "1", "R", "m", is(Warning)), troubled("y", "a", "1", "R", "m", is(Warning)), troubled("z", "b", "1", "R", "m"),
			},
			[]string{"a b 1 R: 1 in 1 Kymas, Error for ?", "a a 1 R: 2 in 2 Kymas, Warning for ?"},
		},
		"progress counts once it takes too long": {
			[]Module{
				troubled("x", "a", "1", "R", "m", is(Processing), since(Patience)), troubled("y", "a", "1", "R", "m", is(Processing), since(Patience-1)),
			},
			[]string{"a a 1 R: 1 in 1 Kymas, Processing for 2m0s"},
		},
		"a mandatory module beside one that is requested is in one Kyma": {
			[]Module{troubled("x", "a", "1", "R", "m"), troubled("x", "a", "1", "R", "m", func(m *Module) { m.Mandatory = true })},
			[]string{"a a 1 R: 2 in 1 Kymas, Error for ?"},
		},
		"a module without a Kyma is in none": {
			[]Module{troubled("", "a", "1", "R", "m", func(m *Module) { m.Kyma = "" })}, []string{" a 1 R: 1 in 0 Kymas, Error for ?"},
		},
		"a namespace is a fleet of its own": {
			[]Module{troubled("x", "a", "1", "R", "m"), troubled("x", "a", "1", "R", "m", func(m *Module) { m.Kyma = "b/x" })},
			[]string{"a a 1 R: 1 in 1 Kymas, Error for ?", "b a 1 R: 1 in 1 Kymas, Error for ?"},
		},
		"the version that is being installed, not the one that a channel leads to later": {
			[]Module{troubled("x", "a", "1.1.0", "R", "m", func(m *Module) { m.TemplateVersion = "1.0.0" })},
			[]string{"a a 1.0.0 R: 1 in 1 Kymas, Error for ?"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, g := range TroubleGroups(c.modules, TroublesOf(c.modules), now) {
				age := "?"
				if g.Since != nil {
					age = now.Sub(g.Since.Time).String()
				}
				got = append(got, fmt.Sprintf("%s %s %s %s: %d in %d Kymas, %s for %s", g.Namespace, g.Module, g.Version, g.Reason, g.Modules, g.Kymas, g.State, age))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// randomModules returns modules of which some need attention, for causes that several share.
func randomModules(random *rand.Rand, now time.Time) []Module {
	states := []State{Ready, Unmanaged, NotConfigured, Processing, Deleting, Unknown, Warning, Error}
	modules := make([]Module, random.IntN(60))
	for i := range modules {
		kyma := fmt.Sprintf("runtime-%d", random.IntN(20))
		message := []string{"", "denied", "Kyma a/" + kyma + " is away", fmt.Sprintf("%d of 3 are ready", random.IntN(3))}[random.IntN(4)]
		modules[i] = troubled(kyma, []string{"istio", "keda"}[random.IntN(2)], []string{"1.0.0", "1.1.0", ""}[random.IntN(3)],
			[]string{"Denied", "Pending", ""}[random.IntN(3)], message, func(m *Module) {
				m.State = states[random.IntN(len(states))]
				if random.IntN(3) > 0 {
					m.Since = &metav1.Time{Time: now.Add(-time.Duration(random.IntN(240)) * time.Second)}
				}
				if random.IntN(2) == 0 {
					m.Installation.BlockedBy = []string{"Greeting shop/a"}
				}
			})
	}
	return modules
}

// TestTroubleGroups_EveryModuleInTroubleIsInExactlyOne checks random fleets: the sums match, and the order of the modules does not matter.
func TestTroubleGroups_EveryModuleInTroubleIsInExactlyOne(t *testing.T) {
	now, random := time.Unix(10_000, 0), rand.New(rand.NewPCG(7, 11))
	for range 500 {
		modules := randomModules(random, now)
		troubles := TroublesOf(modules)
		groups := TroubleGroups(modules, troubles, now)
		want := map[string]int{}
		for i := range modules {
			if modules[i].NeedsAttention(now) {
				want[troubles[i].ID]++
			}
		}
		got := map[string]int{}
		for _, g := range groups {
			if got[g.ID] != 0 {
				t.Fatalf("two groups are %s", g.ID)
			}
			got[g.ID] = g.Modules
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("groups count %v, the modules %v", got, want)
		}
		random.Shuffle(len(modules), func(i, j int) { modules[i], modules[j] = modules[j], modules[i] })
		if again := TroubleGroups(modules, TroublesOf(modules), now); !reflect.DeepEqual(again, groups) {
			t.Fatalf("in another order:\n%+v\n%+v", again, groups)
		}
	}
}

// BenchmarkTroublesOf is a fleet in which everything fails, each with a message of its own.
func BenchmarkTroublesOf(b *testing.B) {
	modules := make([]Module, 25_000)
	for i := range modules {
		modules[i] = troubled(fmt.Sprintf("runtime-%05d", i/5), "istio", "1.0.0", "Denied",
			fmt.Sprintf("admission webhook denied Pod istio-system/istiod-%x-x2x4z of Kyma kcp-system/runtime-%05d: 10.0.%d.%d:6443 answers with status 503", i*7919, i/5, i%250, i%7))
	}
	for b.Loop() {
		TroubleGroups(modules, TroublesOf(modules), time.Unix(1, 0))
	}
}
