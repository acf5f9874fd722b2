// Package releasepreview answers one question: what would happen if a channel offered another version of a module?
//
// Compare tells how two versions differ, once they are rendered: objects and their fields, rights, images, definitions, webhooks,
// requirements, which workloads restart, and whether there is a way back. A Forecast asks the lifecycle manager's own decisions about each
// Kyma that follows the channel, and counts what becomes of them.
//
// It is pure: package versioncontent renders, package statusreader reads Kymas. Values of Secrets are in no result, also where a chart
// wrote them elsewhere.
//
// Non-goals: it changes nothing, and foretells nothing that only happens in a runtime, such as a quota that is used up: a dry run tells
// that.
package releasepreview
