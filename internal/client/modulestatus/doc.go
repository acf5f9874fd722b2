// Package modulestatus answers one question: what is there of modules in a cluster, and how does each of them stand?
//
// It is the one status model, for the command line, the dashboard and other clients: Modules makes a line for each module
// out of what was read, Tree shows what each consists of, Trace finds the owner of an object, Catalog lists available modules, and two
// flowcharts say which way a module is installed, and what comes next when it is deleted.
//
// Three rules hold everywhere. The worst state wins. What could not be read is Unknown and says why; it is never "none". And what is
// Ready was seen running in the version that is requested.
//
// What it refuses to do: read or change a cluster, ask for the time, and print.
package modulestatus
