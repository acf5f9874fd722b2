package rollout

import (
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// PrefixLength is how much of a UID names a Kyma in a status: 48 bits.
const PrefixLength = 13

// Others is the name of the wave of Kymas that no wave selects.
const Others = "others"

// UnreadyInSoak is how long a Kyma must have been unready without a break, in a soak, to count as failed.
const UnreadyInSoak = 5 * time.Minute

// What keeps a Kyma from beginning, beside its runtime. It is being deleted also where its module is left to the user.
const (
	HeldByWindow      = "window"
	HeldByConsent     = "consent"
	HeldByDeletion    = "deletion"
	HeldBySuspension  = "suspended"
	HeldByRefusal     = "refused"
	HeldByRequirement = "requirement"
)

// Member is a Kyma that has the module from the channel, as it was seen.
type Member struct {
	// UID and Name of the Kyma, and its labels.
	UID, Name string
	Labels    map[string]string
	// Begun is true once its Manifest asks for the target, or what runs is the target; At is when that was, zero when it was long ago.
	Begun bool
	At    time.Time
	// Ready is true while the target is installed and ready. UnreadySince is since when a Kyma that was ready with the target is not any
	// more, zero when it never was or is.
	Ready        bool
	UnreadySince time.Time
	// ReadySince is since when the target is ready without a break, zero when that is not known: it then counts as long ago.
	ReadySince time.Time
	// Created is when the Kyma was made, zero when that is not known: one that came after its wave began does not hold the wave.
	Created time.Time
	// BrokenBefore is true when the module was not ready before the target began.
	BrokenBefore bool
	// RolledBack is true when it had the target and went back by itself; Back when what runs or is asked for is lower than the target and the
	// target had begun.
	RolledBack, Back bool
	// BackSince is when it went back, that is since when its Manifest asks for a lower version again; zero when that is not known.
	BackSince time.Time
	// LostSince is since when its runtime does not answer, zero when it does.
	LostSince time.Time
	// Held says what else keeps it from beginning, as HeldByWindow; empty when nothing does. Deletion and suspension also hold one that has
	// begun: what becomes of it says nothing about the target. FreeSince is when a suspension ended, zero when none did or that is not known.
	Held      string
	FreeSince time.Time
	// SeenSince is since when this owner has seen the Kyma, where it had begun by then and was not ready: what its status said before may be
	// of the time before an outage of the operator, in which nothing was even applied. Zero for any other.
	SeenSince time.Time
	// State, Reason and Message of the module, for people.
	State           v1beta2.State
	Reason, Message string
}

// Facts is all that a step is decided by.
type Facts struct {
	// Offered is what the channel names now. Where it is not the target of the status before, it must come from the API server and not from a
	// cache: an old one would set the channel back, which ends a rollout.
	Offered v1beta2.RolloutVersion
	// Members are all Kymas that follow the channel, in any order.
	Members []Member
	// Gone are Kymas of underway and back, by the beginning of their UID, that the API server was asked for and that do not follow the
	// channel any more. One that is only missing among Members keeps its place: the cache of a new owner may be older than that of the last
	// one.
	Gone []string
	// Awaited is Step.Awaited of the step before; nil in the first one of a process.
	Awaited map[string]Wait
	// Armed is true once the release is marked: nothing is admitted before.
	Armed bool
	// NoWayBack says why the target does not let Kymas go back to the version before by themselves, empty when it does.
	NoWayBack string
	// FromMissing says why the version before cannot be installed, empty when it can.
	FromMissing string
	// Now is the time, and Jumps are those of its clock.
	Now   time.Time
	Jumps []Jump
}

// Wait is that of the owner for an admitted Kyma to begin.
type Wait struct {
	// Since is when the owner saw first that the Kyma may begin; or, where it is Blocked, that it cannot.
	Since   time.Time
	Blocked bool
}

// Step is what follows from the facts.
type Step struct {
	// Channel is the channel's status from now on.
	Channel v1beta2.RolloutChannel
	// Admitted and TakenBack are the Kymas added to underway and to back by this step, by name: they must be woken. All is true when every
	// Kyma of the channel must be: a wave that is open for all has begun, or the rollout completed.
	Admitted, TakenBack []string
	All                 bool
	// Missing are Kymas of underway and back, by the beginning of their UID, that are not among the members: the API server must be asked for
	// them, past the cache, and those that do not follow the channel any more are Facts.Gone of the next step.
	Missing []string
	// Awaited are the Kymas, by UID, that were admitted and have not begun. It is never nil. The owner keeps it in memory for the next step.
	Awaited map[string]Wait
	// Wake is when to look again without an event; zero: never.
	Wake time.Time
}
