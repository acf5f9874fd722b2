// Package directinstall answers one question: how is a module brought into a cluster, kept up to date and taken down where no operator does
// it?
//
// What a module holds comes from its component version in a registry, or from the link rawManifest of its ModuleTemplate; pkg/installer
// applies it and remembers it in a Secret of the namespace kyma-system, which carries the label operator.kyma-project.io/direct-install
// with the module's name. No CustomResourceDefinition of ours is needed. Every call may be repeated: one that was interrupted continues
// where it was.
//
//   - [Install] brings a module, or the version that the Plan names. [Upgrade] does so only where the module is installed already.
//   - [Delete] takes it down from the record, with every source offline. It is blocked by objects that users made with the module, and
//     names them; with a [Preview] that was shown, those of it are deleted first, and nothing else.
//   - [List] tells what is installed, [Run] and [CleanUp] are Install and Delete for module developers.
//
// # What it refuses to do
//
// It touches no module that a Kyma of the same cluster manages, none that could be managed unless the Plan says Unmanaged, takes no
// "forbidden" for "there is none", goes back to no older version unasked, applies nothing of an upgrade when the API server would refuse a
// part of it, and accepts no other content under the version and the link whose digest it has recorded, and never any but what the
// template's annotation raw-manifest-digest names. The default custom resource is created with the first installation and belongs to its
// user from then on.
package directinstall
