package module

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

// graphWorld is a Kyma whose modules require each other at random, and what was seen of it.
type graphWorld struct {
	dice
	Snapshot
	names  []string
	cyclic bool
}

var graphVersions = []string{"1.0.0", "2.0.0", "3.0.0"}

// newGraphWorld returns a Kyma with up to 50 modules in three versions. Where it is not cyclic, modules require only those before them.
func newGraphWorld(seed uint64) *graphWorld {
	g := &graphWorld{dice: dice{rand.New(rand.NewPCG(seed, 7))}, Snapshot: newGraph()}
	g.cyclic = g.rarely(4)
	count := 2 + g.IntN(7)
	if g.rarely(20) {
		count = 50
	}
	for i := range count {
		g.names = append(g.names, fmt.Sprintf("m%02d", i))
	}
	for i, name := range g.names {
		for _, version := range graphVersions {
			publishes(name, version, g.needs(i)...)(&g.Snapshot)
		}
		g.offer(name)
		if !g.rarely(4) {
			g.Kyma.Spec.Modules = append(g.Kyma.Spec.Modules, module(name))
		}
	}
	g.look()
	return g
}

// needs returns random requirements of the module at a position.
func (g *graphWorld) needs(at int) []string {
	var needs []string
	for range g.IntN(4) {
		limit := at
		if g.cyclic && g.rarely(5) {
			limit = len(g.names)
		}
		if limit == 0 {
			break
		}
		needs = append(needs, strings.TrimSpace(g.names[g.IntN(limit)]+" "+g.one("", "", ">=1", ">=2", ">=2", "<2", "<3", "2.x")))
	}
	if g.rarely(12) {
		needs = append(needs, g.one("d.example.com v1", "e.example.com", "kubernetes >=1.31", "kubernetes >=1.20"))
	}
	return needs
}

// offer lets the channel of a module offer some version.
func (g *graphWorld) offer(name string) {
	g.Releases[name] = newRelease(name, "regular", graphVersions[g.IntN(len(graphVersions))])
}

// look says what the cluster has, at random.
func (g *graphWorld) look() {
	g.Cluster = ClusterFacts{Definitions: map[string]requirements.Definition{}, Kubernetes: g.one("", "v1.30.1-gke.1", "v1.31.0")}
	for _, name := range []string{"d.example.com", "e.example.com"} {
		if !g.rarely(4) {
			g.Cluster.Definitions[name] = requirements.Definition{Present: !g.rarely(3), Served: []string{"v1"}}
		}
	}
}

// happens lets something happen at random.
func (g *graphWorld) happens() {
	name := g.names[g.IntN(len(g.names))]
	switch g.IntN(9) {
	case 0:
		g.offer(name)
	case 1:
		g.toggle(name)
	case 2:
		isBroken(name)(&g.Snapshot)
	case 3:
		g.look()
	case 4, 5, 6:
		isReady(name)(&g.Snapshot)
	default:
		isGone(name)(&g.Snapshot)
	}
}

// toggle adds a module to the spec or removes it.
func (g *graphWorld) toggle(name string) {
	g.Kyma = g.Kyma.DeepCopy()
	before := len(g.Kyma.Spec.Modules)
	g.Kyma.Spec.Modules = slices.DeleteFunc(g.Kyma.Spec.Modules, func(m v1beta2.Module) bool { return m.Name == name })
	if len(g.Kyma.Spec.Modules) == before {
		g.Kyma.Spec.Modules = append(g.Kyma.Spec.Modules, module(name))
	}
}

// settleAll makes everything ready or gone that is not.
func (g *graphWorld) settleAll() {
	for _, name := range g.names {
		isReady(name)(&g.Snapshot)
		isGone(name)(&g.Snapshot)
	}
}

// pass runs one pass, and checks what it writes.
func (g *graphWorld) pass(t *testing.T) (wrote bool) {
	t.Helper()
	verdicts := Resolve(g.Snapshot)
	plan := MakePlan(g.Snapshot, verdicts)
	for _, manifest := range plan.Apply {
		g.notEarly(t, manifest)
	}
	for i := range plan.Delete {
		g.notOrphaning(t, &plan.Delete[i], verdicts)
	}
	after := carryOut(g.Snapshot, plan)
	after.Kyma.Status = Rollup(g.Snapshot, verdicts, nil)
	g.Snapshot = after
	return !plan.Empty()
}

// notEarly checks that a version begins only when all that it requires is there, ready, and stays as it is in this pass.
func (g *graphWorld) notEarly(t *testing.T, next *v1beta2.Manifest) {
	t.Helper()
	name := next.Labels[v1beta2.LabelModuleName]
	before := manifestOf(&g.Snapshot, name)
	entry := statusByName(g.Kyma)[name]
	if before != nil && before.Spec.Version == next.Spec.Version || before == nil && entry != nil && entry.Version == next.Spec.Version {
		return // it has begun, or is put back
	}
	template := g.Templates[name+"-"+next.Spec.Version]
	list, err := Requires(template)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range list {
		if !g.met(one) {
			t.Errorf("%s %s begins without %s", name, next.Spec.Version, one)
		}
	}
}

// met reports whether a requirement is met in the Snapshot, by another way than the code under test.
func (g *graphWorld) met(one requirements.Requirement) bool {
	switch {
	case one.Definition != "":
		definition := g.Cluster.Definitions[one.Definition]
		return definition.Present && (one.Served == "" || slices.Contains(definition.Served, one.Served))
	case one.Kubernetes != "":
		return g.Cluster.Kubernetes != "" && (one.Kubernetes == ">=1.20" || strings.HasPrefix(g.Cluster.Kubernetes, "v1.31"))
	}
	manifest := manifestOf(&g.Snapshot, one.Module)
	if manifest == nil || manifest.DeletionTimestamp != nil || manifest.Status.State != v1beta2.StateReady ||
		manifest.Status.ObservedGeneration != manifest.Generation {
		return false
	}
	return inRange(manifest.Spec.Version, one.Version)
}

func inRange(version, within string) bool {
	ok, err := moduleversion.Satisfies(version, within)
	return within == "" || err == nil && ok
}

// notOrphaning checks that nothing is removed while a module needs it that is there, but for one that it needs, too.
func (g *graphWorld) notOrphaning(t *testing.T, doomed *v1beta2.Manifest, verdicts []Verdict) {
	t.Helper()
	name := doomed.Labels[v1beta2.LabelModuleName]
	lists := map[string][]requirements.Requirement{}
	for i := range g.Manifests {
		manifest := &g.Manifests[i]
		of := manifest.Labels[v1beta2.LabelModuleName]
		lists[of], _ = requirements.ParseList(manifest.Annotations[v1beta2.AnnotationRequires])
	}
	graph := requirements.NewGraph(lists)
	for _, dependent := range graph.Dependents(name) {
		at := slices.IndexFunc(verdicts, func(v Verdict) bool { return v.Module == dependent })
		if verdicts[at].Kind != Removed && verdicts[at].Kind != Waiting || !graph.Needs(name, dependent) {
			t.Errorf("%s is removed while %s (%s) needs it", name, dependent, verdicts[at].Kind)
		}
	}
}

// settled runs passes until nothing is left to write, and checks that nothing waits in vain then.
func (g *graphWorld) settled(t *testing.T) {
	t.Helper()
	for round := 0; ; round++ {
		if g.settleAll(); !g.pass(t) {
			break
		}
		if round > 10*len(g.names)+20 {
			t.Fatal("there is always something to write")
		}
	}
	g.noDeadlock(t)
}

// noDeadlock checks that nothing waits for what is itself held back by it.
func (g *graphWorld) noDeadlock(t *testing.T) {
	t.Helper()
	verdicts := Resolve(g.Snapshot)
	states := map[string]Verdict{}
	for _, v := range verdicts {
		states[v.Module] = v
	}
	for _, v := range verdicts {
		switch {
		case v.Reason == v1beta2.ReasonRequirementMissing:
			g.justified(t, v, states)
		case v.Reason == v1beta2.ReasonWouldBreak:
			g.justifiedBreak(t, v, states)
		case v.Reason == v1beta2.ReasonRequirementCycle && !g.cyclic:
			t.Errorf("%s: a circle where there is none: %s", v.Module, v.Message)
		}
	}
}

// offered returns what the channel of a module offers.
func (g *graphWorld) offered(name string) string { return g.Releases[name].Spec.Channels[0].Version }

// justified checks that a version that waits at the end lacks something.
func (g *graphWorld) justified(t *testing.T, v Verdict, states map[string]Verdict) {
	t.Helper()
	list, _ := Requires(g.Templates[v.Module+"-"+g.offered(v.Module)])
	for _, one := range list {
		if g.met(one) {
			continue
		}
		if one.Module == "" {
			return
		}
		// The other module cannot have a version that is asked for, or does not get ready.
		other, known := states[one.Module]
		if !known || other.Kind == Removed || other.Kind != Run || !inRange(g.offered(one.Module), one.Version) {
			return
		}
	}
	t.Errorf("%s waits for nothing: %s", v.Module, v.Message)
}

// justifiedBreak checks that a version that would break another module at the end would do so, and that the other one is not held back by
// this one alone.
func (g *graphWorld) justifiedBreak(t *testing.T, v Verdict, states map[string]Verdict) {
	t.Helper()
	next := g.offered(v.Module)
	for i := range g.Manifests {
		manifest := &g.Manifests[i]
		of := manifest.Labels[v1beta2.LabelModuleName]
		runs, _ := requirements.ParseList(manifest.Annotations[v1beta2.AnnotationRequires])
		if of == v.Module || requirements.Accepts(runs, v.Module, next) {
			continue
		}
		other := states[of]
		if other.Kind == Run || other.Reason != v1beta2.ReasonRequirementMissing {
			return
		}
		wants, _ := Requires(g.Templates[of+"-"+g.offered(of)])
		for _, one := range wants {
			if !g.met(one) && (one.Module != v.Module || !inRange(next, one.Version)) {
				return // it lacks something else
			}
		}
	}
	t.Errorf("%s is held back for nothing: %s", v.Module, v.Message)
}

// graphs returns how many worlds are tried: 300, or as many as the environment says. GRAPHS=10000 takes some minutes.
func graphs() uint64 {
	if asked, err := strconv.ParseUint(os.Getenv("GRAPHS"), 10, 64); err == nil {
		return asked
	}
	return 300
}

func TestRequirementModel_NeverEarlyNeverOrphanedNoDeadlock(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes some seconds")
	}
	for seed := range graphs() {
		g := newGraphWorld(seed)
		for range 3 + g.IntN(12) {
			g.happens()
			g.pass(t)
		}
		g.settled(t)
		if t.Failed() {
			t.Fatalf("with seed %d", seed)
		}
	}
}
