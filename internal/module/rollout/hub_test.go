package rollout

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
)

// simKyma is a Kyma with the Manifest of its module.
type simKyma struct {
	uid, name    string
	ring         string
	created      time.Time
	running      string
	began        time.Time // by the wall clock, as everything below
	begunAt      time.Time // as time passes
	ready        bool
	everReady    bool
	readySince   time.Time
	unreadySince time.Time
	brokenBefore bool
	had          string // the last version that it went back from
	avoid        string
	backSince    time.Time
	lostSince    time.Time
	closed       bool // its maintenance window
	aside        bool // suspended
	freeSince    time.Time
	wasAside     bool // since it began
	blocked      bool // cannot begin, and nothing that an owner knows keeps it
	unsound      bool // never ready with versions that fail
	stuck        bool // has no way back
	told         bool // that it has none, since it was asked to go back
}

// stored is what the API server has: every read of it is as of now, and writes of the rollout are bound to its revision.
type stored struct {
	rollout  v1beta2.ModuleRollout
	revision int
	offered  string
	mark     string
	kymas    map[string]simKyma
}

// replica is a manager: what it has in its caches is older than what is stored, each object for itself.
type replica struct {
	rollout  v1beta2.ModuleRollout
	revision int
	offered  string
	mark     string
	kymas    map[string]simKyma
	clock    Clock
	booted   time.Time
	pending  *v1beta2.RolloutChannel // computed and not written yet
	awaited  map[string]Wait
	base     int // revision that pending was computed from
}

// simHub is a hub with three replicas.
type simHub struct {
	*testing.T
	*rand.Rand

	seed     uint64
	now      time.Time     // as it passes
	offset   time.Duration // of all wall clocks: they are set together, as by one time server
	api      stored
	replicas [3]*replica
	owner    int
	failing  map[string]bool // versions that are not ready in unsound Kymas
	minor    int             // of the newest version
	made     int             // Kymas
	limit    int32           // of all waves; 0: they differ
	late     map[string]bool // UIDs that did not begin in time, and may do so by a stale cache
	begun    map[string]bool // UIDs that began the present target by the list
	tells    int             // how often a Kyma began or ended to say that it has no way back
	log      []string
	counts   map[string]int
}

const deadlineOfModel = 30 * time.Minute

var rings = []string{"canary", "early", "none"}

func newSimHub(t *testing.T, seed uint64) *simHub {
	w := &simHub{T: t, Rand: rand.New(rand.NewPCG(seed, 25)), seed: seed, now: noon, failing: map[string]bool{}, minor: 2,
		begun: map[string]bool{}, late: map[string]bool{}, counts: map[string]int{}}
	w.api = stored{offered: "1.2.0", kymas: map[string]simKyma{}}
	w.api.rollout.Spec = w.plan()
	for range 3 + w.IntN(12) {
		w.newKyma()
	}
	w.newRollout()
	for i := range w.replicas {
		w.replicas[i] = &replica{}
		w.boot(i)
	}
	return w
}

func (w *simHub) plan() v1beta2.ModuleRolloutSpec {
	if w.IntN(2) == 0 {
		w.limit = int32(1 + w.IntN(3))
	}
	limit := func() int32 {
		if w.limit > 0 {
			return w.limit
		}
		return int32(w.IntN(3))
	}
	spec := v1beta2.ModuleRolloutSpec{Waves: []v1beta2.RolloutWave{
		ring("canary", atOnce(limit()), soak(time.Duration(w.IntN(3))*time.Hour), maxFailed([]string{"", "1", "50%"}[w.IntN(3)])),
		{Name: "some", Share: fmt.Sprintf("%d%%", 1+w.IntN(99)), MaxConcurrent: limit(), MaxFailed: []string{"", "2", "34%"}[w.IntN(3)]},
		ring("early", atOnce(limit()), maxFailed("1")),
	}}
	spec.Waves[2].Approval = w.IntN(3) == 0
	if w.IntN(2) == 0 {
		spec.OnFailure = v1beta2.RolloutRollback
	}
	spec.ProgressDeadline.Duration = deadlineOfModel
	return spec
}

func (w *simHub) wall() time.Time { return w.now.Add(w.offset) }

// newRollout makes the rollout, or makes it anew, and the release does not know it yet.
func (w *simHub) newRollout() {
	spec := w.api.rollout.Spec
	w.api.revision++
	w.api.rollout = v1beta2.ModuleRollout{Spec: spec,
		ObjectMeta: metav1.ObjectMeta{Name: "eventing", UID: types.UID(fmt.Sprintf("rollout-%d", w.api.revision)), Generation: 1}}
}

func (w *simHub) newKyma() {
	w.made++
	name := fmt.Sprintf("kyma-%d", w.made)
	k := simKyma{uid: uidOf(fmt.Sprintf("%s-%d", name, w.seed)), name: name, ring: rings[w.IntN(3)], created: w.wall(), running: "1.2.0",
		ready: true, everReady: true, unsound: w.IntN(3) == 0}
	if w.made > 3 && w.IntN(4) == 0 {
		k.running, k.ready, k.everReady = "", false, false
	}
	w.api.kymas[k.uid] = k
}

func (k *simKyma) labels() map[string]string { return map[string]string{"ring": k.ring} }

// boot starts a replica: it reads everything.
func (w *simHub) boot(i int) {
	*w.replicas[i] = replica{booted: w.now, kymas: map[string]simKyma{}}
	w.replicas[i].clock.Read(w.wall(), 0, time.Hour) // A jump before the first reading would not be seen.
	w.sync(w.replicas[i], 1)
}

// sync lets some of the caches of a replica catch up: each object with a chance of one in n.
func (w *simHub) sync(r *replica, n int) {
	if w.IntN(n) == 0 {
		r.rollout, r.revision = *w.api.rollout.DeepCopy(), w.api.revision
	}
	if w.IntN(n) == 0 {
		r.offered, r.mark = w.api.offered, w.api.mark
	}
	for _, uid := range w.uids(r.kymas) {
		if _, there := w.api.kymas[uid]; !there && w.IntN(n) == 0 {
			delete(r.kymas, uid)
		}
	}
	for _, uid := range w.uids(w.api.kymas) {
		if w.IntN(n) == 0 {
			r.kymas[uid] = w.api.kymas[uid]
		}
	}
}

func (w *simHub) uids(kymas map[string]simKyma) []string { return slices.Sorted(maps.Keys(kymas)) }

// anyKyma returns a random one, empty when there is none.
func (w *simHub) anyKyma() (simKyma, bool) {
	all := w.uids(w.api.kymas)
	if len(all) == 0 {
		return simKyma{}, false
	}
	return w.api.kymas[all[w.IntN(len(all))]], true
}

// memberOf is how a manager sees a Kyma.
func memberOf(k simKyma, target string) Member {
	m := Member{UID: k.uid, Name: k.name, Labels: k.labels(), Created: k.created, LostSince: k.lostSince, State: v1beta2.StateProcessing}
	if k.told {
		m.Reason = v1beta2.ReasonRollbackUnavailable
	}
	m.Begun = k.running == target
	if m.Begun {
		m.At, m.BrokenBefore, m.Ready, m.ReadySince = k.began, k.brokenBefore, k.ready, k.readySince
		if k.everReady && !k.ready {
			m.UnreadySince, m.ReadySince = k.unreadySince, time.Time{}
		}
	} else {
		m.RolledBack, m.Back, m.BackSince = k.avoid == target, k.had == target, k.backSince
	}
	m.FreeSince = k.freeSince
	switch {
	case k.aside:
		m.Held = HeldBySuspension
	case k.closed:
		m.Held = "window"
	case k.avoid == target || moduleversion.IsLower(target, k.running):
		m.Held = "refused"
	}
	if k.ready {
		m.State = v1beta2.StateReady
	}
	return m
}

// compute lets a replica that believes to be the owner compute the next status from its caches. It asks the API server where caches must
// not be believed: for a new target, and for who is gone.
func (w *simHub) compute(r *replica) {
	plan, err := Compile(&r.rollout.Spec)
	if err != nil {
		w.Fatal(err)
	}
	before := v1beta2.RolloutChannel{Name: "regular"}
	if len(r.rollout.Status.Channels) > 0 {
		before = r.rollout.Status.Channels[0]
	}
	offered := r.offered
	if offered != before.To.Version {
		offered = w.api.offered
	}
	facts := Facts{Offered: v1beta2.RolloutVersion{Version: offered}, Armed: r.mark == string(r.rollout.UID), Now: w.wall(),
		Jumps: r.clock.Read(w.wall(), w.now.Sub(r.booted), plan.Horizon())}
	if offered == before.To.Version {
		facts.Awaited = r.awaited
	}
	for _, uid := range w.uids(r.kymas) {
		facts.Members = append(facts.Members, memberOf(r.kymas[uid], offered))
	}
	step := Next(plan, before, facts)
	w.counts["missing"] += len(step.Missing)
	for _, prefix := range step.Missing {
		if !slices.ContainsFunc(w.uids(w.api.kymas), func(uid string) bool { return Prefix(uid) == prefix }) {
			facts.Gone = append(facts.Gone, prefix)
		}
	}
	if len(facts.Gone) > 0 {
		step = Next(plan, before, facts)
	}
	w.judge(plan, &before, &facts, &step)
	for uid := range step.Awaited {
		if slices.Contains(before.Underway, Prefix(uid)) && !slices.Contains(step.Channel.Underway, Prefix(uid)) {
			w.late[uid] = true
			w.counts["not begun"]++
		}
	}
	r.pending, r.base, r.awaited = &step.Channel, r.revision, step.Awaited
}

// write lets a replica write what it computed, bound to the revision that it read.
func (w *simHub) write(r *replica) {
	if r.pending == nil {
		return
	}
	next := r.pending
	r.pending = nil
	if r.base != w.api.revision {
		w.counts["conflict"]++
		return
	}
	if len(w.api.rollout.Status.Channels) == 0 || w.api.rollout.Status.Channels[0].To != next.To {
		w.begun = map[string]bool{}
	}
	w.api.revision++
	w.api.rollout.Status.Channels = []v1beta2.RolloutChannel{*next.DeepCopy()}
	w.api.rollout.Status.ObservedGeneration = r.rollout.Generation
	SetConditions(&w.api.rollout, "", metav1.NewTime(w.wall()))
	if w.api.rollout.Status.Summary == "" || next.Message == "" {
		w.fatalf("a status without words: %+v", next)
	}
	w.counts[string(next.Phase)]++
}

// reconcile lets a replica look at a Kyma, which obeys what Ask says of the caches.
func (w *simHub) reconcile(r *replica, uid string) {
	k, there := w.api.kymas[uid]
	if !there || r.offered == "" || k.aside || !k.lostSince.IsZero() {
		return
	}
	set := k.labels()
	if cached, known := r.kymas[uid]; known {
		set = cached.labels()
	}
	answer := Ask(&r.rollout, r.mark, "regular", r.offered, Applicant{UID: uid, Labels: set, Running: k.running})
	before := k.told
	k.told = answer.Back && k.running == r.offered && k.stuck
	if k.told != before {
		w.tells++
	}
	switch {
	case k.told:
		w.counts["no way back"]++
	case answer.Back && k.running == r.offered:
		w.judgeBack(r, &k)
		k.had, k.running, k.backSince, k.ready, k.everReady = k.running, answer.From, w.wall(), false, false
		k.began, k.begunAt = w.wall(), w.now
	case answer.Allowed && k.running != r.offered && !moduleversion.IsLower(r.offered, k.running) && k.avoid != r.offered && !k.closed &&
		!k.blocked:
		w.judgeBegin(r, &k, set)
		w.begin(&k, r.offered)
	case !answer.Allowed && answer.From != "" && (k.running == "" || moduleversion.IsLower(k.running, answer.From)):
		w.begin(&k, answer.From)
	}
	w.api.kymas[uid] = k
}

func (w *simHub) begin(k *simKyma, version string) {
	k.brokenBefore = k.running != "" && !k.ready
	k.running, k.began, k.begunAt = version, w.wall(), w.now
	k.ready, k.everReady, k.readySince = false, false, time.Time{}
	k.wasAside = false
}

func (w *simHub) fatalf(format string, values ...any) {
	w.Helper()
	for _, line := range w.log[max(0, len(w.log)-4):] {
		w.Log(line)
	}
	w.Fatalf("seed %d: "+format, append([]any{w.seed}, values...)...)
}
