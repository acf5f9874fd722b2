package module

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/dustin/go-humanize/english"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/excerpt"
)

const (
	// maxPending bounds a version that waits, as JSON: the status of every Kyma of a fleet may hold one for each module.
	maxPending = 1 << 10
	// maxGravest bounds its sentences, and maxSentence the bytes of one.
	maxGravest, maxSentence = 5, 160
)

// pendingBefore returns the version that the status said to wait, nil when there was none. Mandatory modules have none.
func (r *resolver) pendingBefore(v *Verdict) *v1beta2.PendingVersion {
	if entry := r.entry(v); entry != nil {
		return entry.Pending
	}
	return nil
}

// tellConsent sets what the verdict tells of the consent to a content. What is known of it is told again while it cannot be found out anew,
// as after a restart: nothing that a person agrees to may flicker.
func (r *resolver) tellConsent(v *Verdict, d *consentNeed) {
	before := r.pendingBefore(v)
	known := before != nil && before.Digest == d.step.to.Digest && before.Version == d.step.to.Version
	v.Pending, v.ForceAt = nil, time.Time{}
	switch {
	case d.consent == ConsentMissing:
		v.Pending = newPending(d)
		if known && d.change.Problem != "" {
			v.Pending.Counts, v.Pending.Gravest = before.Counts, before.Gravest
		}
		bound(v.Pending)
	case d.consent == ConsentUnknown && known:
		v.Pending = before.DeepCopy()
	case d.free() && d.deadline != nil:
		// It may still wait for something else, and its time must not begin anew when a person takes back what was approved.
		v.Pending = &v1beta2.PendingVersion{Version: d.step.to.Version, Digest: d.step.to.Digest, Deadline: d.deadline}
	}
	if v.Pending != nil && d.waits {
		v.ForceAt = d.deadline.Time
	}
}

// newPending returns what is told of a version that waits.
func newPending(d *consentNeed) *v1beta2.PendingVersion {
	sides, either := d.from()
	if either {
		sides = []v1beta2.ConsentSide{v1beta2.ConsentAny}
	}
	return &v1beta2.PendingVersion{
		Version: d.step.to.Version, Digest: d.step.to.Digest, From: slices.Clone(sides), Deadline: d.deadline,
		Counts: d.change.Counts, Gravest: slices.Clone(d.change.Gravest), Downtime: d.downtime,
	}
}

// bound shortens what is told of a version until it takes at most maxPending bytes.
func bound(p *v1beta2.PendingVersion) {
	p.Gravest = p.Gravest[:min(len(p.Gravest), maxGravest)]
	for i, sentence := range p.Gravest {
		p.Gravest[i] = excerpt.Cut(oneLine(sentence), maxSentence)
	}
	for len(p.Gravest) > 0 {
		if raw, err := json.Marshal(p); err == nil && len(raw) <= maxPending {
			return
		}
		p.Gravest = p.Gravest[:len(p.Gravest)-1]
	}
}

// oneLine replaces what would break a line or a terminal.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}

// awaitConsent makes the verdict wait for consent. Until it is known what the version asks for, the status keeps silent where only the
// channel moved: it is over in a moment. A version that the spec did not ask for before is no secret: the module is not Ready with it.
func (r *resolver) awaitConsent(v *Verdict, d *consentNeed, follows bool) {
	version := d.step.to.Version
	beginning := ruleApprovalRequired.beginning(version)
	switch {
	case d.consent == ConsentMissing:
		v.is(Waiting, ruleApprovalRequired, beginning+r.detailOf(v.Pending, d))
	case v.Pending != nil && len(v.Pending.From) > 0:
		v.is(Waiting, ruleApprovalRequired, r.toldBefore(v, version))
	case d.change.Pending && (v.Manifest == nil || !follows):
		v.is(Waiting, ruleComponentPending, ruleComponentPending.message("component", componentOf(d.step.manifest), "version", version))
	case d.change.Pending:
		v.is(Waiting, ruleApprovalRequired, beginning+": what it asks for is being found out")
		v.Silent = true
	default:
		v.is(Waiting, ruleApprovalRequired, beginning+": the Kyma in the runtime was not read yet")
		v.Silent = v.Manifest != nil
	}
}

// notes are what may follow in a message what is told of consent: what runs misses something, or has no way back. It is told anew in each
// pass, and is not to be repeated.
var notes = []string{"; it needs module ", "; should it fail, ", "; version "}

// toldBefore returns what the status said about a version that waits for consent.
func (r *resolver) toldBefore(v *Verdict, version string) string {
	beginning := ruleApprovalRequired.beginning(version)
	if _, detail, found := strings.Cut(r.entry(v).Message, beginning); found {
		for _, note := range notes {
			detail, _, _ = strings.Cut(detail, note)
		}
		return beginning + detail
	}
	return beginning
}

// detailOf completes the sentence "version X waits for consent": of whom, and what it asks for.
func (r *resolver) detailOf(p *v1beta2.PendingVersion, d *consentNeed) string {
	detail := ""
	if Synced(r.Snapshot.Kyma) {
		detail = ofWhom(d.from())
	}
	switch {
	case len(p.Gravest) > 0:
		detail += ": " + inSentence(p.Gravest[0])
		// The gravest may be no right, such as a definition. Where it is told alone, it is the only right itself.
		if rights := p.Counts.RightsAdded; rights > 1 || rights == 1 && len(p.Gravest) > 1 {
			detail += "; " + english.Plural(rights, "new right", "") + " in all"
		}
	case d.change.Problem != "":
		detail += ": what it asks for cannot be found out (" + d.change.Problem + ")"
	default:
		detail += ": it asks for no new rights"
	}
	if d.change.FromProblem != "" {
		detail += "; all of it counts as new, since what the installed version may do cannot be found out (" + d.change.FromProblem + ")"
	}
	if d.waits && !d.policy {
		detail += fmt.Sprintf("; it is installed without it after %s", d.deadline.UTC().Format(time.RFC3339))
	}
	return detail
}

// ofWhom names those whose consent is missing.
func ofWhom(sides []v1beta2.ConsentSide, either bool) string {
	names := make([]string, len(sides))
	for i, side := range sides {
		names[i] = map[v1beta2.ConsentSide]string{
			v1beta2.ConsentHub: "the hub's operator", v1beta2.ConsentRuntime: "the runtime's user",
		}[side]
	}
	if either {
		return " of " + strings.Join(names, " or ")
	}
	return " of " + strings.Join(names, " and of ")
}

// inSentence returns a sentence such as "May read every Secret." as a part of another one: "it may read every Secret".
func inSentence(sentence string) string {
	sentence = strings.TrimSuffix(sentence, ".")
	verb, _, _ := strings.Cut(sentence, " ")
	if first, size := utf8.DecodeRuneInString(sentence); verb == "May" || strings.HasSuffix(verb, "s") && unicode.IsUpper(first) {
		return "it " + string(unicode.ToLower(first)) + sentence[size:]
	}
	return sentence
}
