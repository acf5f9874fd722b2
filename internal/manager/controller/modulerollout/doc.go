// Package modulerollout reconciles ModuleRollouts: it marks the release of a rollout's module, counts the Kymas that follow each channel, and
// writes who may have what the channel names.
//
// The decisions are those of internal/module/rollout; this package reads their facts from the cache and writes their result. Only the
// replica that owns the rollout's bucket does that, each time by a status update that is bound to the version that was read. How one Kyma
// obeys is the business of the Kyma controller, which watches ModuleRollouts by itself.
//
// Non-goals: it reads nothing from registries or runtimes, wakes no Kyma, and changes neither Kymas nor Manifests.
package modulerollout
