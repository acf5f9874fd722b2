// Package content fetches the bytes that a module consists of, and verifies that they are the requested ones.
//
// Content is named by digest. It is streamed from its source into a temporary file, measured and hashed meanwhile. Only content with the
// right digest gets its name in the store, and only verified content is returned. Several processes may share a Store: an atomic rename
// creates a name, and only of a complete file.
//
// Non-goals: the package fetches nothing by tag (it resolves a tag to a digest and fetches that), returns no file that it has not
// verified since it started, does not unpack to disk, follows no links in archives, sends credentials only to the host that they
// are for, and never waits without a time limit.
// Every refusal is an *Error whose Reason is one of the reasons that a Manifest's conditions use.
package content
