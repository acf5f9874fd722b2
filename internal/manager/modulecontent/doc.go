// Package modulecontent answers: what do the artifacts that modules are made of hold, as far as the controllers ask?
//
// Components tells what a component version can install. Contents tells which objects the sources of a Manifest declare, in which
// order, and to which content each source was resolved; a Place says where content of a kind comes from, a Format how it is rendered.
// Both keep what was read within bounds, since it is named by version or digest and does not change. Both ask once for all who want
// the same, wait no longer than a moment, and remember for a while that it failed, so that a registry that is dead or slow
// delays nothing else. They decide nothing about modules, and follow no tag that was resolved once.
package modulecontent
