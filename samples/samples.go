// Package samples answers: what do modules and Manifests look like, and the content that they install? It holds them as files that the
// playground publishes and that users read and copy.
//
//	modules/<module>/<version>/manifest.yaml    what is installed
//	modules/<module>/<version>/config.yaml      values, for a module that is a chart
//	modules/<module>/<version>/default-cr.yaml  the default custom resource; a module without one has no such file
//	manifests/<name>.yaml                       stand-alone Manifests, one for each kind of source; ${NAMES} are filled in by the playground
//	manifests/v1alpha1-<kind>.yaml              the Kyma and the Manifest that the first README files of the project show
//	content/{charts,kustomizations,bundles}     what these install, before it is packed
//	content/layers                              what they take as single layers
//
// greeter and beacon have operators, whose programs are samples/greeter and samples/beacon; notes is plain objects; ledger changes a
// definition that is in use; charted is the chart content/charts/lantern, and so are istio and serverless, which stand for modules of these
// names. This package holds files and nothing else: what is done with them is decided elsewhere.
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
