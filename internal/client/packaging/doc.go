// Package packaging answers one question: what is published of a module directory?
//
// It scaffolds a module, reads one from its configuration, and makes of it a component version, a ModuleTemplate and a ModuleReleaseMeta.
// The same directory gives the same bytes on every machine. Edits of ModuleReleaseMeta files keep comments and order.
//
// What it refuses to do: it judges no module (pkg/moduleconfig and pkg/modulelint do), pushes nothing (pkg/component does), and reads
// nothing but the module's own files, the links that its configuration names, and the state of its git repository.
package packaging
