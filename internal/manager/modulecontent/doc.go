// Package modulecontent reads the content of modules' artifacts for the controllers.
//
// Components returns what a component version can install. Contents returns the objects that the sources of a Manifest declare, in order,
// and the content that each source was resolved to; a SourceType defines where content comes from, a Format how it is rendered. Both cache
// a bounded amount of what they read, since it is named by version or digest and does not change. Both make one request for all concurrent
// callers, wait for it only for a moment, and remember failures for some time, so that a dead or slow registry delays nothing else.
//
// Non-goals: it decides nothing about modules, and does not follow a tag that was resolved before.
package modulecontent
