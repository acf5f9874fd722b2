// Package requirements reads what a version of a module needs (modules, definitions, a version of Kubernetes), says what of it is missing,
// and orders modules by what they need.
//
// Requirements come from three places that mean the same: spec.requires of a ModuleTemplate, its annotation, and the label of a component
// version, both "operator.kyma-project.io/requires". Union puts them together.
//
// Non-goals: it observes no cluster, chooses no version and installs nothing. What was not looked at is unknown, never absent.
package requirements
