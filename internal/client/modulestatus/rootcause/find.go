package rootcause

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/pkg/excerpt"
)

const (
	// mostAlso, mostFacts and mostEventsTold bound a cause.
	mostAlso, mostFacts, mostEventsTold = 4, 20, 3
	// mostUnread bounds how many facts say what could not be read.
	mostUnread = 5
)

// weight is how bad a cause is.
type weight int

const (
	// vague: something is not ready, and why is not known.
	vague weight = iota
	// waits: it needs time, or a decision.
	waits
	// stuck: it does not get on by itself.
	stuck
	// broken: it has failed.
	broken
)

// The depths of causes: the deeper one explains the other.
const (
	ofModule = iota
	ofObject
	ofWorkload
	ofPod
	ofContainer
	ofClaim
)

// candidate is one cause that was recognised.
type candidate struct {
	object  modulestatus.Ref
	subject string // such as "Pod greeter-7d9"
	says    string // such as "has been Pending"
	since   time.Time
	ago     bool   // the age is when it happened, and not for how long it lasts
	detail  string // such as "no node matches its selector"
	reason  string
	weight  weight
	depth   int
	root    string // the object of the module that it belongs to: equal causes below it are merged
	facts   []modulestatus.Fact
	more    int // how many equal causes were merged into it
}

// Of returns why a module is not Ready, nil if it is. now is the time for ages.
func Of(e Evidence, now time.Time) *modulestatus.Cause {
	if e.Module == nil || e.Module.State == modulestatus.Ready {
		return nil
	}
	s := newIndex(e, now)
	all := merged(slices.Concat(s.workloads(), s.claims(), s.leaving(), s.objects(), s.ofModule()))
	best := &all[0] // that of the module is always there
	cause := &modulestatus.Cause{
		Object: safeRef(best.object), Reason: best.reason, Sentence: best.summary(now), Since: moment(best.since),
		Remedy: RemedyOf(best.reason), Evidence: best.facts,
	}
	if !best.since.IsZero() && best.since.After(now) {
		cause.Since = nil // clocks differ
	}
	cause.Evidence = append(cause.Evidence[:min(len(cause.Evidence), mostFacts)], s.unseen()...)
	for i := range all[1:] {
		other := all[1+i].summary(now)
		vagueOne := all[1+i].weight == vague && best.weight > vague
		if vagueOne || other == cause.Sentence || slices.Contains(cause.Also, other) || len(cause.Also) >= mostAlso {
			continue
		}
		cause.Also = append(cause.Also, other)
	}
	return cause
}

// merged returns causes, the worst and deepest first. Of causes that differ only in the object below the same object of the module, the
// oldest is left.
func merged(all []candidate) []candidate {
	slices.SortStableFunc(all, worstFirst)
	first := map[string]int{}
	var kept []candidate
	for _, c := range all {
		key := strings.Join([]string{c.root, c.reason, c.object.Kind}, "\x00")
		at, known := first[key]
		switch {
		case !known || c.root == "":
			first[key] = len(kept)
			kept = append(kept, c)
		case kept[at].object != c.object:
			kept[at].more++
		}
	}
	return kept
}

// worstFirst orders causes, the worst and deepest first.
func worstFirst(a, b candidate) int {
	return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(b.depth, a.depth), earlier(a.since, b.since),
		cmp.Compare(a.object.String(), b.object.String()), cmp.Compare(a.reason, b.reason), cmp.Compare(a.subject, b.subject),
		cmp.Compare(a.detail, b.detail))
}

// earlier orders times, the earliest first and unknown ones last.
func earlier(a, b time.Time) int {
	if a.IsZero() != b.IsZero() {
		if a.IsZero() {
			return 1
		}
		return -1
	}
	return a.Compare(b)
}

// summary returns the cause in one line: "Pod greeter-7d9 has been Pending for 34 min: no node matches its selector".
func (c *candidate) summary(now time.Time) string {
	var text strings.Builder
	text.WriteString(c.subject)
	if c.more > 0 {
		fmt.Fprintf(&text, " (and %d more)", c.more)
	}
	text.WriteString(" " + c.says)
	if age := Age(c.since, now); age != "" {
		if c.ago {
			text.WriteString(" " + age + " ago")
		} else {
			text.WriteString(" for " + age)
		}
	}
	if c.detail != "" {
		text.WriteString(": " + c.detail)
	}
	return excerpt.Cut(line(text.String()), MostSentence)
}

// unseen returns what could not be read, as facts.
func (s *index) unseen() []modulestatus.Fact {
	var all []modulestatus.Fact
	for i := range s.Unread {
		all = append(all, modulestatus.Fact{Source: modulestatus.FactUnread, Text: s.texts.clean(s.Unread[i].Text, MostFact)})
	}
	slices.SortFunc(all, func(a, b modulestatus.Fact) int { return cmp.Compare(a.Text, b.Text) })
	all = slices.CompactFunc(all, func(a, b modulestatus.Fact) bool { return a.Text == b.Text })
	all = slices.DeleteFunc(all, func(f modulestatus.Fact) bool { return f.Text == "" })
	return all[:min(len(all), mostUnread)]
}

// at returns a candidate about an object, with the chain of its owners and its latest warnings as evidence.
func (s *index) at(t thing, depth int) candidate {
	links := s.chain(t)
	c := candidate{object: t.ref(), subject: subjectOf(t), depth: depth, root: links[0].ref().String()}
	if len(links) > 1 {
		var names []string
		for _, link := range links {
			names = append(names, subjectOf(link))
		}
		c.facts = append(c.facts, modulestatus.Fact{Source: modulestatus.FactOwners, Text: excerpt.Cut(strings.Join(names, " > "), MostFact)})
	}
	return c
}

// because completes a candidate.
func (c *candidate) because(reason string, w weight, says, detail string) candidate {
	done := *c
	done.reason, done.weight, done.says, done.detail = reason, w, says, detail
	return done
}

// withEvents adds the latest warnings about some objects as evidence.
func (s *index) withEvents(c candidate, about ...thing) candidate {
	for _, t := range about {
		events := s.eventsOf(t)
		for _, e := range events[:min(len(events), mostEventsTold)] {
			c.facts = append(c.facts, modulestatus.Fact{
				Source: modulestatus.FactEvent, Object: refText(t.ref()), At: moment(e.Last), Count: max(e.Count, 1),
				Text: s.texts.clean(e.Reason+": "+e.Message, MostFact),
			})
		}
	}
	return c
}

// status adds a text of the status of an object as evidence.
func (s *index) status(c candidate, t thing, text string) candidate {
	if text = s.texts.clean(text, MostFact); text != "" {
		c.facts = append(c.facts, modulestatus.Fact{Source: modulestatus.FactStatus, Object: refText(t.ref()), Text: text})
	}
	return c
}

func subjectOf(t thing) string { return name(t.GetKind()) + " " + name(t.GetName()) }

// safeRef returns a reference that can be printed.
func safeRef(r modulestatus.Ref) modulestatus.Ref {
	return modulestatus.Ref{APIVersion: name(r.APIVersion), Kind: name(r.Kind), Namespace: name(r.Namespace), Name: name(r.Name)}
}

func refText(r modulestatus.Ref) string { return safeRef(r).String() }
