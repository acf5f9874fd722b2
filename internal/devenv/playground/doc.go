// Package playground shows a newcomer the lifecycle manager at work, on a machine that has nothing but Go.
//
// Run starts two clusters and a registry by internal/devenv/localcluster, publishes the modules of package samples as OCM components, and
// the content of its Manifests where each of them expects it (this registry, a web server on loopback). It starts the manager's own program
// as its ServiceAccount, applies a Kyma for the runtime and one for the hub itself, waits until both are Ready and prints what to try. It
// writes the Manifests with addresses and digests filled in, for users to apply. One of these files has a Kyma for a third cluster, and
// only then is that cluster started. Clusters run no containers here, so it also plays the kubelet for the containers that matter: the
// operators of beacon and greeter run as processes while their Deployments are available.
//
// Everything is in one numbered folder that a lock protects, so that several playgrounds run side by side. All of it ends with the context:
// the manager first and in order, then everything else.
//
// Clusters need a Unix. Elsewhere the package has only the sample modules, which PublishModules brings into any registry.
//
// It does not keep anything from an earlier run, touch a cluster that it did not start, build programs, or continue without a part that
// failed.
package playground
