// Package calls answers one question: which calls reached an API server? It wraps the transport of a client and counts requests by verb,
// resource and user agent, so that a test can say "this costs one call" or "at rest nothing is called".
//
// It counts what is sent, answered or not, and a watch once, when it is opened. It changes nothing and remembers no content.
package calls
