// Package reach answers one question: how is the cluster that a Kyma's modules are in reached by the person who asks?
//
// The modules of a local Kyma are in the hub: there everybody goes as who they are. Those of a remote one are in a runtime, and whoever may
// read its access Secret may go there with what that Secret holds. The Secret is read as the person, so that nobody sees more of a runtime
// than the hub lets them; what it holds is read as hostile input, and a cluster that is not the one which the Kyma knows is refused.
//
// What it refuses to do: it keeps no connection and no credential, and it reads no Secret as anybody else.
package reach
