// Package apply answers one question: how does a planned object get into, or out of, a cluster, and the result?
//
// It writes one phase or one teardown wave at a time, by a client that it is handed. Every object ends in one Outcome: what was
// done, and where nothing could be done, a Class that says who must act. An object that fails stops no other object.
//
// # How an object is written
//
// The first write is a create (POST). A create cannot change an existing object, so a foreign object is noticed
// however old our own picture of the cluster is. Only then is it read, and judge decides by its owner mark.
//
// Every later write is a server-side apply with the UID of the object that is meant, because an object that was deleted and recreated by
// another client is a different one. It is tried without force first. A conflict names the fields that another manager has set to another
// value: they are overruled by a second try with force, since what a module declares is enforced, and Outcome.Overruled lists them.
// Two conflicts are not overruled blindly: one about the owner mark has the object read and judged, and one about spec.replicas gives way
// to a HorizontalPodAutoscaler that targets the object (autoscaled; listed once per namespace and run). Without conflict, one call does it.
//
// A create leaves the fields with an "Update" entry in managedFields, which server-side apply never takes back: a field that is
// dropped from the content later would stay for ever. So the first change of a created object reads it and turns its entry into an
// "Apply" entry (a JSON patch of managedFields alone, by client-go's csaupgrade). inventory.FieldsHash tells the two apart by
// its prefix, "u:" and "a:", so this costs one GET and one PATCH in the life of an object.
//
// # How an object is deleted
//
// By its UID, when it bears our mark. It stays when it has a successor, when it carries AnnotationKeep, when it is a Namespace that holds
// objects of others, or a CustomResourceDefinition of which others have objects. Only for the last two is anything looked up.
//
// # How it is asked what would happen
//
// Diff makes the same calls with dry-run=All. What a dry run cannot show is the migration; dropped.go makes up for that.
//
// # What it refuses to do
//
// It decides nothing about content: what to apply, to prune and in which order is pkg/inventory's to say. It does not wait
// for anything, does not retry what a user has to fix, deletes nothing that does not carry the owner's mark, and repeats no value
// of an object in an error (a Secret's data has no place in a status or a log). It knows nothing of api/ and internal/.
package apply
