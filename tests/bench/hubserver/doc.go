// Command hubserver starts a hub for tests that look at many clusters, writes a kubeconfig of it, and ends with a signal.
//
// With -idle it holds Kymas and Manifests with a status and no manager: what a page shows of thousands of modules, at rest. With
// -runtimes a manager installs a module into simulated runtimes, and a rollout leads from its version 1.0.0 to others.
//
// Non-goals: it measures and judges nothing; the tests that start it do.
package main
