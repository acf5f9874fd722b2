// Package urgency answers one question: of all that waits to be looked at, what is looked at first?
//
// Everything that wakes a Kyma or a Manifest says how urgent that is. What a person or a runtime did goes before what a new version in a
// channel, a policy or the start of the manager caused, however many wait for those. What follows from a piece of work is as urgent as the
// work was: each controller's queue keeps in a Ledger how urgent the last look at every object was, and the other controller asks it.
//
// It refuses to hold anything back: with nothing more urgent waiting, everything runs at once. It knows nothing of what the work is, makes
// no call, and an order is all that it decides; what is right to do never depends on it.
package urgency
