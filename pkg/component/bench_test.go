package component_test

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/kyma-project/lifecycle-manager/pkg/component"
)

// BenchmarkBuild builds a module of 5 MB, and does to the same bytes what "tar | sha256sum" does.
func BenchmarkBuild(b *testing.B) {
	data := make([]byte, 5<<20)
	source := rand.NewChaCha8([32]byte{})
	_, _ = source.Read(data)
	version := harbour("1.0.0")
	version.Resources[0].Data, version.Resources[0].MediaType = component.Tar("m.yaml", data), component.MediaTypeTar
	for _, file := range []string{"a.ctf", "a.tar", "a.tgz"} {
		b.Run(file, func(b *testing.B) {
			dir := b.TempDir()
			for i := 0; b.Loop(); i++ {
				if _, err := component.Build(b.Context(), filepath.Join(dir, fmt.Sprint(i, file)), version); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("tar and sha256sum", func(b *testing.B) {
		for b.Loop() {
			var packed bytes.Buffer
			archive := tar.NewWriter(&packed)
			_ = archive.WriteHeader(&tar.Header{Name: "m", Size: int64(len(data)), Mode: 0o644})
			_, _ = archive.Write(data)
			_ = archive.Close()
			_ = sha256.Sum256(packed.Bytes())
		}
	})
}
