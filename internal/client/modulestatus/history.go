package modulestatus

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
)

// History is what one module of one Kyma was asked to install. The names of the JSON fields are a contract.
type History struct {
	Name string `json:"name"`
	// Kyma that has the module, as NAMESPACE/NAME; empty for a Manifest without one.
	Kyma     string `json:"kyma,omitempty"`
	Manifest Key    `json:"manifest"`
	// Revisions, the newest first.
	Revisions []HistoryEntry `json:"revisions"`
}

// HistoryEntry is one revision.
type HistoryEntry struct {
	Number  int64  `json:"number"`
	Version string `json:"version,omitempty"`
	// Digest of the content and Template, a hash of what the ModuleTemplate adds to it.
	Digest   string `json:"digest"`
	Template string `json:"template,omitempty"`
	// At is when it began, and Before the state of the module then.
	At     metav1.Time   `json:"at"`
	Before v1beta2.State `json:"before,omitempty"`
	// Outcome is empty until it is known; Reason of one that is not Succeeded.
	Outcome v1beta2.RevisionOutcome `json:"outcome,omitempty"`
	Reason  string                  `json:"reason,omitempty"`
	// Current is what the Manifest asks for now.
	Current bool `json:"current,omitempty"`
	// Running is what was brought up completely last: another one than Current while that is under way, or failed.
	Running bool `json:"running,omitempty"`
	// WayBack is what a rollback would install.
	WayBack bool `json:"wayBack,omitempty"`
	// Held went back by itself, and is not installed again until version, content or template changes, or a person asks for a retry.
	Held bool `json:"held,omitempty"`
}

// Histories returns the histories of a module, one for each Manifest that installs it, sorted as Modules sorts them.
func Histories(in Inputs, modules []Module, name string) []History {
	r := newReader(in)
	all := []History{}
	for i := range modules {
		m := &modules[i]
		if m.Name != name || m.Manifest == nil || r.named[*m.Manifest] == nil {
			continue
		}
		known := r.named[*m.Manifest].Status.Revisions
		all = append(all, History{Name: m.Name, Kyma: m.Kyma, Manifest: *m.Manifest, Revisions: entriesOf(known, r.entryOf(m))})
	}
	return all
}

// entryOf returns the entry of a module in its Kyma; an empty one where it has none.
func (r *reader) entryOf(m *Module) v1beta2.Module {
	for i := range r.Kymas {
		if (Key{r.Kymas[i].Namespace, r.Kymas[i].Name}).String() != m.Kyma {
			continue
		}
		for _, entry := range Effective(&r.Kymas[i]).Modules {
			if entry.Name == m.Name {
				return entry
			}
		}
	}
	return v1beta2.Module{}
}

// entriesOf returns the revisions of a Manifest, the newest first. A rollback leaves the newest, and goes where the lifecycle manager would
// go: neither to what a person went back from nor to what is held.
func entriesOf(known []v1beta2.Revision, asked v1beta2.Module) []HistoryEntry {
	entries := []HistoryEntry{}
	if len(known) == 0 {
		return entries
	}
	newest := known[len(known)-1]
	held, holds := revision.Holding(known, asked.Retry)
	way, back := revision.WayBack(known, revision.KeyOf(newest), asked.Avoid, 0)
	running := runningOf(known)
	for _, r := range slices.Backward(known) {
		entries = append(entries, HistoryEntry{
			Number: r.Number, Version: r.Version, Digest: r.Digest, Template: r.Template, At: r.At, Before: r.Before,
			Outcome: r.Outcome, Reason: r.Reason, Current: r.Number == newest.Number, Running: r.Number == running,
			WayBack: back && r.Number == way.Number, Held: holds && r.Number == held.Number,
		})
	}
	return entries
}

// runningOf returns the number of the revision that was brought up completely last, zero when none is known.
func runningOf(known []v1beta2.Revision) int64 {
	for _, r := range slices.Backward(known) {
		if r.Outcome == v1beta2.RevisionSucceeded {
			return r.Number
		}
	}
	return 0
}

// Mark returns what a revision is, in a word for people.
func (e HistoryEntry) Mark() string {
	switch {
	case e.Current && e.Running:
		return "running"
	case e.Current:
		return "requested"
	case e.WayBack:
		return "rollback goes here"
	case e.Held:
		return "held"
	}
	return ""
}

// End returns how a revision ended, in words for people.
func (e HistoryEntry) End() string { return cmp.Or(string(e.Outcome), "(under way)") }
