// Package hubsecret provides the current content of the few Secrets of the hub that the manager itself depends on.
//
// They are those that a flag names, and those that carry a label. Each has its own cache, because the manager's cache holds only access
// Secrets; reading costs no call, and nothing is polled. The hooks of a change run before the change enqueues any request, so that no
// request works with an old value.
//
// Non-goals: it writes nothing, and puts no value of a Secret into a log or an error.
package hubsecret
