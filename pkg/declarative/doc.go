// Package declarative keeps the objects installed that the custom resources of a module require. It is a reconciler around pkg/installer
// that an operator completes: with a kind, and with the installation for one object of it. samples/beacon is a complete example.
//
//	reconciler := &declarative.Reconciler[*Beacon]{
//		Prototype: &Beacon{},
//		Installation: func(_ context.Context, beacon *Beacon) (installer.Installation, error) {
//			values := map[string]any{"colour": beacon.Spec.Colour}
//			return installer.Installation{Sources: []installer.Source{{
//				Name: "beacon", Content: chart, Renderer: helm.Renderer{}, Values: values,
//			}}}, nil
//		},
//	}
//	err := reconciler.SetupWithManager(manager)
//
// The kind is a Go type whose status embeds [Status], with the subresource status and the fields of Status in its schema.
//
// # What the reconciler does
//
//  1. It adds a finalizer to the object before it installs anything for it.
//  2. It installs with installer.Install, which writes nothing where everything is as declared.
//  3. It watches the installed objects: the metadata of labelled objects, in one watch per kind. Any change to them triggers another
//     pass, which restores changed or deleted objects, and notices objects that become ready.
//  4. It reports the progress in status.state and in the condition Ready, with one write per change.
//  5. When the object is deleted, it uninstalls everything, and removes the finalizer when nothing is left.
//
// # What it requires
//
// The service account of the operator needs get, list and watch in all namespaces on every kind that it installs, besides the permissions
// to write them; get, list, create, update and delete on Secrets in the namespaces of the objects, for the record of pkg/installer; and
// get, list, watch and patch on its own kind and its status. Two operators in one cluster need different names.
//
// # What it does not do
//
// It does not poll: when all objects are ready, it makes no call until something changes. Only failures, and conditions that no watch shows
// (a Check that fails, a Warning, objects of others that block the deletion of a definition), are retried after a while. Repeated changes
// of installed objects are reverted with growing delays. It touches no object that carries the label [LabelSkip], and changes nothing of
// the object except its finalizers and its status.
package declarative
