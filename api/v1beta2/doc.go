// Package v1beta2 answers: what can users ask of the lifecycle manager, and what does it tell them?
//
// It holds the types of operator.kyma-project.io/v1beta2 (Kyma, ModuleTemplate, ModuleReleaseMeta, Manifest), wire-compatible
// with what the public lifecycle-manager serves, the names that objects carry (labels, annotations, finalizers, field managers)
// and every condition type and reason that the operator may write. It decides nothing and imports apimachinery only.
//
// +kubebuilder:object:generate=true
// +groupName=operator.kyma-project.io
package v1beta2
