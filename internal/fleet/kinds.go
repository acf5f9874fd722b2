package fleet

import (
	"cmp"
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
)

var (
	crdKind       = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}
	namespaceKind = schema.GroupKind{Kind: "Namespace"}

	apiServiceKind = schema.GroupKind{Group: "apiregistration.k8s.io", Kind: "APIService"}
)

// needs is what is read of a kind. Several owners' needs add up.
type needs struct {
	health bool // full objects, for their health
	state  bool // full objects, owned or not, for their state
	keep   bool // full objects, to be handed out
	copies bool // whoever asks hears of every change of a resourceVersion
}

// needsOf spells an interest out. Kinds whose health is otherwise read object by object tell it in their streams when those are full.
func needsOf(i Interest) needs {
	return needs{
		health: i.Mode == Workload || i.Keep && isReadable(i.GroupKind()), state: i.Mode == ModuleCR, keep: i.Keep, copies: i.Mode == Copy,
	}
}

func (n needs) and(other needs) needs {
	return needs{
		health: n.health || other.health, state: n.state || other.state, keep: n.keep || other.keep, copies: n.copies || other.copies,
	}
}

// has says that nothing of the other needs is missing.
func (n needs) has(other needs) bool { return n.and(other) == n }

// full says that metadata alone will not do.
func (n needs) full() bool { return n.health || n.state || n.keep }

// wish is what one owner, or all of them together, want of a kind.
type wish struct {
	versions []string // newest first
	needs    needs
	only     place // the one object that matters; zero means all of them
}

func (w wish) and(other wish) wish {
	only := w.only
	switch {
	case len(w.versions) == 0:
		only = other.only
	case w.only != other.only:
		only = place{}
	}
	versions := append(slices.Clone(w.versions), other.versions...)
	slices.SortFunc(versions, func(a, b string) int { return version.CompareKubeAwareVersionStrings(b, a) })
	return wish{versions: slices.Compact(versions), needs: w.needs.and(other.needs), only: only}
}

func (w wish) equal(other wish) bool {
	return w.needs == other.needs && w.only == other.only && slices.Equal(w.versions, other.versions)
}

// wishes sorts interests by kind.
func wishes(interests []Interest) map[schema.GroupKind]wish {
	all := make(map[schema.GroupKind]wish, len(interests))
	for _, i := range interests {
		gk := i.GroupKind()
		one := wish{versions: []string{i.Version}, needs: needsOf(i)}
		if i.Only.Name != "" {
			one.only = placeOf(i.Only.Namespace, i.Only.Name)
		}
		all[gk] = all[gk].and(one)
	}
	return all
}

// kind is one kind of one runtime. Everything in it is guarded by the lock of its Runtime.
type kind struct {
	life    // what is done next
	gk      schema.GroupKind
	wish    wish
	objects map[place]*object

	synced  bool     // what is not in objects does not exist
	known   bool     // was synced once, perhaps more narrowly than it is wanted now
	settled bool     // synced, or known not to become so soon: nobody has to wait for it
	absent  bool     // the runtime does not serve it
	problem *Problem // why it cannot be listed
	doubt   *Problem // why what is known of it may be old
	failed  error    // how its last list or stream failed

	resource *apply.Resource // where it was found
	resume   string          // resourceVersion to watch from
	seen     uint64          // resourceVersion up to which everything was seen
	learned  uint            // how many objects writes of ours told
	grown    int64           // weight of what streams brought since somebody looked

	end    context.CancelFunc // ends what goes on for it; nil when nothing does
	cut    context.CancelFunc // ends its current stream
	stream *stream            // that is open
	poke   chan struct{}      // cuts a back-off short

	condemned map[place]sentence // deleted by us while watched: the stream is about to tell
	leaving   map[place]struct{} // deleted by us while not watched: looked after until gone
	recheck   *time.Timer
	patience  time.Duration
}

// trouble is what has to be told of the kind.
func (k *kind) trouble() *Problem {
	if k.problem != nil {
		return k.problem
	}
	return k.doubt
}

// kept says whether health is kept for the kind.
func (k *kind) kept() bool { return k.wish.needs.health || k.readable() }

// readable says that the health of the kind is read object by object, when it matters.
func (k *kind) readable() bool { return !k.wish.needs.full() && isReadable(k.gk) }

func isReadable(gk schema.GroupKind) bool { return gk == crdKind || gk == namespaceKind }

// rank is a kind as far as the choice of streams looks at it.
type rank struct {
	gk      schema.GroupKind
	needs   needs
	count   int
	settled bool
	watched bool
	useless bool // cannot be listed now
}

// class orders kinds: what decides readiness first, then what people change, then CRDs, then everything else.
func (r rank) class() int {
	switch {
	case r.useless:
		return 4
	case r.needs.health, r.needs.keep:
		return 0
	case r.needs.state:
		return 1
	case r.gk == crdKind, r.needs.copies:
		return 2
	}
	return 3
}

// weight orders kinds without priority by size, and keeps one that is watched from being displaced by one that is only a little larger.
func (r rank) weight() int {
	switch {
	case r.class() < 3:
		return 0
	case r.watched:
		return 2*r.count + 1
	}
	return r.count
}

// free says that a stream of the kind does not count: what the hub itself keeps in every runtime is few and small kinds, always the same
// ones, and must not take the streams from what modules consist of.
func (r rank) free() bool { return r.needs.copies && !r.useless }

// choose says which kinds are watched: those that are free, and as many others as are allowed. Kinds without priority of their own wait
// until the sizes of all of them are known, so that no stream is opened only to be closed again.
func choose(kinds []rank, most int) map[schema.GroupKind]bool {
	chosen := make(map[schema.GroupKind]bool, len(kinds))
	sized := !slices.ContainsFunc(kinds, func(r rank) bool { return r.class() == 3 && !r.settled })
	var others []rank
	for _, r := range kinds {
		if r.free() {
			chosen[r.gk] = true
		} else {
			others = append(others, r)
		}
	}
	slices.SortFunc(others, func(a, b rank) int {
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
