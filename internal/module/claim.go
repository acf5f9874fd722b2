package module

import "github.com/kyma-project/lifecycle-manager/api/v1beta2"

// ClaimStep is what a hub does about the claim on a runtime.
type ClaimStep int

// The steps.
const (
	// ClaimHeld: the runtime is this hub's.
	ClaimHeld ClaimStep = iota
	// ClaimTake: the runtime is no hub's, or is taken over from the one that holds it: write the claim, if it is still what was read.
	ClaimTake
	// ClaimForeign: the runtime is another hub's.
	ClaimForeign
)

// NextClaim returns the step of a hub. holder is the hub that the runtime names, empty for none; from is the one that a Kyma says its
// runtime is taken over from.
func NextClaim(self, holder, from string) ClaimStep {
	switch holder {
	case self:
		return ClaimHeld
	case "", from:
		return ClaimTake
	default:
		return ClaimForeign
	}
}

// ClaimRule is how far the claim on a runtime binds those who write there.
type ClaimRule int

// The rules.
const (
	// ClaimIgnored: nothing of the runtime's claim counts, since the runtime is shared on purpose.
	ClaimIgnored ClaimRule = iota
	// ClaimRespected: a runtime of another hub is not written to; one of no hub is, since no pass will claim it.
	ClaimRespected
	// ClaimRequired: only a runtime of this hub is written to.
	ClaimRequired
)

// ClaimRuleOf returns the rule for the runtime of a Kyma; nil is one that does not exist.
//
//  1. Modules only, by the label sync: the runtime is shared, and nothing is claimed there.
//  2. A Kyma that no longer converges claims nothing: it is missing, being deleted, suspended, or local.
//  3. Every other Kyma claims its runtime before anything is written there.
func ClaimRuleOf(kyma *v1beta2.Kyma) ClaimRule {
	switch {
	case kyma == nil:
		return ClaimRespected
	case isRemote(kyma) && !Synced(kyma):
		return ClaimIgnored
	case !isRemote(kyma), kyma.DeletionTimestamp != nil, KymaSuspended(kyma):
		return ClaimRespected
	default:
		return ClaimRequired
	}
}

// ClaimVerdict says whether a hub may write to a runtime.
type ClaimVerdict int

// The verdicts.
const (
	// MayWrite lets the hub write.
	MayWrite ClaimVerdict = iota
	// ClaimPending refuses: the hub has not claimed the runtime yet, or does not know whose it is.
	ClaimPending
	// OtherHub refuses: another hub has claimed the runtime.
	OtherHub
)

// JudgeClaim applies a rule to what is known of the claim on a runtime.
func JudgeClaim(rule ClaimRule, self, holder string, known bool) ClaimVerdict {
	switch {
	case rule == ClaimIgnored, known && holder == self:
		return MayWrite
	case known && holder != "":
		return OtherHub
	case rule == ClaimRequired || !known:
		return ClaimPending
	default:
		return MayWrite
	}
}
