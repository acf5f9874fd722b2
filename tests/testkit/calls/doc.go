// Package calls counts the calls that reach an API server. It wraps the transport of a client and counts requests by verb, resource and
// user agent, so that a test can assert "this costs one call" or "at rest nothing is called".
//
// It counts requests when they are sent, with or without a response, and a watch once, when it is opened. It changes nothing and stores no
// content.
package calls
