// Package artifact answers: what do the artifacts in a registry hold, as far as the controllers ask?
//
// Components tells what a component version can install, Objects tells which objects a Manifest's source declares. Both keep
// what was read within bounds, since it is named by version or digest and does not change, and both remember for a
// while that a registry did not answer, so that a dead one does not hold up everything else. They decide nothing about modules.
package artifact
