// Package permissions answers: what may a version of a module do in a cluster, and what may it do that another version may not?
//
// [Analyse] reads rendered objects: rules of roles by what binds and aggregates them, the access of pods to their nodes, webhooks and
// admission policies, definitions, API services, tokens, images, and settings that concern the whole cluster. Each [Finding] is one
// right, in a sentence that is understood without knowing RBAC, with the place that it comes from. [Compare] returns what a version
// adds and what it gives up.
//
// Rights are compared by what they allow and not by how they are written. Rules are taken apart into single resources, names,
// namespaces and holders, what a wider rule covers is left out, and all ServiceAccounts of a module count as one holder: a right that
// moves to another role is no new right, and neither is a narrower one.
//
// Non-goals: the package covers rendered objects. It does not cover what an operator creates while it runs, what other objects of the
// cluster grant to the module, and what a program does with its rights; [Limits] says so to users. It decides nothing: whether a
// version needs consent is up to a policy. It is pure, and reads neither a cluster nor a registry.
package permissions

// Limits says what a report does not cover. User interfaces show it beside every report.
const Limits = "Covers the objects that the module is installed with. What its operators create while they run, and what other objects " +
	"of the cluster grant to it, is not covered."
