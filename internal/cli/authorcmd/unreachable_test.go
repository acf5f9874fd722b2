package authorcmd_test

import "testing"

// TestSigningWithoutTheImagesRegistry: an image with a tag must be requested from its registry, one with a digest need not be.
func TestSigningWithoutTheImagesRegistry(t *testing.T) {
	s := open(t)
	keys(t, "")
	s.ok("module", "init", "notes")
	const pinned = "registry.k8s.io/pause:3.10@sha256:ee6521f290b2168b6e0935a181d4cff9be1ac3f505666ef0e3c98fae8199917a"
	edit(t, "notes/manifest.yaml", pinned, "127.0.0.1:1/images/worker:1.0.0")
	build := []string{"module", "build", "notes", "--no-git", "--sign-key", "private.pem"}
	s.refused(1, "name the image by its digest, worker@sha256:..., to sign it without its registry", build...)
	edit(t, "notes/manifest.yaml", "127.0.0.1:1/images/worker:1.0.0", "127.0.0.1:1/images/worker@sha256:ee6521f290b2168b6e0935a181d4cff9be1ac3f505666ef0e3c98fae8199917a")
	s.ok(build...)
}
