// Package contentserver answers: what exactly was installed, file by file?
//
// It serves what the sources of a Manifest were resolved to, over HTTPS, to clients that may get the subresource "content" of that
// Manifest: the bearer token is reviewed by the hub's API server (TokenReview), and then the right (SubjectAccessReview). Every replica
// serves; what it does not hold yet is Contents' to fetch, and the client is told when to ask again.
//
//	GET /v1/manifests/<namespace>/<name>                      the installs of a Manifest, as JSON
//	GET /v1/manifests/<namespace>/<name>/<install>            the content of one, as a canonical tar
//	GET /v1/manifests/<namespace>/<name>/<install>/<path>     one file of it
//
// The package refuses to say whether a Manifest exists before it knows who asks, to serve without TLS, to render or change anything,
// to remember a right for longer than 30 seconds, and to pass on what many wrong tokens from one place ask of the API server.
package contentserver
