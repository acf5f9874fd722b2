// Package runtimeaccess answers one question: how is the cluster that a Kyma's modules are in reached by the user who asks?
//
// The modules of a local Kyma are in the hub, which users reach as themselves. Those of a remote one are in a runtime, and users who may
// read its access Secret may use the credentials in it. The Secret is read as the user, so that no user sees more of a runtime
// than the hub permits; its content is treated as hostile input, and a cluster other than the one in the Kyma's status is refused.
//
// Non-goals: it keeps no connection and no credential, and it reads no Secret with the permissions of another user.
package runtimeaccess
