// Package v1beta1 answers: which version do old hubs still list in their CRDs' status.storedVersions?
//
// An API server refuses to update a CRD whose storedVersions name a version that the CRD no longer has. So the CRDs keep
// v1beta1, never served and never stored, with any content. No program uses these types; controller-gen reads them.
//
// +groupName=operator.kyma-project.io
package v1beta1
