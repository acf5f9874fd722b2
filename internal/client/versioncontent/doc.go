// Package versioncontent answers one question: what would this version of a module install, as the user of a client can read it?
//
// A Loader finds the registry of a module's component, reads the component version with the user's own login, renders it as the lifecycle
// manager does, and computes the digest by which consent names it. What was read is kept by digest for the life of the process. Size, time
// and the number of objects are bounded. Where the registry does not answer this machine or this user, the error says which registry that
// is, who named it, and what to do.
//
// Values that a Kyma's entry takes from objects of the hub are read as the user; those that the user may not read are left out, and told.
//
// Non-goals: it verifies no signature, since nothing is installed, applies nothing, and adds nothing that only the manager knows: owner
// marks and image pull Secrets.
package versioncontent
