// Package ownedobjects answers one question: which objects does an object own, and who owns it, as far as the user may read them?
//
// Below a workload it finds its ReplicaSets, Jobs and Pods by their owner references, with a list request for each kind and workload: the
// selector of the workload limits what is sent, and the UID of the owner decides. Above an object it follows the controllers. Requests and
// objects are bounded. Made finds what any object owns among the objects of the kinds and namespaces that are given. A kind that may not or
// cannot be read is part of the result, and nothing counts as absent that was not listed.
//
// Non-goals: it does not know which kinds an operator makes objects of, and it judges nothing.
package ownedobjects
