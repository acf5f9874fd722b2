package manifest

import (
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// An upgrade that changes the content of objects, and creates none, is applied without a plan in the status (docs/adr/0031-unplanned.md).
// An object does not show which of two contents it has, and until the pass has ended the status has the hashes of the content before. What
// tells that they may not hold any more is the generation of the spec.

// doubted is the hash of an object that may have the content of a generation in between. It is that of no content.
const doubted = "?"

// doubtHashes returns the entries of an inventory without the hashes that do not hold: those that were recorded for a generation before the
// last one. The one in between may have been applied in part, and the present one may ask for what was recorded.
func doubtHashes(entries []inventory.Entry, applied, generation int64) []inventory.Entry {
	if applied == 0 || generation-applied <= 1 {
		return entries // zero is that of a manager that stored each plan
	}
	for i := range entries {
		if entries[i].Hash != "" && !entries[i].IsHook() { // a hook's object tells for what it was written
			entries[i].Hash = doubted
		}
	}
	return entries
}

// isUpgradeTold reports whether the generation alone tells, after an interruption, that objects may have another content than recorded: the
// status has the hashes of the generation before, and the content follows from the spec. What is large, runs hooks or goes back has its
// plan stored: one write is nothing there, it tells users of a pass that takes long, and a way back counts on the revision that it begins.
func (w *scope) isUpgradeTold() bool {
	applied := w.manifest.Status.AppliedGeneration
	return applied != 0 && applied == w.generation-1 && len(w.desired) <= mostPlanned &&
		KymaOf(w.manifest) != nil && !w.asked && len(w.injected) == 0 && len(w.releases) == 0 && !w.wentBack()
}
