// Package packaging answers one question: what is published of a module directory?
//
// It scaffolds a module, reads one from its configuration, and turns it into a component version, a ModuleTemplate and a ModuleReleaseMeta.
// The same directory gives the same bytes on every machine. Edits of ModuleReleaseMeta files keep comments and order.
//
// Non-goals: it validates no module (pkg/moduleconfig and pkg/modulelint do), pushes nothing (pkg/component does), and reads only the
// module's own files, the links that its configuration names, and the state of its git repository.
package packaging
