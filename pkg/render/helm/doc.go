// Package helm renders Helm charts, and reads the values and the config layer that they are rendered with.
//
// A chart is hostile until it is rendered: templates are bounded in work, output and depth, files that refer outside of the chart are
// refused, and so is a chart that renders differently each time. Its hooks are for the caller to run. See [Renderer].
//
// Non-goals: no releases, no call to a cluster, no download of dependencies. Errors are *content.Error.
package helm
