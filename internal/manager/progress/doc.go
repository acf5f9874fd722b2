// Package progress records for how long this replica has observed each upgrade that is under way.
//
// The Manifest controller writes it after every pass, and the Kyma controller reads it before it judges an upgrade by its deadline: the
// status of a Manifest that no pass of this replica has confirmed may be hours old. revision.Observed has the law.
//
// Non-goals: it makes no calls and judges nothing. What must survive a restart is in the Manifest's status.
package progress
