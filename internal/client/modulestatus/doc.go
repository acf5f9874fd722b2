// Package modulestatus answers one question: which modules are in a cluster, and what is the status of each?
//
// It is the only status model, for the command line, the dashboard and other clients: Modules returns a line for each module, Tree shows
// the objects of each, Trace finds the owner of an object, Catalog lists available modules, and two flowcharts decide how a module is
// installed, and which step of its deletion comes next.
//
// Three rules apply everywhere. The worst state wins. A status that could not be read is Unknown with a reason, never "none". And a module
// is Ready only if it was observed running in the requested version.
//
// Non-goals: it does not read or change a cluster, use a clock, or print.
package modulestatus
