package rollout

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestValidate(t *testing.T) {
	all := v1beta2.RolloutWave{Name: "all"}
	wrong := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "ring", Operator: "Near"}}}
	for _, test := range []struct {
		name  string
		waves []v1beta2.RolloutWave
		want  string
	}{
		{"a plan in order", []v1beta2.RolloutWave{ring("one"), {Name: "some", Share: "10%"}, all}, ""},
		{"no wave", nil, "spec.waves is empty"},
		{"a wave without a name", []v1beta2.RolloutWave{{}}, "it has no name"},
		{"a wave with the name of the last one", []v1beta2.RolloutWave{{Name: Others}}, `"others" is the name of the wave of Kymas that no wave selects`},
		{"two of a name", []v1beta2.RolloutWave{ring("one"), ring("one")}, `wave "one": another wave has the same name`},
		{"a selector that cannot be parsed", []v1beta2.RolloutWave{{Name: "one", Selector: wrong}}, "its selector cannot be parsed"},
		{"a wave behind one that has all", []v1beta2.RolloutWave{all, ring("one")}, `wave "all" before it has all Kymas`},
		{"... also by a selector without conditions", []v1beta2.RolloutWave{{Name: "all", Selector: &metav1.LabelSelector{}}, ring("one")}, "has all Kymas"},
		{"... also by a share of 100 %", []v1beta2.RolloutWave{{Name: "all", Share: "100%"}, ring("one")}, "has all Kymas"},
		{"a share that is no percentage", []v1beta2.RolloutWave{{Name: "one", Share: "10"}}, `share "10" is not a percentage`},
		{"a share of nothing", []v1beta2.RolloutWave{{Name: "one", Share: "0%"}}, `share "0%" is not`},
		{"a threshold that is no number", []v1beta2.RolloutWave{ring("one", maxFailed("few"))}, `maxFailed "few" is neither`},
		{"a threshold above all", []v1beta2.RolloutWave{ring("one", maxFailed("101%"))}, `maxFailed "101%" is neither`},
		{"a bound below zero", []v1beta2.RolloutWave{ring("one", atOnce(-1))}, "maxConcurrent is negative"},
		{"a soak below zero", []v1beta2.RolloutWave{ring("one", soak(-1))}, "soak is negative"},
	} {
		t.Run(test.name, func(t *testing.T) {
			spec := &v1beta2.ModuleRolloutSpec{Waves: test.waves}
			err := Validate(spec)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if _, waveErr := WaveOf(spec, &v1beta2.RolloutChannel{}, "uid", nil); (waveErr == nil) != (err == nil) {
				t.Errorf("WaveOf: %v", waveErr)
			}
		})
	}
}

func TestPlan(t *testing.T) {
	plan, err := Compile(&v1beta2.ModuleRolloutSpec{Waves: []v1beta2.RolloutWave{ring("one", soak(2*time.Hour), atOnce(900))}})
	if err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "horizon", 2*time.Hour+35*time.Minute, plan.Horizon())
	mustEqual(t, "limit", MaxUnderway, plan.waves[0].limit)
	mustEqual(t, "limit of others", MaxUnderway, plan.waves[1].limit)
}

// BenchmarkNext is a look at 5,000 Kymas, a few of which are under way.
func BenchmarkNext(b *testing.B) {
	spec := &v1beta2.ModuleRolloutSpec{Waves: []v1beta2.RolloutWave{
		ring("canary"), {Name: "early", Share: "10%", MaxConcurrent: 50, MaxFailed: "1%"}, {Name: "rest", MaxConcurrent: 200, MaxFailed: "1%"},
	}}
	plan, err := Compile(spec)
	if err != nil {
		b.Fatal(err)
	}
	facts := Facts{Armed: true, Now: noon, Offered: v1beta2.RolloutVersion{Version: newVersion}}
	for i := range 5000 {
		name := fmt.Sprintf("kyma-%d", i)
		member := Member{UID: uidOf(name), Name: name, Labels: map[string]string{"ring": "none", "region": "eu", "plan": "aws"}}
		if i < 10 {
			member.Labels["ring"] = "canary"
		}
		member.Begun, member.Ready = i < 2500, i < 2500
		facts.Members = append(facts.Members, member)
	}
	channel := v1beta2.RolloutChannel{Name: "regular", Phase: completes, From: v1beta2.RolloutVersion{Version: oldVersion},
		To: v1beta2.RolloutVersion{Version: oldVersion}}
	for range 2 {
		channel = Next(plan, channel, facts).Channel
	}
	if len(channel.Underway) != 50 {
		b.Fatalf("got %+v", channel)
	}
	b.ReportAllocs()
	for b.Loop() {
		Next(plan, channel, facts)
	}
}
