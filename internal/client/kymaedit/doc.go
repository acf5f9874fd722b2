// Package kymaedit answers one question: how does the spec of a Kyma change when a user adds, changes or removes
// a module, and how is that change written when several users do so at once?
//
// The edits are pure and tell what they changed. Apply writes them bound to the version of the object that they were made from and makes
// them again after a conflict, so that no edit is lost.
//
// What can be said beforehand is said of a Stand, which is a Kyma with its catalog: whether a wish leads to something, to which version,
// and what users made with a module that stands in the way of its deletion.
//
// What it refuses to do: it installs nothing, deletes no object and waits for nothing, and it writes nothing but the Kyma.
package kymaedit
