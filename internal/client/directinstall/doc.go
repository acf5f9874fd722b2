// Package directinstall answers one question: how is a module installed in a cluster, upgraded and removed without the lifecycle manager?
//
// The content of a module comes from its component version in a registry, or from the link rawManifest of its ModuleTemplate. Package
// pkg/installer applies it and keeps a record in a Secret of the namespace kyma-system, which has the label
// operator.kyma-project.io/direct-install with the module's name. None of our CustomResourceDefinitions is required. Every call may be
// repeated: it continues where an interrupted one stopped.
//
//   - [Install] installs a module in the version of the Plan. [Upgrade] does so only if the module is already installed.
//   - [Delete] removes it by the record, even with every source offline. Objects that users made with the module block it, and it names
//     them. With the result of a [Preview], it first deletes the objects in it, and no others. With Removal.Keep, it lets go of the module.
//   - [List] returns the installed modules. [Run] and [CleanUp] are Install and Delete for module developers.
//
// # Non-goals
//
// The package does not touch a module that a Kyma of the same cluster manages, nor one that could be managed unless the Plan sets
// Unmanaged. It does not treat "forbidden" as "there is none", and goes back to an older version only on request. It applies nothing of an
// upgrade if the API server would refuse a part of it. Under the same version and link, it accepts only content with the recorded digest,
// and always only content with the digest in the template's annotation raw-manifest-digest. It creates the default custom resource with the
// first installation; from then on, the object belongs to its user.
package directinstall
