// Package v1alpha1 answers: what did Kyma and Manifest look like in the days of the first lifecycle-manager and module-manager, and what
// does that mean today?
//
// It holds operator.kyma-project.io/v1alpha1 of these two kinds and their conversion to and from v1beta2, which is what is stored. Nothing
// is lost on either way: what the other version cannot say goes into one annotation, which the way back takes off again; what was edited
// in the other version wins over it. The conversion is pure: no context, client or clock. It imports apimachinery and api/v1beta2 only.
//
// +kubebuilder:object:generate=true
// +groupName=operator.kyma-project.io
package v1alpha1
