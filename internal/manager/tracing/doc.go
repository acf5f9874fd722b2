// Package tracing records what the passes of both controllers do, as spans of OpenTelemetry: one trace shows the way of a change from the
// pass of a Kyma that asked for it, over the phases and passes of its Manifests, to the requests that these send.
//
// A pass has a span once it sends a request or completes a phase; one that finds nothing to do has none. Which trace a later pass belongs
// to is kept in memory, by the name of its object, until the change is carried out.
//
// Non-goals: it stores nothing and sends no trace context to an API server. A span never holds a body, a query, a path, the name of an
// object in a runtime, or the text of an error.
package tracing
