package modulestatus

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// fleetText writes a fleet in one line a module: "greeter 3 (1 waits): 1.1.0=1! [fast], 1.0.0=2 [regular]; 2 others=5".
func fleetText(all []FleetModule) []string {
	var lines []string
	for _, m := range all {
		line := fmt.Sprintf("%s/%s %d", m.Namespace, m.Name, m.Kymas)
		sum := 0
		for _, v := range m.Versions {
			sum += v.Troubled
		}
		if sum != m.Troubled {
			line += fmt.Sprintf(" (%d in trouble, not %d)", sum, m.Troubled)
		}
		if m.Waiting > 0 {
			line += fmt.Sprintf(" (%d waits)", m.Waiting)
		}
		var versions []string
		for _, v := range m.Versions {
			text := fmt.Sprintf("%s=%d%s", v.Version, v.Kymas, strings.Repeat("!", v.Troubled))
			if len(v.Channels) > 0 {
				text += fmt.Sprint(" ", v.Channels)
			}
			versions = append(versions, text)
		}
		line += ": " + strings.Join(versions, ", ")
		if m.Others.Versions > 0 {
			line += fmt.Sprintf("; %d others=%d", m.Others.Versions, m.Others.Kymas)
		}
		lines = append(lines, line)
	}
	return lines
}

func TestVersionMatrix(t *testing.T) {
	has := func(kyma, name, version string, change ...func(*Module)) Module {
		m := Module{Name: name, Kyma: kyma, State: Ready, Version: Version{Installed: version}}
		for _, f := range change {
			f(&m)
		}
		return m
	}
	failing := func(m *Module) { m.State = Error }
	waiting := func(m *Module) { m.Offered = "1.1.0" }
	now := time.Unix(10_000, 0)
	processing := func(age time.Duration) func(*Module) {
		return func(m *Module) { m.State, m.Since = Processing, &metav1.Time{Time: now.Add(-age)} }
	}
	var many []Module
	for i := range 10 {
		for range i + 1 {
			many = append(many, has("a/k", "greeter", fmt.Sprintf("1.%d.0", i)))
		}
	}
	for name, c := range map[string]struct {
		modules []Module
		offers  []Offer
		want    []string
	}{
		"an empty cluster has an empty fleet": {nil, nil, nil},
		"versions are counted, the highest first": {
			[]Module{has("a/x", "greeter", "1.9.0"), has("a/y", "greeter", "1.10.0"), has("a/z", "greeter", "1.9.0")}, nil,
			[]string{"a/greeter 3: 1.10.0=1, 1.9.0=2"},
		},
		"modules without a Kyma are not part of the fleet": {[]Module{has("", "greeter", "1.0.0")}, nil, nil},
		"a namespace is a fleet of its own": {
			[]Module{has("b/x", "greeter", "1.0.0"), has("a/x", "greeter", "1.0.0"), has("a/x", "beacon", "1.0.0")}, nil,
			[]string{"a/beacon 1: 1.0.0=1", "a/greeter 1: 1.0.0=1", "b/greeter 1: 1.0.0=1"},
		},
		"what fails and what waits is counted": {
			[]Module{has("a/x", "greeter", "1.0.0", failing), has("a/y", "greeter", "1.0.0", waiting)}, nil,
			[]string{"a/greeter 2 (1 waits): 1.0.0=2!"},
		},
		"what takes longer than usual needs attention, and what has just begun does not": {
			[]Module{has("a/x", "greeter", "1.0.0", processing(Patience)), has("a/y", "greeter", "1.0.0", processing(Patience-1))}, nil,
			[]string{"a/greeter 2: 1.0.0=2!"},
		},
		"a module that is not installed yet comes last": {
			[]Module{has("a/x", "greeter", ""), has("a/y", "greeter", "1.0.0")}, nil, []string{"a/greeter 2: 1.0.0=1, =1"},
		},
		"channels are shown at their versions, also those that no Kyma has": {
			[]Module{has("a/x", "greeter", "1.0.0")},
			[]Offer{{Name: "greeter", Namespace: "a", Channels: []OfferChannel{
				{Channel: "regular", Version: "1.0.0"}, {Channel: "fast", Version: "1.1.0"}, {Channel: "experimental", Version: "1.1.0"}, {Channel: "none"},
			}}},
			[]string{"a/greeter 1: 1.1.0=0 [experimental fast], 1.0.0=1 [regular]"},
		},
		"an offer of another namespace, or one that no Kyma has, adds nothing": {
			[]Module{has("a/x", "greeter", "1.0.0")},
			[]Offer{{Name: "greeter", Namespace: "b", Channels: []OfferChannel{{Channel: "fast", Version: "2.0.0"}}}, {Name: "beacon", Namespace: "a"}},
			[]string{"a/greeter 1: 1.0.0=1"},
		},
		"the six most frequent versions are named, and the others counted": {
			many, nil, []string{"a/greeter 55: 1.9.0=10, 1.8.0=9, 1.7.0=8, 1.6.0=7, 1.5.0=6, 1.4.0=5; 4 others=10"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := fleetText(VersionMatrix(c.modules, c.offers, now)); !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}
