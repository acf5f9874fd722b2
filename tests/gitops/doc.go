// Package gitops holds what the tools of GitOps see of our objects to what we say of them: kstatus, the health checks for Argo CD and the
// examples for Flux in config/gitops. Its tests run them by the libraries that the tools use.
package gitops
