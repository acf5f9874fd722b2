package module

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
)

// council is a Kyma with one module, two people who may hold it, an operator with a policy, and a publisher. It knows the law by itself.
type council struct {
	dice
	t *testing.T
	w Snapshot
	// before is what a pass with old caches sees of the Kyma's spec, the release and the policy.
	before Snapshot
	builds map[string]int
	// deadline is the one that was told for the content of reference; empty where none was, or the time may begin anew.
	deadline  metav1.Time
	reference string
	log       []string
	begun     map[Consent]int
}

func newCouncil(t *testing.T, seed uint64) *council {
	t.Helper()
	c := &council{dice: dice{rand.New(rand.NewPCG(seed, 26))}, t: t, builds: map[string]int{}, begun: map[Consent]int{}}
	c.w = sampleWorld()
	if c.rarely(2) {
		manual(&c.w)
	}
	for _, version := range modelVersions {
		template := newTemplate(operator, version)
		c.w.Templates[template.Name] = template
	}
	c.read()
	c.offer("1.0.0")
	c.before = c.w
	return c
}

func (c *council) notef(format string, values ...any) {
	c.log = append(c.log, c.w.Now.Format("02 15:04:05 ")+fmt.Sprintf(format, values...))
}

// content is what a version holds in the registry now.
func (c *council) content(version string) Component {
	source := newSource(version)
	source.Ref = fmt.Sprintf("sha256:%s-%d", version, c.builds[version])
	return Component{Source: source}
}

// read ends every reading that is under way.
func (c *council) read() {
	c.w.Components, c.w.Changes = map[ComponentKey]Component{}, map[ChangeKey]Change{}
	for _, version := range modelVersions {
		c.w.Components[ComponentKey{component, version}] = c.content(version)
	}
	c.findOut()
}

func (c *council) findOut() {
	known := map[ChangeKey]Change{}
	for _, needed := range NeededChanges(c.w) {
		known[needed.ChangeKey] = Change{NewRights: asksForMore(needed.From, needed.To), Gravest: []string{"May do more."}}
	}
	c.w.Changes = known
}

// asksForMore is the truth about two contents.
func asksForMore(from, to string) bool { return from == "" || (from[10]+to[10])%2 == 0 }

func (c *council) offer(version string) {
	c.edit(func(release *v1beta2.ModuleReleaseMeta) { release.Spec.Channels[0].Version = version })
	c.notef("%s is offered", version)
}

func (c *council) edit(edit func(*v1beta2.ModuleReleaseMeta)) {
	release := c.w.Releases[operator].DeepCopy()
	edit(release)
	c.w.Releases = map[string]*v1beta2.ModuleReleaseMeta{operator: release}
}

func (c *council) offer0() v1beta2.ChannelVersion { return c.w.Releases[operator].Spec.Channels[0] }

// referenceOf is what a person agrees to who looks at the registry.
func (c *council) referenceOf(version string) string {
	return revision.Reference(version, revision.Digest(ContentOf(version, c.content(version))))
}

// happens lets a person or a publisher do something.
func (c *council) happens() {
	c.w.Kyma = c.w.Kyma.DeepCopy()
	entry := &c.w.Kyma.Spec.Modules[0]
	agreed := c.one(c.referenceOf(c.offer0().Version), c.referenceOf(c.offer0().Version), c.referenceOf(c.one(modelVersions...)), "")
	strategy := v1beta2.UpgradeStrategy(c.one("", "Manual", "Manual", "Manual", "Automatic"))
	said := c.w.RuntimeConsent[operator]
	switch c.IntN(14) {
	case 0, 1, 9:
		c.offer(c.one(modelVersions...))
	case 2:
		version := c.one(modelVersions...)
		c.builds[version]++
		c.w.Components = maps.Clone(c.w.Components)
		delete(c.w.Components, ComponentKey{component, version})
		c.notef("%s is published again", version)
	case 3, 10:
		entry.Approved = agreed
		c.notef("the hub approves %.12s", agreed)
	case 4, 11:
		said.Approved = agreed
		c.w.RuntimeConsent = map[string]EntryConsent{operator: said}
		c.notef("the runtime approves %.12s", agreed)
	case 5:
		entry.UpgradeStrategy = strategy
		c.notef("the hub's strategy is %q", strategy)
	case 6:
		said.Strategy = strategy
		c.w.RuntimeConsent = map[string]EntryConsent{operator: said}
		c.notef("the runtime's strategy is %q", strategy)
	case 7:
		c.w.Approvals = c.policy()
		c.notef("the policy is %+v", c.w.Approvals)
	default:
		var after *metav1.Duration
		if !c.rarely(6) {
			after = &metav1.Duration{Duration: time.Duration(1+c.IntN(3)) * time.Hour}
		}
		c.edit(func(release *v1beta2.ModuleReleaseMeta) { release.Spec.Channels[0].ForceAfter = after })
		c.notef("it is forced after %v", after)
	}
	c.w.Kyma.Generation++
}

func (c *council) policy() *ApprovalPolicy {
	var rules []ApprovalRule
	for !c.rarely(2) {
		by := [][]v1beta2.ConsentSide{{"Hub"}, {"Runtime"}, {"Hub", "Runtime"}}[c.IntN(3)]
		rules = append(rules, ApprovalRule{
			Modules: []string{c.one("*", "template-*", "other")}, By: by, FirstInstallation: c.rarely(2),
			When: []ApprovalTrigger{ApprovalTrigger(c.one("Always", "NewRights"))},
		})
	}
	return &ApprovalPolicy{Rules: rules}
}

// lacks is the law: it says who has not consented to a content that a Snapshot's channel offers, empty where all who must have. The deadline
// is the one of the status, which checkDeadline holds to the law.
func (c *council) lacks(w Snapshot, from, version, digest string) string {
	ref := revision.Reference(version, digest)
	hub, runtime := w.Kyma.Spec.Modules[0], w.RuntimeConsent[operator]
	forced := false
	for _, entry := range w.Kyma.Status.Modules {
		told := entry.Pending
		forced = told != nil && told.Deadline != nil && told.Digest == digest && !w.Now.Before(told.Deadline) &&
			w.Releases[operator].Spec.Channels[0].ForceAfter != nil
	}
	if from != "" && !forced {
		switch {
		case hub.UpgradeStrategy == "Manual" && hub.Approved != ref:
			return "the hub"
		case w.RuntimeUnread, runtime.Strategy == "Manual" && runtime.Approved != ref:
			return "the runtime"
		}
	}
	if w.Approvals == nil {
		return ""
	}
	for _, rule := range w.Approvals.Rules {
		approved := slices.Contains(rule.By, "Hub") && hub.Approved == ref ||
			slices.Contains(rule.By, "Runtime") && runtime.Approved == ref && !w.RuntimeUnread
		if rule.Modules[0] != "other" && (from != "" || rule.FirstInstallation) && !approved && (rule.always() || asksForMore(from, digest)) {
			return fmt.Sprintf("the rule %+v", rule)
		}
	}
	return ""
}

// pass is a pass of the controller. Its status may be lost, and it may see old caches: then the status is refused.
func (c *council) pass(interrupted, stale bool) {
	w := c.w
	if stale {
		w.Kyma, w.Releases, w.Approvals, w.RuntimeConsent = c.before.Kyma, c.before.Releases, c.before.Approvals, c.before.RuntimeConsent
	}
	verdicts := Resolve(w)
	plan := MakePlan(w, verdicts)
	for _, want := range plan.Apply {
		digest, from := revision.Digest(&want.Spec), ""
		if len(w.Manifests) > 0 {
			from = revision.Digest(&w.Manifests[0].Spec)
		}
		if from == digest {
			continue
		}
		c.notef("%s %.12s begins (stale: %v): %s", want.Spec.Version, digest[7:], stale, verdicts[0].Consent)
		c.begun[verdicts[0].Consent]++
		if missing := c.lacks(w, from, want.Spec.Version, digest); missing != "" {
			c.t.Errorf("%s begins without the consent of %s", want.Spec.Version, missing)
		}
	}
	after := carryOut(c.w, plan)
	for i := range after.Manifests {
		makeReady(&after.Manifests[i])
	}
	if !interrupted && !stale {
		after.Kyma.Status = Rollup(w, verdicts, nil)
	}
	c.w = after
	c.checkDeadline()
}

// checkDeadline holds what the status tells against what it told before of the same content.
func (c *council) checkDeadline() {
	if len(c.w.Kyma.Status.Modules) == 0 {
		return
	}
	pending := c.w.Kyma.Status.Modules[0].Pending
	offered := c.offer0()
	now := c.referenceOf(offered.Version)
	if c.reference != now || offered.ForceAfter == nil || len(c.w.Manifests) == 0 || "@"+revision.Digest(&c.w.Manifests[0].Spec) == now[len(offered.Version):] {
		c.reference, c.deadline = "", metav1.Time{}
	}
	if pending == nil || pending.Deadline == nil || revision.Reference(pending.Version, pending.Digest) != now {
		return
	}
	if c.reference == now && !pending.Deadline.Equal(&c.deadline) {
		c.t.Errorf("the deadline moves from %s to %s", c.deadline, pending.Deadline)
	}
	c.reference, c.deadline = now, *pending.Deadline
}

// rests lets all readings end, and checks that what lacks nothing has begun, and that what waits says so.
func (c *council) rests() {
	c.w.RuntimeUnread = false
	for range 3 {
		c.read()
		c.pass(false, false)
	}
	offered, entry := c.offer0(), c.w.Kyma.Status.Modules[0]
	digest, from := revision.Digest(ContentOf(offered.Version, c.content(offered.Version))), ""
	if len(c.w.Manifests) > 0 {
		from = revision.Digest(&c.w.Manifests[0].Spec)
	}
	missing := c.lacks(c.w, from, offered.Version, digest)
	switch {
	case from == digest, strings.Contains(entry.Message, "update not allowed"):
		if entry.Pending != nil {
			c.t.Errorf("nothing waits: %+v", entry.Pending)
		}
	case missing == "":
		c.t.Errorf("nothing is missing, and %s does not begin: %+v", offered.Version, entry)
	case entry.Pending == nil || len(entry.Pending.From) == 0 || entry.Pending.Digest != digest:
		c.t.Errorf("the consent of %s is missing, and the status says %+v", missing, entry.Pending)
	}
}

func TestConsentModel(t *testing.T) {
	begun := map[Consent]int{}
	for seed := range uint64(500) {
		c := newCouncil(t, seed)
		c.begun = begun
		for range 60 {
			switch c.IntN(10) {
			case 0, 1:
				c.before = c.w
				c.happens()
			case 2:
				c.w.Components, c.w.Changes = nil, nil
				c.notef("the manager starts")
			case 3:
				c.w.RuntimeUnread = c.rarely(2)
			case 4:
				c.w.Now = metav1.NewTime(c.w.Now.Add(time.Duration(c.IntN(int(6 * time.Hour)))))
			case 5:
				c.findOut()
			case 6:
				c.read()
			default:
				c.pass(c.rarely(4), c.rarely(4))
			}
		}
		c.rests()
		if t.Failed() {
			t.Fatalf("in the council of seed %d:\n%s", seed, strings.Join(c.log, "\n"))
		}
	}
	for _, consent := range []Consent{ConsentNotNeeded, ConsentGiven, ConsentForced} {
		if begun[consent] < 20 {
			t.Errorf("only %d versions began with consent %s: the model is too tame: %v", begun[consent], consent, begun)
		}
	}
}
