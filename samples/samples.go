// Package samples answers: what do modules look like? It holds the content of three, in two versions each, as files that the
// playground publishes and that people read and copy.
//
//	modules/<module>/<version>/manifest.yaml    what is installed
//	modules/<module>/<version>/default-cr.yaml  the default custom resource; a module without one has no such file
//
// greeter has an operator, whose program is samples/greeter; notes is plain objects; ledger changes a definition that is in use.
// It holds files and nothing else: what is done with them is decided elsewhere.
package samples

import "embed"

// Modules holds the folder "modules".
//
//go:embed modules
var Modules embed.FS
