// Package kymaedit answers one question: how does the spec of a Kyma change when a user adds, changes or removes
// a module, and how is that change written when several users do so at once?
//
// The edits are pure and report what they changed. Apply writes an edit bound to the version of the object that it was made from, and makes
// it again after a conflict, so that no edit is lost.
//
// A KymaContext, which is a Kyma with its catalog, answers questions before the edit: whether a wish can be fulfilled, to which version it
// leads, and which objects of users block the deletion of a module.
//
// Non-goals: it installs nothing, deletes no object, waits for nothing, and writes only the Kyma.
package kymaedit
