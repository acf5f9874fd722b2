// Package edit answers one question: how does the spec of a Kyma change when somebody wants a module, wants it otherwise, or wants it no
// longer, and how does that change get into the cluster when ten people do so at once?
//
// The edits are pure and tell what they changed. Apply writes them bound to the version of the object that they were made from and makes
// them anew when somebody else was faster, so that no edit is lost.
//
// What can be said beforehand is said of a Stand, which is a Kyma with its catalog: whether a wish leads to something, to which version,
// and what people made with a module that stands in the way of its deletion.
//
// What it refuses to do: it installs nothing, deletes no object and waits for nothing, and it writes nothing but the Kyma.
package edit
