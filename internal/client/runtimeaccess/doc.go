// Package runtimeaccess answers one question: how does the requesting user reach the cluster of a Kyma's modules?
//
// The modules of a local Kyma are in the hub, which users access with their own identity. Those of a remote Kyma are in a runtime, and
// users who may read its access Secret may use the credentials in it. The Secret is read with the user's identity, so that no user sees
// more of a runtime than the hub permits. Its content is treated as hostile input, and a cluster other than the one in the Kyma's status is
// refused.
//
// Non-goals: it keeps no connection and no credential, and it reads no Secret with the permissions of another user.
package runtimeaccess
