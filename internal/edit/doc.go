// Package edit answers one question: how does the spec of a Kyma change when somebody wants a module, wants it otherwise, or wants it no
// longer, and how does that change get into the cluster when ten people do so at once?
//
// The edits are pure and tell what they changed. Apply writes them bound to the version of the object that they were made from and makes
// them anew when somebody else was faster, so that no edit is lost.
//
// What it refuses to do: it installs nothing and waits for nothing, and it reads nothing but the object that it writes.
package edit
