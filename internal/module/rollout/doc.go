// Package rollout decides who may have the version that a channel names: it compares a ModuleRollout's plan with the Kymas that follow the
// channel, and says which of them may begin, when the next wave begins, and when nothing goes on.
//
// It is pure: who reads the Kymas, writes the status and wakes whom is the business of internal/manager/controller/modulerollout; how one
// Kyma obeys is decided by internal/module, which asks this package's Ask. It does not decide what is safe for a single module: consent,
// windows and the way back are decided where a Kyma is resolved.
package rollout
