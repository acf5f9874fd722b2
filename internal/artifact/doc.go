// Package artifact answers: what do the artifacts in a registry hold, as far as the controllers ask?
//
// Components tells what a component version can install, Objects tells which objects a Manifest's source declares. Both keep
// what was read within bounds, since it is named by version or digest and does not change. Both ask once for all who want the same,
// wait no longer than a moment, and remember for a while that it failed, so that a registry that is dead or slow holds up nothing
// else. They decide nothing about modules.
package artifact
