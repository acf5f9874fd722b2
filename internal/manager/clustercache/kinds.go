package clustercache

import (
	"cmp"
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache/wire"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

var (
	namespaceKind = schema.GroupKind{Kind: "Namespace"}

	apiServiceKind = schema.GroupKind{Group: "apiregistration.k8s.io", Kind: "APIService"}
)

// readLevel is how much is read of a kind. The needs of several owners add up.
type readLevel struct {
	health bool // full objects, for their health
	state  bool // full objects, owned or not, for their state
	keep   bool // full objects, to be handed out
	copies bool // every change of a resourceVersion is reported
}

// needsOf returns what an interest needs. A stream of full objects replaces the single reads of health for CRDs and Namespaces.
func needsOf(i runtimes.Interest) readLevel {
	return readLevel{
		health: i.Mode == runtimes.Workload || i.Mode == runtimes.Definition || i.Keep && isReadable(i.GroupKind()),
		state:  i.Mode == runtimes.ModuleCR || i.Mode == runtimes.Definition, keep: i.Keep,
		copies: i.Mode == runtimes.Copy || i.Mode == runtimes.Definition,
	}
}

func (n readLevel) and(other readLevel) readLevel {
	return readLevel{
		health: n.health || other.health, state: n.state || other.state, keep: n.keep || other.keep, copies: n.copies || other.copies,
	}
}

// has reports whether n covers the other needs.
func (n readLevel) has(other readLevel) bool { return n.and(other) == n }

// full reports whether metadata alone is not enough.
func (n readLevel) full() bool { return n.health || n.state || n.keep }

// depth returns how much of an object must be read.
func (n readLevel) depth() wire.Depth {
	switch {
	case n.keep:
		return wire.DepthWhole
	case n.full():
		return wire.DepthFull
	}
	return wire.DepthMetadata
}

// trackSpec is what one owner, or all of them together, need of a kind.
type trackSpec struct {
	versions []string // newest first
	needs    readLevel
	only     objectKey // the one object that matters; zero means all of them
}

func (w trackSpec) and(other trackSpec) trackSpec {
	only := w.only
	switch {
	case len(w.versions) == 0:
		only = other.only
	case w.only != other.only:
		only = objectKey{}
	}
	versions := append(slices.Clone(w.versions), other.versions...)
	slices.SortFunc(versions, func(a, b string) int { return version.CompareKubeAwareVersionStrings(b, a) })
	return trackSpec{versions: slices.Compact(versions), needs: w.needs.and(other.needs), only: only}
}

func (w trackSpec) equal(other trackSpec) bool {
	return w.needs == other.needs && w.only == other.only && slices.Equal(w.versions, other.versions)
}

// wishes groups interests by kind.
func groupInterests(interests []runtimes.Interest) map[schema.GroupKind]trackSpec {
	all := make(map[schema.GroupKind]trackSpec, len(interests))
	for _, i := range interests {
		gk := i.GroupKind()
		one := trackSpec{versions: []string{i.Version}, needs: needsOf(i)}
		if i.Only.Name != "" {
			one.only = placeOf(i.Only.Namespace, i.Only.Name)
		}
		if i.Mode == runtimes.Definition {
			gk = definitionKind(i.Only.Name)
		}
		all[gk] = all[gk].and(one)
	}
	return all
}

// kind is one kind of one runtime. The lock of its Runtime guards everything in it.
type kind struct {
	life    // what is done next
	gk      schema.GroupKind
	spec    trackSpec
	objects map[objectKey]*object

	synced  bool              // what is not in objects does not exist
	known   bool              // was synced once, perhaps more narrowly than it is wanted now
	settled bool              // synced, or known not to sync soon: no caller waits for it
	absent  bool              // the runtime does not serve it
	problem *runtimes.Problem // why it cannot be listed
	doubt   *runtimes.Problem // why what is known of it may be old
	failed  error             // how its last list or stream failed

	resource *apply.Resource // where it was found
	resume   string          // resourceVersion to watch from
	seen     uint64          // resourceVersion up to which everything was seen
	learned  uint            // how many objects writes of ours told
	grown    int64           // weight of what streams brought since the last read

	end    context.CancelFunc // ends what continues for it; nil when nothing does
	cut    context.CancelFunc // ends its current stream
	stream *stream            // that is open
	poke   chan struct{}      // cuts a back-off short

	pendingDeletes map[objectKey]pendingDelete // deleted by us while watched: the stream is about to tell
	leaving        map[objectKey]struct{}      // deleted by us while not watched: looked after until gone
	recheck        *time.Timer
	patience       time.Duration
}

// currentProblem returns what must be reported about the kind.
func (k *kind) currentProblem() *runtimes.Problem {
	if k.problem != nil {
		return k.problem
	}
	return k.doubt
}

// hasHealth reports whether the health of the kind is cached.
func (k *kind) hasHealth() bool { return k.spec.needs.health || k.readsHealth() }

// readsHealth reports whether the health of the kind is read object by object, when needed.
func (k *kind) readsHealth() bool { return !k.spec.needs.full() && isReadable(k.gk) }

func isReadable(gk schema.GroupKind) bool { return gk == inventory.CRDKind || gk == namespaceKind }

// watchPriority holds what the choice of streams needs of a kind.
type watchPriority struct {
	gk      schema.GroupKind
	needs   readLevel
	count   int
	settled bool
	watched bool
	useless bool // cannot be listed now
}

// class orders kinds: what decides readiness first, then what users change, then CRDs, then everything else.
func (r watchPriority) class() int {
	switch {
	case r.useless:
		return 4
	case r.needs.health, r.needs.keep:
		return 0
	case r.needs.state:
		return 1
	case r.gk == inventory.CRDKind, r.needs.copies:
		return 2
	}
	return 3
}

// weight orders kinds without priority by size, and keeps a watched one from being displaced by one that is only a little larger.
func (r watchPriority) weight() int {
	switch {
	case r.class() < 3:
		return 0
	case r.watched:
		return 2*r.count + 1
	}
	return r.count
}

// free reports whether a stream of the kind does not count: the kinds that the hub itself syncs into every runtime are few and small,
// always the same ones, and must not take streams from the kinds of modules.
func (r watchPriority) free() bool { return r.needs.copies && !r.useless }

// choose returns the kinds to watch: those that are free, and as many others as are allowed. Kinds without priority wait
// until the sizes of all of them are known, so that no stream is opened only to be closed again.
func choose(kinds []watchPriority, most int) map[schema.GroupKind]bool {
	chosen := make(map[schema.GroupKind]bool, len(kinds))
	sized := !slices.ContainsFunc(kinds, func(r watchPriority) bool { return r.class() == 3 && !r.settled })
	var others []watchPriority
	for _, r := range kinds {
		if r.free() {
			chosen[r.gk] = true
		} else {
			others = append(others, r)
		}
	}
	slices.SortFunc(others, func(a, b watchPriority) int {
		return cmp.Or(cmp.Compare(a.class(), b.class()), cmp.Compare(b.weight(), a.weight()),
			cmp.Compare(a.gk.Group, b.gk.Group), cmp.Compare(a.gk.Kind, b.gk.Kind))
	})
	left := most
	for _, r := range others {
		if left == 0 {
			break
		}
		if len(others) <= most || sized || r.watched || r.class() < 3 {
			chosen[r.gk] = true
			left--
		}
	}
	return chosen
}
