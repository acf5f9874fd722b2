// Package samples holds sample modules and Manifests, and the content that they install, as files that the playground publishes and that
// users read and copy.
//
//	modules/<module>/<version>/manifest.yaml    what is installed
//	modules/<module>/<version>/config.yaml      values, for a module that is a chart
//	modules/<module>/<version>/default-cr.yaml  the default custom resource; a module without one has no such file
//	manifests/<name>.yaml                       stand-alone Manifests, one for each kind of source; ${NAMES} are filled in by the playground
//	manifests/v1alpha1-<kind>.yaml              the Kyma and the Manifest of the project's first README files
//	manifests/rollout.yaml                      a third Kyma, a plan in waves, and a version of a module that never becomes available
//	content/{charts,kustomizations,bundles}     the content that these install, before it is packed
//	content/layers                              content that they use as single layers
//
// greeter and beacon have operators, whose programs are samples/greeter and samples/beacon; notes is plain objects; ledger changes a
// definition that is in use; warden asks for more rights in its second version, and courier needs warden; charted is the chart
// content/charts/lantern, and so are istio and serverless, which stand in for modules of
// these names. This package holds only files: how they are used is decided elsewhere.
package samples

import "embed"

var (
	// Modules holds the folder "modules".
	//
	//go:embed modules
	Modules embed.FS

	// Manifests holds the folder "manifests".
	//
	//go:embed manifests
	Manifests embed.FS

	// Content holds the folder "content". Charts have files that begin with "_".
	//
	//go:embed all:content
	Content embed.FS
)
