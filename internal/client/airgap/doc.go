// Package airgap answers: how do a release and modules get into a private registry, also where no network leads there?
//
// It reads the folder of a release and checks its sums, copies its images and component versions into a registry or into a directory to
// carry over, and says what an installation must name afterwards.
//
// Non-goals: it signs and renders nothing, asks no user, and speaks to no registry itself; pkg/component does.
package airgap
