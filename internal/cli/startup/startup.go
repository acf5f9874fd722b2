// Package startup keeps the garbage collector out of a program's start. What the libraries of kyma prepare in their init functions stays
// for as long as the program runs, so that collecting meanwhile finds next to nothing, and took a quarter of the start's processor time.
//
// It imports one package only: Go prepares packages in the order of their paths as soon as their imports are prepared, and so this one
// before nearly all libraries. It does not tune the collector of a command that runs: that is for GOGC and GOMEMLIMIT.
package startup

import "runtime/debug"

// configured is what GOGC says, or its default.
var configured = debug.SetGCPercent(-1)

// Done lets the garbage collector work as it is configured. The program calls it before it runs a command.
func Done() { debug.SetGCPercent(configured) }
