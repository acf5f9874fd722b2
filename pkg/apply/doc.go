// Package apply writes planned objects to a cluster, deletes them from it, and reports the result.
//
// It writes one phase or one teardown wave at a time, with a client that the caller supplies. Every object ends in one Outcome: the action
// taken and, where it failed, a Class that determines who must act. An object that fails stops no other object.
//
// # How an object is written
//
// The first write is a create (POST). A create cannot change an existing object, so a foreign object is noticed
// however stale our own view of the cluster is. Only then is it read, and judge decides by its owner mark. While a kind is warming up, the
// create is a server-side apply that fits only a missing object, see Create.
//
// Every later write is a server-side apply with the UID of the intended object, because an object that another client deleted and recreated
// is a different one. The first attempt is without force. A conflict names the fields that another manager has set to another value: a
// second attempt overrules them with force, since what a module declares is enforced, and Outcome.Overruled lists them. Two conflicts are
// not overruled blindly: after one about the owner mark the object is read and judged, and one about spec.replicas yields to a
// HorizontalPodAutoscaler that targets the object (autoscaled; listed once per namespace and run). Without a conflict, one call suffices.
//
// A create records the fields in an "Update" entry of managedFields, and server-side apply never removes those: a field that the content
// drops later would stay for ever. So the first change of a created object reads it and turns its entry into an
// "Apply" entry (a JSON patch of managedFields alone, by client-go's csaupgrade). inventory.FieldsHash distinguishes the two by
// its prefix, "u:" and "a:", so this costs one GET and one PATCH in the life of an object.
//
// # How an object is deleted
//
// An object that carries our mark is deleted by its UID. It stays when it has a successor, when it carries AnnotationKeep, when it is a
// Namespace that holds objects of others, or a CustomResourceDefinition of which others have objects. Only the last two need a look-up.
//
// Disown takes the mark from an object, which stays as it is. The next installer adopts it: the fields of its predecessor become those of
// the new manager, which removes the ones that it does not declare.
//
// # How a change is previewed
//
// Diff makes the same calls with dry-run=All. A dry run cannot show the migration; dropped.go makes up for that.
//
// # What it does not do
//
// It decides nothing about content: pkg/inventory determines what to apply, what to prune and in which order. It does not wait
// for anything, does not retry what a user has to fix, deletes nothing that does not carry the owner's mark, and repeats no value
// of an object in an error (a Secret's data has no place in a status or a log). It does not depend on api/ or internal/.
package apply
