// Package declarative answers: how does the operator of a module keep installed what its custom resources ask for? It is a reconciler
// around pkg/installer that an operator fills in: which kind, and what one object of it stands for. samples/beacon is a complete one.
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
// # What it does
//
//  1. It holds the object by a finalizer before it installs anything for it.
//  2. It installs by installer.Install, which writes nothing where everything is as declared.
//  3. It follows what is installed: the metadata of labelled objects, in one watch for each kind. Whatever happens to them leads to another
//     pass, which puts back what was changed or deleted, and sees what becomes ready.
//  4. It tells in status.state and in the condition Ready how far that is, by one write for each change.
//  5. When the object is deleted, it takes everything down, and lets go of the object when nothing is left.
//
// # What it needs
//
// The account of the operator needs get, list and watch in all namespaces on every kind that it installs, beside what it takes to write
// them; get, list, create, update and delete on Secrets where the objects live, for the record of pkg/installer; and get, list, watch and
// patch on its own kind and its status. Two operators in one cluster need different names.
//
// # What it refuses to do
//
// It does not poll: when all objects are ready, it makes no call until something changes. Only what failed, and what no
// watch shows (a Check that says no, a Warning, objects of others that hold a definition), is tried again after a while. Repeated
// changes of installed objects are reverted with growing delays. It touches no object that carries the label [LabelSkip], and changes
// nothing of the object but its finalizers and its status.
package declarative
