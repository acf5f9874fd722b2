// Package hubsecret answers: what do the few Secrets of the hub hold now that the manager itself depends on?
//
// They are those that a flag names, and those that carry a label. Each is watched by a cache of its own, because the manager's cache holds
// none but access Secrets; reading costs no call, and nothing is polled. Whoever has to know of a change is told before anything is
// woken by it, so that what is woken does not work with what was. It writes nothing, and no value of a Secret into a log or an error.
package hubsecret
