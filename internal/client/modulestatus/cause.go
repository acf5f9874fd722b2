package modulestatus

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Cause is why a module is not Ready, in one sentence, with what shows it. Package rootcause finds it; lists omit it.
type Cause struct {
	// Object is the object that fails; it has no APIVersion if only its kind is known.
	Object Ref `json:"object"`
	// Reason in one word; docs/spec/causes.md explains each.
	Reason string `json:"reason"`
	// Sentence names the object, the age of the problem, and the problem. It is one line, and safe to print.
	Sentence string `json:"sentence"`
	// Since is when the problem began, as far as it is known.
	Since *metav1.Time `json:"since,omitempty"`
	// Remedy is what a user can do.
	Remedy string `json:"remedy,omitempty"`
	// Evidence lists what the sentence was concluded from, and what could not be read.
	Evidence []Fact `json:"evidence,omitempty"`
	// Also has the sentences of other causes, the worst first.
	Also []string `json:"also,omitempty"`
}

// Fact is one item of evidence.
type Fact struct {
	Source FactSource `json:"source"`
	// Object that the fact is about, such as "Pod kyma-system/greeter-7d9".
	Object string `json:"object,omitempty"`
	Text   string `json:"text"`
	// At is when it was observed last, and Count how often.
	At    *metav1.Time `json:"at,omitempty"`
	Count int32        `json:"count,omitempty"`
}

// FactSource is where a fact comes from.
type FactSource string

// The sources of facts.
const (
	// FactOwners: the chain of owners of the object.
	FactOwners FactSource = "owners"
	// FactStatus: the status of the object.
	FactStatus FactSource = "status"
	// FactEvent: an event about the object.
	FactEvent FactSource = "event"
	// FactLog: a line that a container has printed.
	FactLog FactSource = "log"
	// FactUnread: something that could not be read, so that nothing is known about it.
	FactUnread FactSource = "unread"
)

// Unseen returns the texts of what could not be read.
func (c *Cause) Unseen() []string {
	var all []string
	for i := range c.Evidence {
		if c.Evidence[i].Source == FactUnread {
			all = append(all, c.Evidence[i].Text)
		}
	}
	return all
}
