// Package priority orders the requests of a controller's queue by urgency.
//
// Every event that enqueues a Kyma or a Manifest has a level. Requests that a user or a runtime caused go before those that a new version
// in a channel, a policy or the start of the manager caused, however many of those wait. A follow-up request is as urgent as its cause:
// each controller's queue records in a LastPriority how urgent the last request for every object was, and the other controller reads it.
//
// Non-goals: it never holds a request back: without more urgent ones waiting, all run at once. It is independent of the work itself, makes
// no calls, and decides only the order; correctness never depends on it.
package priority
