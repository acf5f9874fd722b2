// Package contentserver serves the content of Manifests file by file, exactly as it was installed.
//
// It serves the content that the sources of a Manifest were resolved to, over HTTPS, to clients that may get the subresource "content" of
// that Manifest: the hub's API server reviews the bearer token (TokenReview), and then the permission (SubjectAccessReview). Every replica
// serves; Contents fetches content that the replica does not hold yet, and the client gets a Retry-After header.
//
//	GET /v1/manifests/<namespace>/<name>                      the installs of a Manifest, as JSON
//	GET /v1/manifests/<namespace>/<name>/<install>            the content of one, as a canonical tar
//	GET /v1/manifests/<namespace>/<name>/<install>/<path>     one file of it
//
// Non-goals: it renders and changes nothing. It never reveals whether a Manifest exists to a client without permission, never serves
// without TLS, never caches a permission for longer than 30 seconds, and does not let many wrong tokens from one address cause reviews by
// the API server.
package contentserver
